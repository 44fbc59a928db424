/** What a door is made of. */
import type { Clock } from '../../engine/ports.ts';

/** One entry for each call that did not end as it should. Never a text of the person, the model or the server. */
export interface DoorLogEntry {
  readonly what: 'call-ended' | 'read-failed';
  readonly path: string;
  readonly ending: string;
  readonly abortedBy: string | null;
  readonly status: number | null;
  readonly afterMs: number;
}

export interface DoorOptions {
  /** Any form that `parseOllamaHost` takes. A wrong one throws: parse what a person wrote before. */
  readonly url: string;
  readonly clock: Clock;
  readonly log?: (entry: DoorLogEntry) => void;
  /** For tests; see the defaults beside their use. */
  readonly limits?: DoorLimits;
}

export interface DoorLimits {
  readonly connectTimeoutMs?: number;
  readonly readTimeoutMs?: number;
  readonly lineBytesMax?: number;
  readonly rawBytesMax?: number;
  readonly textCharactersMax?: number;
  readonly psTimeoutMs?: number;
}

/**
 * From a text that a screen sent to the answer it gets. Every carrier ends here; nothing that is not in the table of
 * requests gets past, and what gets past has been parsed.
 */
import { denialOfIssues, denied } from '../../contract/denials.ts';
import type { Denial, Result } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { MESSAGE_BYTES_MAX, toEngineSchema } from '../../contract/frames.ts';
import type { ToScreen } from '../../contract/frames.ts';
import { requests } from '../../contract/requests.ts';
import type { RequestName } from '../../contract/requests.ts';
import type { DiagnosticEntry } from '../telemetry/diagnostic-log.ts';

export interface RequestContext {
  /** Names the screen that asks, for logs and for what belongs to one screen. */
  readonly screenId: string;
  /** Aborted when the screen goes away. */
  readonly signal: AbortSignal;
}

/** The part of the runtime that a carrier needs. `handle` gets parsed parameters; what it throws is a bug. */
export interface EngineDoor {
  handle(name: RequestName, params: unknown, context: RequestContext): Promise<Result<unknown>>;
  subscribe(listener: (event: EngineEvent) => void): () => void;
  /** A line for the diagnostic log: limits, time-outs, disconnects and errors on the way to a screen. */
  log?(entry: DiagnosticEntry): void;
}

export interface Envelope {
  /** -1 where the text had no usable id: the answer then belongs to no request. */
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
}

/** Reads the envelope alone, so that a screen can decide by name before the work is done. */
export function readEnvelope(text: string): Result<Envelope> & { readonly id: number } {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { ...denied('bad-input', 'The message is no JSON.', { next: 'Reload the page.' }), id: -1 };
  }
  const parsed = toEngineSchema.safeParse(message);
  if (!parsed.success) return { ok: false, denial: denialOfIssues(parsed.error), id: idOf(message) };
  const { id, name, params } = parsed.data;
  return { ok: true, value: { id, name, params }, id };
}

/** Never rejects: a bug below becomes `internal`, and the log hears of it with the name of the request, never its content. */
export async function dispatch(
  door: EngineDoor,
  envelope: Envelope,
  context: RequestContext,
): Promise<Result<unknown>> {
  const { name } = envelope;
  if (!isRequestName(name)) {
    return denied('unknown-request', `There is no request ${clip(name)}.`, {
      field: 'name',
      next: 'Reload the page: it may be older than its host.',
    });
  }
  const params = requests[name].params.safeParse(envelope.params);
  if (!params.success) return { ok: false, denial: denialOfIssues(params.error) };
  try {
    return await door.handle(name, params.data, context);
  } catch (error) {
    door.log?.({ kind: 'error', event: 'request-failed', text: name, error });
    return denied('internal', 'Something went wrong inside Spillway.', {
      next: 'Try again; the diagnostic log has the details.',
    });
  }
}

/** The text that goes back. An answer that no carrier would take is replaced by a denial that says so. */
export function responseText(id: number, result: Result<unknown>): string {
  const message: ToScreen = result.ok
    ? { kind: 'response', id, ok: true, value: result.value ?? null }
    : { kind: 'response', id, ok: false, denial: result.denial };
  const text = JSON.stringify(message);
  if (text.length * 3 <= MESSAGE_BYTES_MAX || Buffer.byteLength(text) <= MESSAGE_BYTES_MAX) return text;
  const denial: Denial = {
    code: 'unsupported',
    message: `The answer is larger than the ${MESSAGE_BYTES_MAX / 1024 / 1024} MB one message can carry.`,
    next: 'Ask for less, or export it.',
  };
  return JSON.stringify({ kind: 'response', id, ok: false, denial } satisfies ToScreen);
}

function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(requests, name);
}

function idOf(message: unknown): number {
  if (typeof message !== 'object' || message === null || !('id' in message)) return -1;
  return typeof message.id === 'number' && Number.isSafeInteger(message.id) && message.id >= 0 ? message.id : -1;
}

/** Names come from outside: short, and without anything that moves a cursor. */
function clip(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/gu, '?');
  return plain.length <= 60 ? plain : `${plain.slice(0, 59)}…`;
}

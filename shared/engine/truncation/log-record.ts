/**
 * One line of the server's log as what it says about a call. Strict where `log-lines.ts` is lenient: a line that was torn or
 * glued to another says nothing here, because a half number would be a wrong one.
 */
import { parseLogfmt } from './log-lines.ts';

export type LogRecord =
  | {
      readonly kind: 'new';
      readonly slot: string;
      readonly task: string;
      readonly tokens: number;
      readonly window: number;
    }
  | { readonly kind: 'cached'; readonly slot: string; readonly task: string; readonly tokens: number }
  | {
      readonly kind: 'shift';
      readonly slot: string;
      readonly task: string;
      readonly before: number;
      readonly discard: number;
    }
  | {
      readonly kind: 'release';
      readonly slot: string;
      readonly task: string;
      readonly tokens: number;
      readonly truncated: boolean;
    }
  | { readonly kind: 'overflow'; readonly task: string | null; readonly needs: number; readonly has: number }
  | { readonly kind: 'cut'; readonly prompt: number; readonly kept: number }
  | { readonly kind: 'dropped'; readonly messages: number }
  | { readonly kind: 'clamped'; readonly requested: number }
  /** latencyMs: from the shortest to the longest that the printed text can mean. */
  | {
      readonly kind: 'access';
      readonly path: string;
      readonly status: number;
      readonly latencyMs: readonly [number, number];
    }
  /** Nothing about a call, or nothing that can be read for sure. */
  | { readonly kind: 'other' };

export function readRecord(line: string): LogRecord {
  if (line.length > LINE_CHARACTERS_MAX) return other;
  if (line.includes('[GIN]')) return readAccess(line);
  const slot = SLOT.exec(line);
  if (slot !== null) return readSlot(slot[1] ?? '', slot[2] ?? '', slot[3] ?? '');
  const overflow = OVERFLOW.exec(line);
  if (overflow !== null)
    return { kind: 'overflow', task: overflow[1] ?? null, needs: Number(overflow[2]), has: Number(overflow[3]) };
  return line.includes('msg="') ? readMessage(line) : other;
}

const LINE_CHARACTERS_MAX = 1_000;
const other: LogRecord = { kind: 'other' };

// Bounded repeats, no bar in the text: two lines that ran into each other are none.
const SLOT =
  /^(?:[^|"]{0,200}\s)?slot\s{1,20}[^|:\s]{1,60}:\s{0,20}id\s{1,4}(\d{1,9})\s{0,4}\|\s{0,4}task\s{1,4}(-?\d{1,12})\s{0,4}\|\s{0,4}([^|]*)$/;
const NEW_PROMPT = /^new prompt, n_ctx_slot = (\d{1,12}), [^=]{1,40}= -?\d{1,12}, task\.n_tokens = (\d{1,12})(?:,.*)?$/;
const CACHED = /^cached n_tokens = (\d{1,12}), memory_seq_rm \[\d{1,12}, end\)$/;
const SHIFT = /^slot context shift, n_keep = (\d{1,12}), n_left = (\d{1,12}), n_discard = (\d{1,12})$/;
const RELEASE = /^stop processing: n_tokens = (\d{1,12}), truncated = ([01])$/;
const OVERFLOW =
  /^(?:[^|"]{0,200}\s)?srv\s{1,20}[^:]{1,60}:\s(?:task id = (-?\d{1,12}), )?error: request \((\d{1,12}) tokens\) exceeds the available context size \((\d{1,12}) tokens\)/;
/** Only what asks a model: looks at the server come every few seconds. */
const ACCESS =
  /^(?:[^|]{0,200}\s)?\[GIN\] \d{4}\/\d\d\/\d\d - \d\d:\d\d:\d\d \|\s{1,3}(\d{3}) \|\s{1,20}([0-9a-zµμ.]{1,24}) \|\s{1,40}[^|]{1,60} \| POST\s{1,8}"(\/(?:api\/(?:chat|generate|embed|embeddings)|v1\/[a-z/]{1,60}))"$/;

function readSlot(slot: string, task: string, text: string): LogRecord {
  const started = NEW_PROMPT.exec(text);
  if (started !== null) return { kind: 'new', slot, task, window: Number(started[1]), tokens: Number(started[2]) };
  const cached = CACHED.exec(text);
  if (cached !== null) return { kind: 'cached', slot, task, tokens: Number(cached[1]) };
  const shift = SHIFT.exec(text);
  if (shift !== null)
    return { kind: 'shift', slot, task, before: Number(shift[1]) + Number(shift[2]), discard: Number(shift[3]) };
  const release = RELEASE.exec(text);
  if (release !== null)
    return { kind: 'release', slot, task, tokens: Number(release[1]), truncated: release[2] === '1' };
  return other;
}

function readMessage(line: string): LogRecord {
  // A line has one message and one time; with two of them it is two lines, of which one is torn.
  if (line.split('msg="').length !== 2 || line.split('time=').length > 2) return other;
  const fields = parseLogfmt(line);
  const whole = (name: string): number | null => {
    const text = fields.get(name);
    return text !== undefined && /^-?\d{1,12}$/.test(text) ? Number(text) : null;
  };
  const message = fields.get('msg');
  if (message === 'truncating input prompt') {
    const [prompt, kept, limit] = [whole('prompt'), whole('new'), whole('limit')];
    return prompt === null || kept === null || limit === null ? other : { kind: 'cut', prompt, kept };
  }
  if (
    message === 'truncating input messages which exceed context length' ||
    message === 'truncating native chat messages which exceed context length'
  ) {
    const messages = whole('truncated');
    return messages === null ? other : { kind: 'dropped', messages };
  }
  if (message === 'requested context size too large for model') {
    const requested = whole('num_ctx');
    return requested === null || whole('n_ctx_train') === null ? other : { kind: 'clamped', requested };
  }
  return other;
}

function readAccess(line: string): LogRecord {
  const found = ACCESS.exec(line);
  const latencyMs = found === null ? null : readLatency(found[2] ?? '');
  if (found === null || latencyMs === null) return other;
  return { kind: 'access', status: Number(found[1]), latencyMs, path: found[3] ?? '' };
}

const UNIT_MS: Readonly<Record<string, number>> = { ns: 1e-6, µs: 1e-3, μs: 1e-3, ms: 1, s: 1_000 };

/** Go durations; from one minute on gin cuts them to whole seconds. */
function readLatency(text: string): readonly [number, number] | null {
  const long = /^(?:(\d{1,5})h)?(\d{1,2})m(\d{1,2})s$/.exec(text);
  if (long !== null) {
    const ms = ((Number(long[1] ?? 0) * 60 + Number(long[2])) * 60 + Number(long[3])) * 1_000;
    return [ms, ms + 1_000];
  }
  const short = /^(\d{1,9}(?:\.\d{1,12})?)(ns|µs|μs|ms|s)$/.exec(text);
  if (short === null) return null;
  const ms = Number(short[1]) * (UNIT_MS[short[2] ?? ''] ?? 0);
  return [ms, ms];
}

/**
 * Facts about one call from the server's log: logfmt lines of Ollama and the raw lines of its runner, which are copied into the
 * same file. Lines are matched on their message, never on the source line, and prefixes of journals are tolerated.
 */

export interface LogFacts {
  /** The token cut: prompt tokens before, tokens after, tokens kept at the head. */
  readonly cut: { readonly prompt: number; readonly kept: number; readonly keep: number; readonly raw: string } | null;
  /** messages: kept, counted from the end (rendered), or the index of the first kept (native). Says so even when only system messages stand before. */
  readonly dropped: { readonly path: 'rendered' | 'native'; readonly messages: number; readonly raw: string } | null;
  readonly shifts: { readonly count: number; readonly raw: string } | null;
  /** Tokens that went into the runner; null where the runner writes no such lines. */
  readonly promptTokens: number | null;
  readonly promptRaw: string;
  readonly overflow: { readonly needs: number; readonly has: number; readonly raw: string } | null;
  /** Debug lines are in this log, so that dropped messages would be told. */
  readonly debug: boolean;
  readonly clamped: { readonly requested: number; readonly trained: number; readonly raw: string } | null;
}

/** What is known of the call from its reply, to find its lines in a log of many calls. */
export interface LogKey {
  readonly promptEvalCount: number | null;
  readonly needs: number | null;
}

/** null: no line of this log belongs to the call. */
export function readLog(lines: readonly string[], key: LogKey): LogFacts | null {
  const calls = callsOf(lines.slice(-LINES_MAX));
  const own =
    calls.filter((call) => matches(call, key)).at(-1) ?? (calls.length === 1 ? unidentified(calls[0], key) : null);
  if (own === null || own === undefined) return null;
  return {
    cut: own.cut,
    dropped: own.dropped,
    shifts: own.shiftLines > 0 ? { count: own.shiftLines, raw: own.shiftRaw } : null,
    promptTokens: own.promptTokens,
    promptRaw: own.promptRaw,
    overflow: own.overflow,
    debug: lines.some((line) => line.includes('level=DEBUG')),
    clamped: own.clamped,
  };
}

const LINES_MAX = 200_000;
const LINE_CHARACTERS_MAX = 4_096;
const CALLS_MAX = 20_000;

interface CallLines {
  cut: LogFacts['cut'];
  dropped: LogFacts['dropped'];
  clamped: LogFacts['clamped'];
  overflow: LogFacts['overflow'];
  promptTokens: number | null;
  promptRaw: string;
  shiftLines: number;
  shiftRaw: string;
  task: string | null;
}

const noLines = (): CallLines => ({
  cut: null,
  dropped: null,
  clamped: null,
  overflow: null,
  promptTokens: null,
  promptRaw: '',
  shiftLines: 0,
  shiftRaw: '',
  task: null,
});

/** Lines about a prompt come before the runner's `new prompt` line of that call; shifts and errors name its task after it. */
function callsOf(lines: readonly string[]): readonly CallLines[] {
  const calls: CallLines[] = [];
  let pending = noLines();
  let pendingSays = false;
  const running = new Map<string, CallLines>();
  const close = (call: CallLines): void => {
    if (calls.length < CALLS_MAX) calls.push(call);
    if (call.task !== null) running.set(call.task, call);
    pending = noLines();
    pendingSays = false;
  };
  for (const whole of lines) {
    const line = whole.slice(0, LINE_CHARACTERS_MAX);
    const slot = SLOT_LINE.exec(line);
    if (slot !== null) {
      const [, id = '', task = '', text = ''] = slot;
      const started = NEW_PROMPT.exec(text);
      if (started !== null)
        close({ ...pending, task: `${id}/${task}`, promptTokens: Number(started[1]), promptRaw: line });
      else if (SHIFT.test(text)) {
        const call = running.get(`${id}/${task}`) ?? pending;
        call.shiftLines += 1;
        call.shiftRaw = line;
        pendingSays ||= call === pending;
      }
      continue;
    }
    const overflow = OVERFLOW.exec(line);
    if (overflow !== null) {
      const call = pendingSays ? pending : (calls.at(-1) ?? pending);
      call.overflow = { needs: Number(overflow[1]), has: Number(overflow[2]), raw: line };
      pendingSays ||= call === pending;
    } else if (line.includes('[GIN]')) {
      // Older runners write no slot lines: the access line ends the call.
      if (pendingSays || (calls.length === 0 && INFERENCE.test(line))) close(pending);
    } else if (readMessageLine(line, pending)) pendingSays = true;
  }
  if (pendingSays) close(pending);
  return calls;
}

// Bounded repeats: a pasted log is hostile text, and no line may take long.
const SLOT_LINE =
  /slot\s{1,20}[^|:\s]{1,60}:\s{0,20}id\s{1,4}(\d{1,9})\s{0,4}\|\s{0,4}task\s{1,4}(-?\d{1,12})\s{0,4}\|\s{0,4}(.*)$/;
const NEW_PROMPT = /^new prompt,.*?task\.n_tokens\s*=\s*(\d{1,12})/;
const SHIFT = /^slot context shift,/;
const OVERFLOW = /request \((\d{1,12}) tokens\) exceeds the available context size \((\d{1,12}) tokens\)/;
const INFERENCE = /"\/(?:api\/(?:chat|generate)|v1\/[a-z/]+)"/;

const TOLD = ['msg="truncating ', 'msg="requested context size too large'];

/** Fills `call` from one logfmt line; false where the line says nothing about a prompt. */
function readMessageLine(line: string, call: CallLines): boolean {
  if (!TOLD.some((message) => line.includes(message))) return false;
  const fields = parseLogfmt(line);
  const whole = (name: string): number | null => {
    const text = fields.get(name);
    return text !== undefined && /^-?\d{1,12}$/.test(text) ? Number(text) : null;
  };
  const message = fields.get('msg') ?? '';
  if (message === 'truncating input prompt') {
    const [prompt, kept, keep] = [whole('prompt'), whole('new'), whole('keep')];
    if (prompt === null || kept === null) return false;
    call.cut = { prompt, kept, keep: Math.max(0, keep ?? 0), raw: line };
    return true;
  }
  if (
    message === 'truncating input messages which exceed context length' ||
    message === 'truncating native chat messages which exceed context length'
  ) {
    const messages = whole('truncated');
    if (messages === null) return false;
    call.dropped = { path: message.includes('native') ? 'native' : 'rendered', messages, raw: line };
    return true;
  }
  if (message === 'requested context size too large for model') {
    const [requested, trained] = [whole('num_ctx'), whole('n_ctx_train')];
    if (requested === null || trained === null) return false;
    call.clamped = { requested, trained, raw: line };
    return true;
  }
  return false;
}

/** The lines that matter have some 200 characters. */
const LOGFMT_CHARACTERS_MAX = 1_000;
const FIELD = /(?:^|\s)([A-Za-z_][\w.]{0,60})=(?:"((?:[^"\\]|\\.){0,300})"|(\S{0,300}))/g;

/** Keys and values of a logfmt line; quoted values as Go quotes them. */
export function parseLogfmt(line: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = '', quoted, plain] of line.slice(0, LOGFMT_CHARACTERS_MAX).matchAll(FIELD)) {
    fields.set(
      name,
      quoted === undefined
        ? (plain ?? '')
        : quoted.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped === 't' ? '\t' : escaped)),
    );
  }
  return fields;
}

function matches(call: CallLines, key: LogKey): boolean {
  if (key.needs !== null) return call.overflow?.needs === key.needs;
  if (key.promptEvalCount === null) return false;
  return call.promptTokens === key.promptEvalCount || call.cut?.kept === key.promptEvalCount;
}

/** The only call of a log is the one asked about, unless its numbers say otherwise. */
function unidentified(call: CallLines | undefined, key: LogKey): CallLines | null {
  if (call === undefined) return null;
  const said = call.promptTokens ?? call.cut?.kept ?? null;
  return said !== null && key.promptEvalCount !== null && said !== key.promptEvalCount ? null : call;
}

/**
 * /api/embed and /api/embeddings. An input over the window is cut at its end without a word; only the sum of the counts is
 * told. Vectors come from the words and letter triples of what was kept, so that texts with common words lie close.
 */
import { decodeObject } from './body.ts';
import { faultRefusal } from './faults.ts';
import { record } from './families/template.ts';
import type { ModelProfile, RouteContext, RouteHandler, SimulatorState } from './options.ts';
import { findProfile } from './admission.ts';
import { countTokens } from './pipeline.ts';
import { keepAliveOf } from './requests.ts';
import { readOptions } from './runner-options.ts';
import type { Slot } from './runner.ts';
import type { Lease } from './scheduler.ts';

export const embedRoutes: Readonly<Record<string, RouteHandler>> = {
  'POST /api/embed': embed,
  'POST /api/embeddings': embedOne,
};

export interface EmbedAsk {
  readonly model: string;
  /** As sent: a text or a list of texts. */
  readonly input: unknown;
  /** 0 = all. */
  readonly dimensions: number;
  readonly truncate: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly keepAliveSeconds: number | undefined;
}

export type EmbedResult =
  | {
      readonly ok: true;
      readonly embeddings: readonly (readonly number[])[];
      readonly promptEvalCount: number;
      readonly totalNs: number;
      readonly loadNs: number;
    }
  | { readonly ok: false; readonly status: number; readonly error: string };

/** Vectors hold 32-bit numbers in their shortest decimal form. */
export async function embedInputs(state: SimulatorState, ask: EmbedAsk, signal: AbortSignal): Promise<EmbedResult> {
  const startedMs = performance.now();
  const inputs = inputsOf(ask.input);
  if (inputs === null) return { ok: false, status: 400, error: 'invalid input type' };
  const opened = await open(state, ask, signal);
  if (!opened.ok) return opened;
  const { lease, profile } = opened;
  try {
    const loadNs = elapsedNs(startedMs);
    if (inputs.length === 0) return { ok: true, embeddings: [], promptEvalCount: 0, totalNs: 0, loadNs: 0 };
    if (!profile.capabilities.includes('embedding'))
      return { ok: false, status: 501, error: 'This server does not support embeddings. Start it with `--embeddings`' };
    const kept: KeptText[] = [];
    for (const input of inputs) {
      const cut = cutToWindow(state, profile, input, lease.runner.numCtx, ask.truncate);
      if (typeof cut === 'string') return { ok: false, status: 400, error: cut };
      kept.push(cut);
    }
    const slot = await lease.slot(signal);
    if (slot === null) return { ok: false, status: 499, error: 'request canceled' };
    await evaluate(state, lease, slot, kept, signal);
    const embeddings = kept.map(({ text }) =>
      vectorOf(text, profile.embeddingLength, ask.dimensions).map(shortestFloat32),
    );
    return {
      ok: true,
      embeddings,
      promptEvalCount: kept.reduce((sum, { tokens }) => sum + tokens, 0),
      totalNs: elapsedNs(startedMs),
      loadNs,
    };
  } finally {
    lease.release();
  }
}

async function embed(context: RouteContext): Promise<void> {
  const body = readBody(context, 'EmbedRequest');
  if (body === null) return;
  const ask: EmbedAsk = {
    model: modelOf(body),
    input: body['input'],
    dimensions: typeof body['dimensions'] === 'number' ? body['dimensions'] : 0,
    truncate: body['truncate'] !== false,
    options: record(body['options']),
    keepAliveSeconds: body.keepAliveSeconds,
  };
  const result = await embedInputs(context.state, ask, context.signal);
  if (!result.ok) return context.json(result.status, { error: result.error });
  context.json(200, {
    model: ask.model,
    embeddings: result.embeddings,
    ...nonZero('total_duration', result.totalNs),
    ...nonZero('load_duration', result.loadNs),
    ...nonZero('prompt_eval_count', result.promptEvalCount),
  });
}

/** The old route never cuts: what is too long for one batch of the runner is refused, as a failure of the server. */
async function embedOne(context: RouteContext): Promise<void> {
  const body = readBody(context, 'EmbeddingRequest');
  if (body === null) return;
  const { state, signal } = context;
  const opened = await open(
    state,
    { model: modelOf(body), options: record(body['options']), keepAliveSeconds: body.keepAliveSeconds },
    signal,
  );
  if (!opened.ok) return context.json(opened.status, { error: opened.error });
  const { lease, profile } = opened;
  try {
    const prompt = typeof body['prompt'] === 'string' ? body['prompt'] : '';
    if (prompt === '') return context.json(200, { embedding: [] });
    if (!profile.capabilities.includes('embedding'))
      return context.json(500, { error: 'This server does not support embeddings. Start it with `--embeddings`' });
    const slot = await lease.slot(signal);
    if (slot === null) return context.json(499, { error: 'request canceled' });
    const tokens = countTokens(state, profile, prompt) + specialTokens;
    if (tokens > lease.runner.batch) {
      logTooLarge(state, lease, slot, tokens);
      return context.json(500, { error: tooLong });
    }
    await evaluate(state, lease, slot, [{ text: prompt, tokens }], signal);
    context.json(200, { embedding: vectorOf(prompt, profile.embeddingLength, 0).map(Math.fround) });
  } finally {
    lease.release();
  }
}

/** The first and the last token an embedding model puts around a text. */
const specialTokens = 2;
const tooLong = 'the input length exceeds the context length';

interface KeptText {
  readonly text: string;
  readonly tokens: number;
}

type Body = Readonly<Record<string, unknown>> & { readonly keepAliveSeconds: number | undefined };

function readBody(context: RouteContext, struct: string): Body | null {
  try {
    const fields = decodeObject(context.body, struct, fieldTypes);
    const keepAliveSeconds = keepAliveOf(fields['keep_alive']);
    if (typeof keepAliveSeconds !== 'string') return { ...fields, keepAliveSeconds };
    context.json(400, { error: keepAliveSeconds });
    return null;
  } catch (error) {
    context.json(400, { error: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

const fieldTypes: Readonly<Record<string, string>> = {
  model: 'string',
  prompt: 'string',
  truncate: 'bool',
  dimensions: 'int',
  options: 'map[string]interface {}',
};

const modelOf = (body: Body): string => (typeof body['model'] === 'string' ? body['model'] : '');
const nonZero = (key: string, value: number): object => (value === 0 ? {} : { [key]: value });
const elapsedNs = (startedMs: number): number => Math.max(1, Math.round((performance.now() - startedMs) * 1_000_000));

/** Null = neither a text nor a list of texts; an empty text is no input at all. */
function inputsOf(input: unknown): readonly string[] | null {
  if (input === undefined || input === null || input === '') return [];
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input)) return null;
  return input.every((one): one is string => typeof one === 'string') ? input : null;
}

type Opened =
  | { readonly ok: true; readonly lease: Lease; readonly profile: ModelProfile }
  | { readonly ok: false; readonly status: number; readonly error: string };

async function open(
  state: SimulatorState,
  ask: Pick<EmbedAsk, 'model' | 'options' | 'keepAliveSeconds'>,
  signal: AbortSignal,
): Promise<Opened> {
  const refused = faultRefusal(state.faults);
  if (refused !== null) return { ok: false, ...refused };
  const profile = findProfile(state, ask.model);
  if (profile === null)
    return {
      ok: false,
      status: 404,
      error:
        ask.model === '' ? "model '' not found" : `model ${JSON.stringify(ask.model)} not found, try pulling it first`,
    };
  const options = readOptions(ask.options, profile.parameters);
  if (!options.ok) return { ok: false, status: 500, error: options.error };
  for (const name of options.unknown)
    state.log.entry('WARN', 'types.go:1007', 'invalid option provided', [['option', name]]);
  const leased = await state.scheduler.acquire(
    { profile, options: options.options, shift: undefined, keepAliveSeconds: ask.keepAliveSeconds, embedding: true },
    signal,
  );
  return leased.ok ? { ok: true, lease: leased.lease, profile } : leased;
}

/** The head that fits, or the refusal. */
function cutToWindow(
  state: SimulatorState,
  profile: ModelProfile,
  text: string,
  numCtx: number,
  truncate: boolean,
): KeptText | string {
  const tokens = countTokens(state, profile, text);
  const limit = Math.min(numCtx, profile.trainedContext) - specialTokens;
  if (tokens <= limit) return { text, tokens: tokens + specialTokens };
  if (!truncate) return tooLong;
  if (limit <= 0) return 'input after truncation exceeds maximum context length';
  const ends = state.tokenizer.ends(text);
  // Where counts are pinned, the place is scaled from true tokens to own ones.
  const kept = Math.min(Math.round((limit * ends.length) / tokens), ends.length);
  return { text: text.slice(0, ends[kept - 1] ?? 0), tokens: limit + specialTokens };
}

/** Go starts the inputs at once and its last one comes first; the runner then takes one after the other. */
async function evaluate(
  state: SimulatorState,
  lease: Lease,
  slot: Slot,
  kept: readonly KeptText[],
  signal: AbortSignal,
): Promise<void> {
  const { runner } = lease;
  const order = [...kept.slice(-1), ...kept.slice(0, -1)];
  for (const { tokens } of order) {
    const task = runner.nextTask;
    runner.nextTask += tasksPerInput;
    state.log.raw(
      `slot   operator(): id  ${slot.id} | task ${task} | new prompt, n_ctx_slot = ${runner.slotWindow}, n_keep = 0, task.n_tokens = ${tokens}`,
    );
    state.log.raw(`slot   operator(): id  ${slot.id} | task ${task} | cached n_tokens = 0, memory_seq_rm [0, end)`);
    await state.wait((tokens / runner.profile.rates.promptTokensPerSecond) * 1000, signal);
    slot.tokens = tokens;
    state.log.raw(
      `slot      release: id  ${slot.id} | task ${task} | stop processing: n_tokens = ${tokens}, truncated = 0`,
    );
  }
}

const tasksPerInput = 2;

function logTooLarge(state: SimulatorState, lease: Lease, slot: Slot, tokens: number): void {
  const task = lease.runner.nextTask;
  lease.runner.nextTask += tasksPerInput;
  state.log.raw(
    `slot   operator(): id  ${slot.id} | task ${task} | new prompt, n_ctx_slot = ${lease.runner.slotWindow}, n_keep = 0, task.n_tokens = ${tokens}`,
  );
  state.log.raw(
    `srv    send_error: task id = ${task}, error: input (${tokens} tokens) is too large to process. increase the physical batch size (current batch size: ${lease.runner.batch})`,
  );
  state.log.raw(
    `slot      release: id  ${slot.id} | task ${task} | stop processing: n_tokens = ${slot.tokens}, truncated = 0`,
  );
}

/** Length 1; fewer dimensions = the first ones, brought to length 1 again. */
function vectorOf(text: string, length: number, dimensions: number): number[] {
  const vector = new Array<number>(length).fill(0);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words) {
    add(vector, `=${word}`, 1);
    for (let at = 0; at + 3 <= word.length; at++) add(vector, `#${word.slice(at, at + 3)}`, 0.3);
  }
  // A text without words still has a direction.
  add(vector, '', words.length === 0 ? 1 : 0.05);
  return unit(dimensions > 0 && dimensions < length ? vector.slice(0, dimensions) : vector);
}

/** Adds the direction of a feature: a random one that only the feature decides (FNV-1a into xorshift). */
function add(vector: number[], feature: string, weight: number): void {
  let state = 0x811c9dc5;
  for (let index = 0; index < feature.length; index++)
    state = Math.imul(state ^ feature.charCodeAt(index), 0x01000193) >>> 0;
  for (let at = 0; at < vector.length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    vector[at] = (vector[at] ?? 0) + (weight * state) / 0x80000000;
  }
}

function unit(vector: readonly number[]): number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => (length === 0 ? 0 : value / length));
}

/** The decimal number with the fewest digits that is this 32-bit number, as Go writes it. */
function shortestFloat32(value: number): number {
  const rounded = Math.fround(value);
  for (let digits = 6; digits <= 9; digits++) {
    const shorter = Number(rounded.toPrecision(digits));
    if (Math.fround(shorter) === rounded) return shorter;
  }
  return rounded;
}

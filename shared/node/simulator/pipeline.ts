/**
 * A chat or generate request from parsed body to the last chunk, in the order of the real server: lookup, unload, capability
 * errors, options, (re)load, load reply, message dropping, debug render, slot, token cut or refusal, generation, final line.
 */
import { capabilityProblem, isEmpty, lookUp } from './admission.ts';
import { faultRefusal } from './faults.ts';
import { logRefusal, runModel, type Job, type RunResult } from './generation.ts';
import type {
  BrainAsk,
  ChatMessage,
  Metrics,
  ModelProfile,
  ParsedRequest,
  ReplySink,
  SimulatorState,
} from './options.ts';
import { countTokens as countWith, cutSizes, dropMessages, survivingText, type Counter } from './prompt.ts';
import { createReplyWriter, type ReplyWriter } from './reply-writer.ts';
import { readOptions, type RunnerOptions } from './runner-options.ts';
import type { Slot } from './runner.ts';
import type { Lease } from './scheduler.ts';
import { checkFormat, createFirstPass, runsInTwoPasses, secondPassMessages, secondPassSuffix } from './structured.ts';
import { fillTemplate, generateMessages, renderChat } from './templates.ts';
import { nowMs } from './wire.ts';

/** Runs one request into a sink. Never rejects for what a client or a model did; the sink has the error then. */
export async function runRequest(
  state: SimulatorState,
  request: ParsedRequest,
  sink: ReplySink,
  signal: AbortSignal,
): Promise<void> {
  const startedMs = nowMs();
  const number = (state.turns.count += 1);
  const refused = faultRefusal(state.faults);
  if (refused !== null) return sink.refuse(refused.status, refused.error);
  const found = lookUp(state, request);
  if (!found.ok) return sink.refuse(found.status, found.error);
  const profile = found.profile;
  if (isEmpty(request) && request.keepAliveSeconds === 0) {
    state.scheduler.unload(profile);
    return sink.alone({ kind: 'unload' });
  }
  const incapable = capabilityProblem(profile, request);
  if (incapable !== null) return sink.refuse(400, incapable);
  const options = readOptions(request.options, profile.parameters);
  if (!options.ok) return sink.refuse(500, options.error);
  for (const name of options.unknown)
    state.log.entry('WARN', 'types.go:1007', 'invalid option provided', [['option', name]]);
  const got = await state.scheduler.acquire(
    { profile, options: options.options, shift: request.shift, keepAliveSeconds: request.keepAliveSeconds },
    signal,
  );
  if (!got.ok) return sink.refuse(got.status, got.error);
  try {
    await withRunner({
      state,
      request,
      profile,
      options: options.options,
      lease: got.lease,
      sink,
      signal,
      startedMs,
      number,
    });
  } finally {
    got.lease.release();
  }
}

/** Everything one admitted request carries along. */
export interface Turn {
  readonly state: SimulatorState;
  readonly request: ParsedRequest;
  readonly profile: ModelProfile;
  readonly options: RunnerOptions;
  readonly lease: Lease;
  readonly sink: ReplySink;
  readonly signal: AbortSignal;
  readonly startedMs: number;
  /** Counts requests from 1: with the seed it decides ids. */
  readonly number: number;
}

/** Tokens of a text without BOS. */
export function countTokens(state: SimulatorState, profile: ModelProfile, text: string): number {
  return countWith(counterFor(state, profile), text);
}

async function withRunner(turn: Turn): Promise<void> {
  const { state, request, sink, signal } = turn;
  if (isEmpty(request)) return sink.alone({ kind: 'load' });
  const text = promptOf(turn);
  if (request.debugRenderOnly) return sink.alone({ kind: 'render', text, imageCount: imageCount(request) });
  const format = checkFormat(request.format);
  if (!format.ok) return sink.fail(format.status, format.error);
  const slot = await turn.lease.slot(signal);
  if (slot === null) {
    state.log.entry(
      'INFO',
      'llama_server.go:1560',
      'aborting completion request due to client closing the connection',
      [],
    );
    noteAbort(turn, 0);
    return;
  }
  const fitted = fit(turn, slot, text);
  if (fitted === null) return;
  const { kind, think } = request;
  const inTwo = runsInTwoPasses({
    kind,
    profile: turn.profile,
    rendered: !isNative(turn) && turn.profile.mode !== 'mlx',
    format: request.format,
    think,
  });
  await (inTwo ? answerInTwoPasses(turn, slot, fitted) : answer(turn, slot, fitted));
}

/** The prompt text after whole messages were dropped. A raw prompt or a template in the request has no messages. */
function promptOf(turn: Turn): string {
  const { request, profile, state } = turn;
  if (request.kind === 'chat') return fitMessages(turn, chatMessages(turn), isNative(turn), state);
  if (request.raw) return request.prompt;
  if (request.template !== '') return contextText(turn) + fillTemplate(profile, request);
  return contextText(turn) + fitMessages(turn, generateMessages(profile, request), false, state);
}

/** Drops messages until the rest fits, and logs it as the path does. */
function fitMessages(turn: Turn, messages: readonly ChatMessage[], native: boolean, state: SimulatorState): string {
  const render = (kept: readonly ChatMessage[]): string => renderFor(turn, kept);
  const skips = turn.request.truncate === false || turn.profile.mode === 'mlx' || (native && messages.length === 1);
  if (skips) return render(messages);
  const dropped = dropMessages(messages, render, turn.lease.runner.numCtx, counterOf(turn));
  if (dropped.from > 0) {
    const what = native
      ? 'truncating native chat messages which exceed context length'
      : 'truncating input messages which exceed context length';
    const source = native ? 'routes.go:3087' : state.behaviour.sourceOf.messagesDropped;
    state.log.entry('DEBUG', source, what, [['truncated', native ? dropped.from : messages.length - dropped.from]]);
  }
  return dropped.text;
}

/** Modelfile SYSTEM in front, unless the request brings its own. */
export function chatMessages(turn: Turn): readonly ChatMessage[] {
  const messages = turn.request.messages ?? [];
  const system = turn.profile.system;
  return system !== null && messages[0]?.role !== 'system'
    ? [{ role: 'system', content: system }, ...messages]
    : messages;
}

export function renderFor(turn: Turn, messages: readonly ChatMessage[]): string {
  const { profile, state, request } = turn;
  // A native model's own template layer, used by generate and by servers before the native path.
  const usesLayer = request.kind === 'generate' || (profile.mode === 'native' && !state.behaviour.hasNativePath);
  const layout = usesLayer ? (profile.generateTemplate ?? profile.template) : profile.template;
  return renderChat(layout, messages, request.tools);
}

export interface Fitted {
  /** What the model sees; the uncut prompt is kept for `context`. */
  readonly text: string;
  /** Tokens of `text`, BOS counted. */
  readonly tokens: number;
  readonly uncutText: string;
}

/** The token cut by the version's rule, or the refusal of the path; null after refusing. */
export function fit(turn: Turn, slot: Slot, text: string): Fitted | null {
  const { state, request, profile, lease, options } = turn;
  const runner = lease.runner;
  const counter = counterOf(turn);
  const tokens = countWith(counter, text) + (profile.addBos ? 1 : 0);
  const whole: Fitted = { text, tokens, uncutText: text };
  if (profile.mode === 'mlx') return fitMlx(turn, whole);
  const cutsHere = !isNative(turn) && request.truncate !== false && imageCount(request) === 0;
  const sizes = cutsHere ? cutSizes(state.behaviour, tokens, runner.numCtx, options.numKeep, profile.addBos) : null;
  if (sizes !== null) return cut(turn, whole, sizes, counter);
  const isOver =
    state.behaviour.engine === 'runner'
      ? request.truncate === false && tokens > runner.numCtx
      : tokens >= runner.slotWindow;
  if (!isOver) return whole;
  refuseOverflow(turn, slot, tokens);
  return null;
}

/** This engine cuts nothing: what the model cannot hold is refused, whatever num_ctx says. */
function fitMlx(turn: Turn, whole: Fitted): Fitted | null {
  const max = turn.profile.trainedContext;
  if (whole.tokens < max) return whole;
  turn.sink.fail(
    400,
    `input length (${whole.tokens} tokens) exceeds the model's maximum context length (${max} tokens)`,
  );
  return null;
}

function cut(
  turn: Turn,
  whole: Fitted,
  sizes: { limit: number; keep: number; kept: number },
  counter: Counter,
): Fitted | null {
  const { state, lease, profile, request } = turn;
  if (state.behaviour.refusesCutWithoutShift && !(request.shift ?? lease.runner.shift)) {
    turn.sink.fail(400, tooLongText);
    return null;
  }
  state.log.entry('WARN', state.behaviour.sourceOf.promptCut, 'truncating input prompt', [
    ['limit', sizes.limit],
    ['prompt', whole.tokens],
    ['keep', sizes.keep],
    ['new', sizes.kept],
  ]);
  return {
    ...whole,
    tokens: sizes.kept,
    text: survivingText(counter, whole.text, whole.tokens, sizes.keep, sizes.kept, profile.addBos),
  };
}

const tooLongText =
  'the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length';

function refuseOverflow(turn: Turn, slot: Slot, tokens: number): void {
  const { state, lease, sink, options } = turn;
  if (state.behaviour.engine === 'runner') return sink.fail(400, 'the input length exceeds the context length');
  const window = lease.runner.slotWindow;
  const message = `request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`;
  logRefusal({ state, runner: lease.runner, slot, promptTokens: tokens, numKeep: options.numKeep }, message);
  const nested = {
    error: { code: 400, message, type: 'exceed_context_size_error', n_prompt_tokens: tokens, n_ctx: window },
  };
  sink.fail(400, JSON.stringify(nested));
}

async function answer(turn: Turn, slot: Slot, fitted: Fitted): Promise<void> {
  const writer = createReplyWriter(turn);
  const result = await runModel(jobOf(turn, slot, fitted), turn.state.brain(askOf(turn, fitted, 1)), (piece) =>
    writer.push(piece),
  );
  await close(turn, writer, result, fitted);
}

/** Pass 1 runs free until its first answer text, pass 2 under the format, from a prompt that holds the thinking. */
async function answerInTwoPasses(turn: Turn, slot: Slot, fitted: Fitted): Promise<void> {
  const first = createFirstPass();
  const writer = createReplyWriter(turn, (piece) => first.switches(piece));
  const free = await runModel(jobOf(turn, slot, fitted), turn.state.brain(askOf(turn, fitted, 1)), (piece) =>
    writer.push(piece),
  );
  if (free.end !== 'handed-over' || writer.hasFailed()) return close(turn, writer, free, fitted);
  writer.passOn();
  const text = fitMessages(turn, secondPassMessages(chatMessages(turn), first.thinking()), false, turn.state);
  const again = fit(turn, slot, text + secondPassSuffix(turn.profile.family));
  if (again === null) return;
  const bound = await runModel(jobOf(turn, slot, again), turn.state.brain(askOf(turn, again, 2)), (piece) =>
    writer.push(piece),
  );
  await close(turn, writer, bound, again);
}

/** The last chunk, or what stands in for it. */
export async function close(turn: Turn, writer: ReplyWriter, result: RunResult, fitted: Fitted): Promise<void> {
  const { sink, lease, state } = turn;
  if (turn.signal.aborted) return noteAbort(turn, result.evalCount);
  if (writer.hasFailed()) return;
  if (result.end === 'died') {
    state.scheduler.unload(lease.runner.profile);
    return sink.fail(500, 'an error was encountered while running the model: unexpected EOF');
  }
  if (result.end === 'guarded') return sink.end();
  await writer.finish(
    result.end === 'length' ? 'length' : 'stop',
    metricsOf(turn, result),
    contextOf(turn, fitted, result.outputText),
  );
}

export function jobOf(turn: Turn, slot: Slot, fitted: Fitted): Job {
  const { state, lease, options, signal, request } = turn;
  return {
    state,
    runner: lease.runner,
    slot,
    promptText: fitted.text,
    promptTokens: fitted.tokens,
    numKeep: options.numKeep,
    predictMax: predictMax(turn),
    stop: turn.profile.mode === 'mlx' ? [] : options.stop,
    hasRepeatGuard: !isNative(turn) && turn.profile.mode !== 'mlx',
    isNative: isNative(turn),
    shift: request.shift,
    signal,
  };
}

/** 10 x num_ctx where nothing or too much was asked; 0 means no bound on the rendered path and one token on the native one. */
function predictMax(turn: Turn): number {
  const asked = turn.options.numPredict;
  if (turn.profile.mode === 'mlx') return asked > 0 ? asked : Number.POSITIVE_INFINITY;
  const bound = 10 * turn.lease.runner.numCtx;
  if (asked === 0) return isNative(turn) ? 1 : Number.POSITIVE_INFINITY;
  return asked < 0 || asked > bound ? bound : asked;
}

export function askOf(turn: Turn, fitted: Fitted, pass: 1 | 2): BrainAsk {
  const { profile, request, options, state } = turn;
  const canThink = profile.capabilities.includes('thinking');
  return {
    promptText: fitted.text,
    profile,
    request: profile.mode === 'mlx' ? { ...request, format: undefined } : request,
    seed: options.seed >= 0 ? options.seed : state.options.seed,
    think: canThink && request.think !== false,
    thinkSetting: request.think,
    pass,
  };
}

export function metricsOf(turn: Turn, result: RunResult): Metrics {
  const scale = turn.state.options.timeScale > 0 ? turn.state.options.timeScale : 1;
  const loadNs = Math.round(turn.lease.loadMs * 1e6 * scale) + 1_234;
  const modelNs = loadNs + (result.promptEvalNs + result.evalNs) * scale;
  return {
    totalNs: Math.round(Math.max(modelNs + 1_500_000, (nowMs() - turn.startedMs) * 1e6)),
    loadNs,
    promptEvalCount: result.promptEvalCount,
    promptEvalNs: Math.round(result.promptEvalNs * scale),
    evalCount: result.evalCount,
    evalNs: Math.round(result.evalNs * scale),
  };
}

/** generate without raw: token ids of the uncut prompt and the output, without BOS. */
function contextOf(turn: Turn, fitted: Fitted, output: string): readonly number[] | undefined {
  if (turn.request.kind !== 'generate' || turn.request.raw) return undefined;
  const ids = idsOf(turn.state, fitted.uncutText + output);
  const pinned = turn.state.pinTokens?.(fitted.uncutText, turn.profile.name) ?? null;
  if (pinned === null) return ids;
  const wanted = pinned + turn.state.tokenizer.count(output);
  return Array.from({ length: wanted }, (_, index) => ids[Math.min(index, ids.length - 1)] ?? 0);
}

/** Remembers what each number stands for, so that a later request can bring its `context` along. */
function idsOf(state: SimulatorState, text: string): number[] {
  let start = 0;
  return Array.from(state.tokenizer.ends(text), (end) => {
    const piece = text.slice(start, end);
    start = end;
    const id = state.tokenizer.idOf(piece);
    state.pieces.set(id, piece);
    return id;
  });
}

/** Text of the `context` of an earlier reply. A number from elsewhere costs its token and says nothing. */
function contextText(turn: Turn): string {
  return turn.request.context.map((id) => turn.state.pieces.get(id) ?? ' a').join('');
}

export function isNative(turn: Turn): boolean {
  return turn.request.kind === 'chat' && turn.profile.mode === 'native' && turn.state.behaviour.hasNativePath;
}

function counterOf(turn: Turn): Counter {
  return counterFor(turn.state, turn.profile);
}

function counterFor(state: SimulatorState, profile: ModelProfile): Counter {
  const pin = state.pinTokens;
  return { tokenizer: state.tokenizer, pin: pin === null ? null : (text) => pin(text, profile.name) };
}

function imageCount(request: ParsedRequest): number {
  return (
    request.images.length + (request.messages ?? []).reduce((sum, message) => sum + (message.images?.length ?? 0), 0)
  );
}

function noteAbort(turn: Turn, sampledTokens: number): void {
  const path = turn.request.kind === 'chat' ? '/api/chat' : '/api/generate';
  const { aborted } = turn.state;
  aborted.push({ path, model: turn.request.model, sampledTokens });
  if (aborted.length > abortedMax) aborted.splice(0, aborted.length - abortedMax);
}

const abortedMax = 1_000;

/**
 * One run of the model on a slot: prompt evaluation with the slot's cache, then token by token with context shift, bounds,
 * stop words and the repeat guard. What becomes of the pieces is the caller's business.
 */
import type { ModelText, SimulatorState } from './options.ts';
import { repeatGuard, stopWords } from './stop-words.ts';
import type { Tokenizer } from './tokenizer.ts';
import { canShift, type Runner, type Slot } from './runner.ts';

export interface Job {
  readonly state: SimulatorState;
  readonly runner: Runner;
  readonly slot: Slot;
  /** Surviving text and its tokens, BOS counted. */
  readonly promptText: string;
  readonly promptTokens: number;
  readonly numKeep: number;
  /** Most tokens to sample; Infinity = no bound. */
  readonly predictMax: number;
  readonly stop: readonly string[];
  /** Rendered prompts only: a run of more than 30 equal pieces ends the stream. */
  readonly hasRepeatGuard: boolean;
  readonly isNative: boolean;
  /** As the request says; undefined = as the runner was started. */
  readonly shift: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Why a run ended. `guarded` and `died` have no done line; `aborted`: the client left; `handed-over`: the sink had enough. */
export type RunEnd = 'stop' | 'length' | 'guarded' | 'died' | 'aborted' | 'handed-over';

export interface RunResult {
  readonly end: RunEnd;
  readonly promptEvalCount: number;
  readonly promptEvalNs: number;
  /** Sampled tokens, the end token among them. */
  readonly evalCount: number;
  readonly evalNs: number;
  readonly shifts: number;
  readonly outputText: string;
}

/** `emit` answers false to stop the run. An error it throws ends the run and is thrown on. */
export async function runModel(
  job: Job,
  text: ModelText,
  emit: (piece: string) => Promise<boolean>,
): Promise<RunResult> {
  const task = takeTask(job.runner);
  const evaluated = await evaluatePrompt(job, task);
  if (evaluated === null) return finish(job, task, emptyRun);
  return generate(job, text, emit, task, evaluated);
}

/** The log lines of a prompt which the runner refuses: nothing is evaluated. */
export function logRefusal(
  job: Pick<Job, 'state' | 'runner' | 'slot' | 'promptTokens' | 'numKeep'>,
  message: string,
): void {
  const task = takeTask(job.runner);
  job.runner.nextTask += 1;
  rawSlot(
    job,
    'operator()',
    task,
    `new prompt, n_ctx_slot = ${job.runner.slotWindow}, n_keep = ${job.numKeep}, task.n_tokens = ${job.promptTokens}`,
  );
  if (logsRunner(job.state)) job.state.log.raw(`srv    send_error: task id = ${task}, error: ${message}`);
  rawSlot(job, 'release', task, `stop processing: n_tokens = ${job.slot.tokens}, truncated = 0`);
}

interface Evaluated {
  readonly promptTokens: number;
  readonly countedTokens: number;
  readonly ns: number;
}

interface RunState {
  tokens: number;
  sampled: number;
  shifts: number;
  isTruncated: boolean;
  output: string;
  /** When the first token was due, on the process clock. */
  startedMs: number;
  ns: number;
  promptNs: number;
  counted: number;
  end: RunEnd;
}

const emptyRun: RunState = {
  tokens: 0,
  sampled: 0,
  shifts: 0,
  isTruncated: false,
  output: '',
  startedMs: 0,
  ns: 0,
  promptNs: 0,
  counted: 0,
  end: 'aborted',
};
/** Tokens between two looks at the event loop when there is nothing to wait for. */
const tokensPerTurn = 64;
/** An answer without a bound is remembered up to here. */
const outputCharactersMax = 4_000_000;
const boundaryTokens = 4;
const fixedPromptMs = 8;

/** Reads the prompt in batches; null when the client left meanwhile. */
async function evaluatePrompt(job: Job, task: number): Promise<Evaluated | null> {
  const { runner, slot, promptTokens } = job;
  rawSlot(
    job,
    'operator()',
    task,
    `new prompt, n_ctx_slot = ${runner.slotWindow}, n_keep = ${job.numKeep}, task.n_tokens = ${promptTokens}`,
  );
  const cached = cachedTokens(job);
  const places = [promptTokens - runner.batch, promptTokens - boundaryTokens, ...(marksStart(job) ? [1] : [])].filter(
    (place) => place > 0,
  );
  const rate = runner.profile.rates.promptTokensPerSecond;
  for (let at = cached; at < promptTokens;) {
    rawSlot(job, 'operator()', task, `cached n_tokens = ${at}, memory_seq_rm [${at}, end)`);
    const next = Math.min(at + runner.batch, promptTokens, ...places.filter((place) => place > at));
    await job.state.wait(((next - at) * 1000) / rate, job.signal);
    at = next;
    slot.tokens = at;
    if (job.signal.aborted) {
      slot.text = '';
      rawSlot(job, 'release', task, `stop processing: n_tokens = ${at}, truncated = 0`);
      return null;
    }
  }
  const ms = fixedPromptMs + ((promptTokens - cached) * 1000) / rate;
  return {
    promptTokens,
    countedTokens: job.state.behaviour.countsUncachedOnly ? promptTokens - cached : promptTokens,
    ns: Math.round(ms * 1000) * 1000,
  };
}

/**
 * Tokens of the prompt that the slot still holds; at least one is evaluated again. A sliding window goes back only to a mark:
 * the one before the end of the last prompt, or the first token where the last prompt was native.
 */
function cachedTokens(job: Job): number {
  const { runner, slot, promptText, promptTokens, state } = job;
  if (slot.text === '' || promptText === '') return 0;
  const bos = runner.profile.addBos ? 1 : 0;
  const shared = commonPieces(state.tokenizer, slot.text, promptText);
  // Places in own tokens, scaled to true ones where counts are pinned.
  const common = bos + Math.floor((shared * (promptTokens - bos)) / Math.max(1, state.tokenizer.count(promptText)));
  const usable = Math.min(common, promptTokens - 1);
  if (runner.profile.slidingWindow === null) return usable;
  if (slot.checkpoint > 0 && usable >= slot.checkpoint) return slot.checkpoint;
  return slot.hasStartMark ? Math.min(1, usable) : 0;
}

/** The runner marks the first token of a native chat when it was started with the template of the model file. */
function marksStart(job: Job): boolean {
  return job.isNative && job.runner.profile.mode === 'native';
}

async function generate(
  job: Job,
  text: ModelText,
  emit: (piece: string) => Promise<boolean>,
  task: number,
  evaluated: Evaluated,
): Promise<RunResult> {
  const run: RunState = {
    ...emptyRun,
    startedMs: performance.now(),
    tokens: evaluated.promptTokens,
    promptNs: evaluated.ns,
    counted: evaluated.countedTokens,
    end: 'stop',
  };
  const guard = repeatGuard(job.hasRepeatGuard);
  const stopper = stopWords(job.stop);
  try {
    for (const piece of text.pieces) {
      if (!(await sample(job, run, task))) break;
      if (run.output.length < outputCharactersMax) run.output += piece;
      if (guard(piece)) {
        job.state.log.entry('DEBUG', 'llama_server.go:1700', 'prediction aborted, token repeat limit reached', []);
        run.end = 'guarded';
        break;
      }
      const passed = stopper.push(piece);
      if (!(await emit(passed.text))) {
        run.end = 'handed-over';
        break;
      }
      if (passed.isStopped) break;
      if (run.sampled >= job.predictMax) {
        run.end = 'length';
        break;
      }
    }
    // What looked like the beginning of a stop word was none.
    if (run.end === 'length' && stopper.rest() !== '') await emit(stopper.rest());
    if (run.end === 'stop' && !stopper.isStopped()) await endOfText(job, run, task, text, stopper.rest(), emit);
  } finally {
    run.ns = Math.max(
      1_000,
      Math.round(((run.sampled - 1) * 1e9) / job.runner.profile.rates.outputTokensPerSecond / 1000) * 1000,
    );
    job.slot.text = job.promptText + run.output;
    job.slot.tokens = run.tokens;
    job.slot.hasStartMark = marksStart(job);
    job.slot.checkpoint = evaluated.promptTokens - boundaryTokens - 1;
    finish(job, task, run);
  }
  return resultOf(run);
}

/** The end token is sampled like any other; a runner that dies has none. */
async function endOfText(
  job: Job,
  run: RunState,
  task: number,
  text: ModelText,
  rest: string,
  emit: (piece: string) => Promise<boolean>,
): Promise<void> {
  if (rest !== '' && !(await emit(rest))) run.end = 'handed-over';
  else if (text.dies === true) run.end = 'died';
  // The other engine does not count the end token.
  else if (job.runner.profile.mode !== 'mlx') await sample(job, run, task);
}

/** Makes room for one more token and samples it. False when the run is over; `run.end` says why. */
async function sample(job: Job, run: RunState, task: number): Promise<boolean> {
  if (run.sampled > 0) {
    if (run.tokens + 1 >= job.runner.slotWindow && !shiftWindow(job, run, task)) {
      run.end = 'length';
      run.isTruncated = true;
      return false;
    }
    run.tokens += 1;
  }
  run.sampled += 1;
  await pace(job, run);
  if (!job.signal.aborted) return true;
  run.end = 'aborted';
  return false;
}

/** Throws the older half of what is not kept away; false where this runner cannot. */
function shiftWindow(job: Job, run: RunState, task: number): boolean {
  const { runner, state } = job;
  // The runner inside old servers shifts sliding windows too.
  if (!shifts(job) || (state.behaviour.engine === 'llama-server' && !canShift(runner))) return false;
  const wanted =
    (job.numKeep < 0 ? job.promptTokens : job.numKeep) +
    (runner.profile.addBos && state.behaviour.engine === 'llama-server' ? 1 : 0);
  const keep = Math.max(0, Math.min(wanted, runner.slotWindow - 4));
  const left = run.tokens - keep;
  const discard = Math.floor(left / 2);
  if (discard <= 0) return false;
  rawSlot(job, 'operator()', task, `slot context shift, n_keep = ${keep}, n_left = ${left}, n_discard = ${discard}`);
  if (state.behaviour.engine === 'runner') {
    state.log.entry('DEBUG', 'cache.go:270', 'context limit hit - shifting', [
      ['id', job.slot.id],
      ['limit', runner.slotWindow],
      ['input', run.tokens],
      ['keep', keep],
      ['discard', discard],
    ]);
  }
  run.tokens -= discard;
  run.shifts += 1;
  run.isTruncated = true;
  return true;
}

function shifts(job: Job): boolean {
  return job.shift ?? job.runner.shift;
}

/** Waits for model time; without any, lets others run from time to time. */
async function pace(job: Job, run: RunState): Promise<void> {
  const { timeScale } = job.state.options;
  if (timeScale > 0) {
    // Against the clock of the whole run, so that late timers do not add up.
    const dueMs = ((run.sampled - 1) * 1000) / job.runner.profile.rates.outputTokensPerSecond;
    await job.state.wait(dueMs - (performance.now() - run.startedMs) / timeScale, job.signal);
  }
  if (run.sampled % tokensPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
}

function finish(job: Job, task: number, run: RunState): RunResult {
  job.runner.nextTask = Math.max(job.runner.nextTask, task + Math.max(1, run.sampled) + 2);
  if (run !== emptyRun)
    rawSlot(job, 'release', task, `stop processing: n_tokens = ${run.tokens}, truncated = ${run.isTruncated ? 1 : 0}`);
  return resultOf(run);
}

function resultOf(run: RunState): RunResult {
  return {
    end: run.end,
    promptEvalCount: run.counted,
    promptEvalNs: run.promptNs,
    evalCount: run.sampled,
    evalNs: run.ns,
    shifts: run.shifts,
    outputText: run.output,
  };
}

function commonLength(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  if (a.startsWith(b.slice(0, shorter))) return shorter;
  let low = 0;
  let high = shorter;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.startsWith(b.slice(low, middle), low)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Leading pieces that both texts have: a word cut short is another piece. */
function commonPieces(tokenizer: Tokenizer, a: string, b: string): number {
  const length = commonLength(a, b);
  const [endsA, endsB] = [
    tokenizer.ends(a.slice(0, length + pieceLengthMax)),
    tokenizer.ends(b.slice(0, length + pieceLengthMax)),
  ];
  let count = 0;
  while (count < endsB.length && endsA[count] === endsB[count] && (endsB[count] ?? 0) <= length) count += 1;
  return count;
}

const pieceLengthMax = 32;

function takeTask(runner: Runner): number {
  const task = runner.nextTask;
  runner.nextTask += 2;
  return task;
}

function logsRunner(state: SimulatorState): boolean {
  return state.behaviour.engine === 'llama-server';
}

function rawSlot(job: Pick<Job, 'state' | 'slot' | 'runner'>, what: string, task: number, text: string): void {
  if (logsRunner(job.state) && job.runner.profile.mode !== 'mlx')
    job.state.log.raw(`slot ${what.padStart(12)}: id ${String(job.slot.id).padStart(2)} | task ${task} | ${text}`);
}

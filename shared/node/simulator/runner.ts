/** One loaded model: its window, its slots, what makes it fit for a request, and what the log says when it starts. */
import type { ServerBehaviour } from './behaviour.ts';
import { hasOwnParser } from './families/index.ts';
import type { SimulatorLog } from './log.ts';
import type { ModelProfile } from './options.ts';
import type { RunnerOptions } from './runner-options.ts';

export interface Runner {
  readonly profile: ModelProfile;
  /** Name it was loaded under; /api/ps knows it by that name only. */
  readonly loadedAs: string;
  /** After clamping: what /api/ps says. */
  readonly numCtx: number;
  /** Hard limit inside the runner: padded where the server pads. */
  readonly slotWindow: number;
  readonly batch: number;
  readonly shift: boolean;
  readonly key: string;
  readonly slots: readonly Slot[];
  readonly memoryBytes: number;
  nextTask: number;
  inFlight: number;
  keepAliveSeconds: number;
  /** Milliseconds since the epoch; Infinity = never. */
  expiresAtMs: number;
  unloadWhenIdle: boolean;
  closed: boolean;
  readonly waitingForSlot: ((slot: Slot | null) => void)[];
}

export interface Slot {
  readonly id: number;
  busy: boolean;
  /** Text whose tokens are in the cache, and their number. */
  text: string;
  tokens: number;
  /** A sliding-window model can only go back to here, */
  checkpoint: number;
  /** or to its first token. */
  hasStartMark: boolean;
}

export interface Want {
  readonly profile: ModelProfile;
  readonly options: RunnerOptions;
  readonly shift: boolean | undefined;
  readonly keepAliveSeconds: number | undefined;
  readonly embedding?: boolean;
}

/** What a runner needs to know of its server. */
export interface RunnerHost {
  readonly behaviour: ServerBehaviour;
  readonly log: SimulatorLog;
  readonly defaultNumCtx: number;
  readonly numParallel: number;
  readonly keepAliveSeconds: number;
}

/** The window a request gets: raised to 4, at most the trained one. */
export function windowFor(want: Want, host: Pick<RunnerHost, 'defaultNumCtx'>): number {
  const asked = want.options.numCtx ?? host.defaultNumCtx;
  return Math.min(Math.max(asked, 4), want.profile.trainedContext);
}

export function isCompatible(runner: Runner, want: Want, host: RunnerHost): boolean {
  return !runner.closed && !runner.unloadWhenIdle && runner.key === keyOf(want, host);
}

function keyOf(want: Want, host: RunnerHost): string {
  // Options never reload this engine.
  if (want.profile.mode === 'mlx') return 'mlx';
  const shift = host.behaviour.shiftReloads ? shiftFor(want, host) : null;
  return JSON.stringify([windowFor(want, host), want.options.numBatch, want.options.launchKey, shift]);
}

function shiftFor(want: Want, host: RunnerHost): boolean {
  return want.shift ?? host.behaviour.shiftByDefault(windowFor(want, host), want.profile.architecture);
}

export function newRunner(want: Want, host: RunnerHost): Runner {
  const numCtx = windowFor(want, host);
  const isMlx = want.profile.mode === 'mlx';
  const parallel = isEmbedding(want.profile) ? 1 : host.numParallel;
  return {
    profile: want.profile,
    loadedAs: want.profile.name,
    numCtx,
    slotWindow: isMlx
      ? want.profile.trainedContext
      : host.behaviour.padsWindow
        ? Math.ceil(numCtx / windowPadding) * windowPadding
        : numCtx,
    batch: want.options.numBatch ?? batchFor(want.profile, numCtx),
    // Where shift is not a launch flag, the request says it each time.
    shift: shiftFor(host.behaviour.shiftReloads ? want : { ...want, shift: undefined }, host),
    key: keyOf(want, host),
    slots: Array.from({ length: parallel }, (_, id) => ({
      id,
      busy: false,
      text: '',
      tokens: 0,
      checkpoint: 0,
      hasStartMark: false,
    })),
    memoryBytes: memoryOf(want.profile, numCtx * parallel),
    nextTask: 0,
    inFlight: 0,
    keepAliveSeconds: host.keepAliveSeconds,
    expiresAtMs: Number.POSITIVE_INFINITY,
    unloadWhenIdle: false,
    closed: false,
    waitingForSlot: [],
  };
}

/** Weights plus a key and value cache of 16-bit numbers for a few layers: the order of size of a small model. */
function memoryOf(profile: ModelProfile, tokens: number): number {
  return Math.round(profile.sizeBytes * 1.05) + tokens * profile.embeddingLength * 16;
}

/** An embedding model reads a whole input in one batch. */
function batchFor(profile: ModelProfile, numCtx: number): number {
  if (isEmbedding(profile)) return Math.min(numCtx, 2_048);
  return numCtx > 4_096 ? 1_024 : 512;
}

const isEmbedding = (profile: ModelProfile): boolean => profile.capabilities.includes('embedding');

export function expiryOf(runner: Runner): number {
  return runner.keepAliveSeconds < 0 ? Number.POSITIVE_INFINITY : Date.now() + runner.keepAliveSeconds * 1000;
}

export function runnerFields(runner: Runner): [string, string | number][] {
  return [
    ['runner.name', `registry.ollama.ai/library/${runner.loadedAs}`],
    ['runner.size', runner.memoryBytes],
    ['runner.parallel', runner.slots.length],
    ['runner.num_ctx', runner.numCtx],
  ];
}

export function logLoad(runner: Runner, want: Want, host: RunnerHost): void {
  const asked = want.options.numCtx ?? host.defaultNumCtx;
  const trained = want.profile.trainedContext;
  if (asked > trained) {
    host.log.entry('WARN', 'server.go:114', 'requested context size too large for model', [
      ['num_ctx', asked],
      ['n_ctx_train', trained],
    ]);
  }
  if (host.behaviour.engine !== 'llama-server') return;
  logTemplate(want.profile, host);
  if (want.profile.mode === 'mlx') return;
  const parallel = runner.slots.length;
  const parts = [
    '$OLLAMA/lib/ollama/llama-server --model … --port 40000 --host 127.0.0.1 --no-webui --offline',
    `-c ${runner.numCtx * parallel} -np ${parallel} --log-verbosity 4 --no-log-prefix --no-log-timestamps`,
    ...(want.profile.mode === 'rendered' && !isEmbedding(want.profile) ? ['--no-jinja --chat-template chatml'] : []),
    '--load-mode none --flash-attn auto',
    ...(isEmbedding(want.profile) ? ['--embedding'] : []),
    `-b ${runner.batch} -ub ${runner.batch}`,
    ...(runner.shift ? ['--context-shift'] : []),
    ...(runner.shift && want.options.numKeep > 0 ? [`--keep ${want.options.numKeep}`] : []),
  ];
  host.log.entry('INFO', 'llama_server.go:433', 'starting llama-server', [['cmd', parts.join(' ')]]);
  if (runner.shift && !canShift(runner))
    host.log.raw('srv    load_model: KV cache shifting is not supported for this context, disabling KV cache shifting');
}

/** Which path the prompts of this model take: told once a load. */
function logTemplate(profile: ModelProfile, host: RunnerHost): void {
  const hasParser = hasOwnParser(profile.family);
  const selected =
    profile.mode === 'native'
      ? 'gguf_chat_template'
      : profile.family === 'harmony'
        ? 'harmony'
        : hasParser
          ? 'parser'
          : 'go_template';
  host.log.entry('INFO', 'images.go:391', 'template selection', [
    ['model', `registry.ollama.ai/library/${profile.name}`],
    ['selected', selected],
    ['renderer', ''],
    ['parser', hasParser ? profile.family : ''],
  ]);
}

/** A sliding-window model shifts only while both its caches have one size. */
export function canShift(runner: Pick<Runner, 'profile' | 'slotWindow' | 'batch'>): boolean {
  if (runner.profile.mode === 'mlx') return false;
  const sliding = runner.profile.slidingWindow;
  return sliding === null || runner.slotWindow <= sliding + runner.batch;
}

const windowPadding = 256;

/**
 * Which models are loaded, with which window, and who may use them next: load, reload, keep_alive, the queue of requests that
 * need a load, and the slots of each runner. Time comes in through `host`, so that tests need not wait.
 */
import type { ServerBehaviour } from './behaviour.ts';
import { hasOwnParser } from './families/index.ts';
import { busyText } from './faults.ts';
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

export interface Lease {
  readonly runner: Runner;
  /** 0.. as a share of model time; about a millisecond where it was loaded. */
  readonly loadMs: number;
  /** Waits in line for a slot; null when the client left meanwhile. */
  slot(signal: AbortSignal): Promise<Slot | null>;
  /** Gives slot and runner back; the keep-alive timer starts anew. */
  release(): void;
}

export type LeaseResult = { ok: true; lease: Lease } | { ok: false; status: number; error: string };

export interface Want {
  readonly profile: ModelProfile;
  readonly options: RunnerOptions;
  readonly shift: boolean | undefined;
  readonly keepAliveSeconds: number | undefined;
  readonly embedding?: boolean;
}

export interface Scheduler {
  acquire(want: Want, signal: AbortSignal): Promise<LeaseResult>;
  /** Unloads now, or as soon as nobody uses it. */
  unload(profile: ModelProfile): void;
  /** Loaded runners, latest expiry first. */
  running(): readonly Runner[];
  stop(): void;
}

export interface SchedulerHost {
  readonly behaviour: ServerBehaviour;
  readonly log: SimulatorLog;
  readonly defaultNumCtx: number;
  readonly numParallel: number;
  readonly maxQueue: number;
  readonly maxLoadedModels: number;
  readonly keepAliveSeconds: number;
  wait(milliseconds: number, signal: AbortSignal | null): Promise<void>;
}

export function createScheduler(host: SchedulerHost): Scheduler {
  const loaded = new Map<string, Runner>();
  const queue: Pending[] = [];
  const timers = new Map<Runner, NodeJS.Timeout>();
  const idleListeners: (() => void)[] = [];
  let isLoading = false;
  let stopped = false;

  function acquire(want: Want, signal: AbortSignal): Promise<LeaseResult> {
    const found = loaded.get(want.profile.weights);
    if (found !== undefined && isCompatible(found, want, host))
      return Promise.resolve({ ok: true, lease: leaseOf(found, want, 1) });
    if (queue.length >= host.maxQueue) return Promise.resolve({ ok: false, status: 503, error: busyText });
    return new Promise((resolve) => {
      queue.push({ want, signal, resolve });
      void work();
    });
  }

  /** One load at a time, in the order of arrival. */
  async function work(): Promise<void> {
    if (isLoading) return;
    isLoading = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) next.resolve(await serve(next));
    isLoading = false;
  }

  async function serve({ want, signal }: Pending): Promise<LeaseResult> {
    if (signal.aborted || stopped) return { ok: false, status: 499, error: 'request canceled' };
    const found = loaded.get(want.profile.weights);
    if (found !== undefined && isCompatible(found, want, host)) return { ok: true, lease: leaseOf(found, want, 1) };
    if (found !== undefined) {
      host.log.entry('DEBUG', 'sched.go:244', 'reloading', runnerFields(found));
      await idle(found, signal);
      close(found);
    }
    if (!(await makeRoom(signal))) return { ok: false, status: 499, error: 'request canceled' };
    return load(want, signal);
  }

  async function load(want: Want, signal: AbortSignal): Promise<LeaseResult> {
    const runner = newRunner(want, host);
    logLoad(runner, want, host);
    const loadMs = want.profile.rates.loadMs;
    await host.wait(loadMs, signal);
    if (signal.aborted || stopped) {
      host.log.entry(
        'WARN',
        'llama_server.go:1301',
        'client connection closed before llama-server finished loading, aborting load',
        [],
      );
      return { ok: false, status: 499, error: 'request canceled' };
    }
    loaded.set(want.profile.weights, runner);
    return { ok: true, lease: leaseOf(runner, want, loadMs) };
  }

  function leaseOf(runner: Runner, want: Want, loadMs: number): Lease {
    runner.inFlight += 1;
    clearTimeout(timers.get(runner));
    if (want.keepAliveSeconds !== undefined) runner.keepAliveSeconds = want.keepAliveSeconds;
    runner.expiresAtMs = expiryOf(runner);
    let slot: Slot | null = null;
    let isReleased = false;
    return {
      runner,
      loadMs,
      async slot(signal) {
        slot = await takeSlot(runner, signal);
        return slot;
      },
      release() {
        if (isReleased) return;
        isReleased = true;
        if (slot !== null) giveSlot(runner, slot);
        runner.inFlight -= 1;
        afterUse(runner);
      },
    };
  }

  function afterUse(runner: Runner): void {
    host.log.entry('DEBUG', 'sched.go:312', 'after processing request finished event', runnerFields(runner));
    runner.expiresAtMs = expiryOf(runner);
    if (runner.inFlight === 0) {
      if (runner.unloadWhenIdle || runner.keepAliveSeconds === 0) close(runner);
      else startTimer(runner);
    }
    for (const listener of idleListeners.splice(0)) listener();
  }

  function startTimer(runner: Runner): void {
    const milliseconds = runner.expiresAtMs - Date.now();
    if (milliseconds > longestTimerMs) return;
    const timer = setTimeout(() => (runner.inFlight === 0 ? close(runner) : undefined), milliseconds);
    timer.unref();
    timers.set(runner, timer);
  }

  function close(runner: Runner): void {
    if (runner.closed) return;
    runner.closed = true;
    clearTimeout(timers.get(runner));
    timers.delete(runner);
    if (loaded.get(runner.profile.weights) === runner) loaded.delete(runner.profile.weights);
  }

  /** Unloads the idle runner that would expire first until one more fits; waits while all are busy. */
  async function makeRoom(signal: AbortSignal): Promise<boolean> {
    while (loaded.size >= host.maxLoadedModels) {
      if (signal.aborted || stopped) return false;
      const idleRunner = [...loaded.values()].filter((runner) => runner.inFlight === 0).sort(firstToGo)[0];
      if (idleRunner !== undefined) close(idleRunner);
      else await someoneFinishes(signal);
    }
    return true;
  }

  async function idle(runner: Runner, signal: AbortSignal): Promise<void> {
    while (runner.inFlight > 0 && !signal.aborted && !stopped) await someoneFinishes(signal);
  }

  function someoneFinishes(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      idleListeners.push(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  return {
    acquire,
    unload(profile) {
      const runner = loaded.get(profile.weights);
      if (runner === undefined) return;
      if (runner.inFlight === 0) close(runner);
      else runner.unloadWhenIdle = true;
    },
    running: () => [...loaded.values()].sort((a, b) => ascending(b.expiresAtMs, a.expiresAtMs)),
    stop() {
      stopped = true;
      for (const runner of [...loaded.values()]) close(runner);
      for (const listener of idleListeners.splice(0)) listener();
    },
  };
}

interface Pending {
  readonly want: Want;
  readonly signal: AbortSignal;
  resolve(result: LeaseResult): void;
}

/** Shortest keep_alive, then nearest expiry. */
function firstToGo(a: Runner, b: Runner): number {
  const staysSeconds = (runner: Runner): number =>
    runner.keepAliveSeconds < 0 ? Number.POSITIVE_INFINITY : runner.keepAliveSeconds;
  return ascending(staysSeconds(a), staysSeconds(b)) || ascending(a.expiresAtMs, b.expiresAtMs);
}

/** Infinity equals itself. */
function ascending(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** setTimeout counts to 2^31 - 1 ms; what lives longer than that need not be timed. */
const longestTimerMs = 2_147_483_647;
const windowPadding = 256;

/** The window a request gets: raised to 4, at most the trained one. */
export function windowFor(want: Want, host: Pick<SchedulerHost, 'defaultNumCtx'>): number {
  const asked = want.options.numCtx ?? host.defaultNumCtx;
  return Math.min(Math.max(asked, 4), want.profile.trainedContext);
}

function isCompatible(runner: Runner, want: Want, host: SchedulerHost): boolean {
  return !runner.closed && !runner.unloadWhenIdle && runner.key === keyOf(want, host);
}

function keyOf(want: Want, host: SchedulerHost): string {
  // Options never reload this engine.
  if (want.profile.mode === 'mlx') return 'mlx';
  const shift = host.behaviour.shiftReloads ? shiftFor(want, host) : null;
  return JSON.stringify([windowFor(want, host), want.options.numBatch, want.options.launchKey, shift]);
}

function shiftFor(want: Want, host: SchedulerHost): boolean {
  return want.shift ?? host.behaviour.shiftByDefault(windowFor(want, host), want.profile.architecture);
}

function newRunner(want: Want, host: SchedulerHost): Runner {
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

function expiryOf(runner: Runner): number {
  return runner.keepAliveSeconds < 0 ? Number.POSITIVE_INFINITY : Date.now() + runner.keepAliveSeconds * 1000;
}

/** The idle slot with the highest number, as the runner picks them; else in line. Null when the client left. */
function takeSlot(runner: Runner, signal: AbortSignal): Promise<Slot | null> {
  if (signal.aborted) return Promise.resolve(null);
  const free = runner.slots.findLast((slot) => !slot.busy);
  if (free !== undefined) {
    free.busy = true;
    return Promise.resolve(free);
  }
  return new Promise((resolve) => {
    const take = (slot: Slot | null): void => {
      signal.removeEventListener('abort', leave);
      resolve(slot);
    };
    const leave = (): void => {
      const index = runner.waitingForSlot.indexOf(take);
      if (index >= 0) runner.waitingForSlot.splice(index, 1);
      take(null);
    };
    runner.waitingForSlot.push(take);
    signal.addEventListener('abort', leave, { once: true });
  });
}

/** Handed on without becoming free, so that nobody can jump the line. */
function giveSlot(runner: Runner, slot: Slot): void {
  const next = runner.waitingForSlot.shift();
  if (next === undefined) slot.busy = false;
  else next(slot);
}

function runnerFields(runner: Runner): [string, string | number][] {
  return [
    ['runner.name', `registry.ollama.ai/library/${runner.loadedAs}`],
    ['runner.size', runner.memoryBytes],
    ['runner.parallel', runner.slots.length],
    ['runner.num_ctx', runner.numCtx],
  ];
}

function logLoad(runner: Runner, want: Want, host: SchedulerHost): void {
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
function logTemplate(profile: ModelProfile, host: SchedulerHost): void {
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

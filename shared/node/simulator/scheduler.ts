/**
 * Which models are loaded, with which window, and who may use them next: load, reload, keep_alive, the queue of requests that
 * need a load, and the slots of each runner. Time comes in through `host`, so that tests need not wait.
 */
import { busyText } from './faults.ts';
import type { ModelProfile } from './options.ts';
import {
  expiryOf,
  isCompatible,
  logLoad,
  newRunner,
  runnerFields,
  type Runner,
  type RunnerHost,
  type Slot,
  type Want,
} from './runner.ts';

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

export interface Scheduler {
  acquire(want: Want, signal: AbortSignal): Promise<LeaseResult>;
  /** Unloads now, or as soon as nobody uses it. */
  unload(profile: ModelProfile): void;
  /** Loaded runners, latest expiry first. */
  running(): readonly Runner[];
  stop(): void;
}

export interface SchedulerHost extends RunnerHost {
  readonly maxQueue: number;
  readonly maxLoadedModels: number;
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

/** Storms, one at a time, against the console's simulator where it runs, else against one that lives as long as the storm. */
import { randomBytes } from 'node:crypto';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import type { Storm, StormAsk } from '../../contract/ledger.ts';
import { never } from '../../engine/cancel.ts';
import type { Clock, Subject } from '../../engine/ports.ts';
import { STORM_MODEL } from '../../engine/storm/plan.ts';
import { type OllamaDoor, createOllamaDoor } from '../ollama/door.ts';
import type { SimulatorHost } from '../simulator/host.ts';
import { startSimulator } from '../simulator/index.ts';
import { type StormRun, runStorm } from './storm-run.ts';

export interface Storms {
  /** Resolves when its calls have left. Denied `busy` while another one runs. */
  start(ask: StormAsk): Promise<Result<Storm>>;
  /** Returns at once; the event says when all of its calls have ended. */
  cancel(stormId: string): Result<Record<string, never>>;
  /** The one that runs or ran last; null = none since the start. */
  last(): Storm | null;
  /** Cancels what runs and waits for its end; none starts after it. */
  stop(): Promise<void>;
}

export interface StormOptions {
  readonly simulator: Pick<SimulatorHost, 'address'>;
  readonly emit: (event: EngineEvent) => void;
  readonly clock: Clock;
  /** Of a simulator that is started for a storm. */
  readonly timeScale: () => number;
}

/** At most 20 frames a second; each carries the whole storm. */
const FRAME_MS = 50;
/** The last call of a storm of 200 waits for the 399 before it, some 40 s at the simulator's pace. */
const CALL_TIMEOUT_MS = 120_000;

export function createStorms({ simulator, emit, clock, timeScale }: StormOptions): Storms {
  let run: StormRun | null = null;
  let isStopped = false;
  /** From the start of a storm to its last word. */
  let active: Promise<unknown> | null = null;

  async function begin(ask: StormAsk, ended: () => void): Promise<Result<Storm>> {
    const server = await serverFor(simulator, timeScale());
    if (!server.ok) return server;
    const door = createOllamaDoor({ url: server.value.url, clock });
    const subject = await subjectOf(door);
    if (!subject.ok || isStopped) {
      await server.value.close();
      return subject.ok ? denied('cancelled', 'The console is closing.') : subject;
    }
    const frames = createFrames(() => emit({ type: 'storm-changed', storm: current.view() }));
    const current = runStorm({
      id: `storm_${randomBytes(8).toString('hex')}`,
      ask,
      door,
      subject: subject.value,
      clock,
      timeoutMs: CALL_TIMEOUT_MS * Math.max(1, timeScale()),
      release: server.value.close,
      onChange: frames.changed,
    });
    run = current;
    const started = current.view();
    frames.now();
    void current.done.then(() => {
      ended();
      frames.now();
    });
    return ok(started);
  }

  return {
    async start(ask) {
      if (isStopped) return denied('cancelled', 'The console is closing.');
      if (active !== null) {
        return denied('busy', 'A storm is running.', { next: 'Wait for it to end, or stop it.' });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      active = promise;
      const ended = (): void => {
        active = null;
        resolve();
      };
      try {
        const started = await begin(ask, ended);
        if (!started.ok) ended();
        return started;
      } catch (error) {
        ended();
        throw error;
      }
    },
    cancel(stormId) {
      const storm = run?.view();
      if (storm?.id !== stormId) return denied('not-found', 'There is no such storm.');
      if (storm.state !== 'running') return denied('not-found', 'The storm has ended already.');
      run?.cancel();
      return ok({});
    },
    last: () => run?.view() ?? null,
    async stop() {
      isStopped = true;
      run?.cancel();
      await active;
    },
  };
}

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

async function serverFor(simulator: StormOptions['simulator'], timeScale: number): Promise<Result<Server>> {
  const url = simulator.address();
  if (url !== null) return ok({ url, close: async () => undefined });
  try {
    const own = await startSimulator({ port: 0, timeScale });
    return ok({ url: own.url, close: () => own.stop() });
  } catch (error) {
    return denied(
      'internal',
      `The simulator did not start: ${error instanceof Error ? error.message : String(error)}.`,
      { next: 'Try again.' },
    );
  }
}

/** What the corridor has to know of the simulator; asked once, it is the same for every call. */
async function subjectOf(door: OllamaDoor): Promise<Result<Subject>> {
  const [version, facts] = await Promise.all([door.version(never), door.show(STORM_MODEL, never)]);
  if (!version.ok) return version;
  if (!facts.ok) return facts;
  return ok({
    server: door.address.url,
    serverVersion: version.value,
    simulated: true,
    facts: facts.value,
    digest: facts.value.digest,
    learned: null,
    defaultNumCtx: null,
    running: [],
  });
}

/** The first change after a pause waits too, so that changes of one moment travel together. */
function createFrames(send: () => void): { changed(): void; now(): void } {
  let timer: NodeJS.Timeout | null = null;
  const now = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    send();
  };
  return { changed: () => void (timer ??= setTimeout(now, FRAME_MS)), now };
}

/**
 * An Ollama-compatible server that shows where context overflows, without a model: real pipeline order, real cut sizes, real
 * log lines, and answers that come from what survived in the window. In-process or from the command line.
 */
import type { Server } from 'node:http';
import { behaviourOf, newestVersion } from './behaviour.ts';
import { createBrain } from './brain.ts';
import { createLog } from './log.ts';
import type { FaultName, ModelProfile, Simulator, SimulatorOptions, SimulatorState } from './options.ts';
import { defaultProfiles } from './profiles.ts';
import { createScheduler } from './scheduler.ts';
import { createHttpServer } from './server.ts';
import { createTokenizer } from './tokenizer.ts';

export type { Brain, FaultName, ModelProfile, Simulator, SimulatorOptions } from './options.ts';
export { faultNames } from './options.ts';
export { defaultProfiles, profileOf } from './profiles.ts';
export { newestVersion } from './behaviour.ts';

/** Listens when it resolves; rejects when the port is taken or the version is no version. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const state = createState(options);
  const server = createHttpServer(state);
  await listen(server, state.options.port, state.options.host);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : state.options.port;
  logStart(state, port);
  const host = state.options.host.includes(':') ? `[${state.options.host}]` : state.options.host;
  let stopping: Promise<void> | null = null;
  return {
    url: `http://${host}:${port}`,
    port,
    version: state.behaviour.version,
    state,
    logLines: () => state.log.lines(),
    setFaults: (faults) => replaceFaults(state.faults, faults),
    aborted: state.aborted,
    stop: () => (stopping ??= stop(server, state)),
  };
}

const defaultPort = 11_500;
const defaultSeed = 1_837;
const defaultWindow = 4_096;

function createState(options: SimulatorOptions): SimulatorState {
  const behaviour = behaviourOf(options.version ?? newestVersion);
  const full = withDefaults(options, behaviour.version);
  const log = createLog({ debug: full.debug, file: full.logFile });
  const tokenizer = createTokenizer();
  const wait = (milliseconds: number, signal: AbortSignal | null): Promise<void> =>
    pause(milliseconds * full.timeScale, signal);
  return {
    options: full,
    behaviour,
    profiles: full.profiles,
    brain: options.brain ?? createBrain(tokenizer),
    pinTokens: options.pinTokens ?? null,
    tokenizer,
    pieces: new Map(),
    scheduler: createScheduler({ behaviour, log, wait, ...full }),
    log,
    faults: new Set(options.faults),
    turns: { count: 0 },
    aborted: [],
    wait,
  };
}

/** What a server says when it starts. The log watch learns its settings from these lines. */
function logStart({ log, options, behaviour }: SimulatorState, port: number): void {
  const environment = {
    OLLAMA_CONTEXT_LENGTH: options.defaultNumCtx,
    OLLAMA_DEBUG: options.debug ? 'DEBUG' : 'INFO',
    OLLAMA_HOST: `http://${options.host}:${port}`,
    OLLAMA_KEEP_ALIVE: `${options.keepAliveSeconds}s`,
    OLLAMA_MAX_LOADED_MODELS: options.maxLoadedModels,
    OLLAMA_MAX_QUEUE: options.maxQueue,
    OLLAMA_NUM_PARALLEL: options.numParallel,
    OLLAMA_ORIGINS: `[${options.origins.join(' ')}]`,
  };
  const listed = Object.entries(environment).map(([name, value]) => `${name}:${value}`);
  log.entry('INFO', 'routes.go:1964', 'server config', [['env', `map[${listed.join(' ')}]`]]);
  log.entry('INFO', 'routes.go:2018', `Listening on ${options.host}:${port} (version ${behaviour.version})`, []);
  log.entry('INFO', 'routes.go:2057', 'vram-based default context', [
    ['total_vram', '0 B'],
    ['default_num_ctx', options.defaultNumCtx],
  ]);
}

function withDefaults(options: SimulatorOptions, version: string): SimulatorState['options'] {
  const profiles: readonly ModelProfile[] = options.profiles ?? defaultProfiles;
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? defaultPort,
    version,
    seed: options.seed ?? defaultSeed,
    timeScale: options.timeScale ?? 1,
    logFile: options.logFile ?? null,
    debug: options.debug ?? false,
    defaultNumCtx: options.defaultNumCtx ?? defaultWindow,
    numParallel: options.numParallel ?? 1,
    maxQueue: options.maxQueue ?? 512,
    maxLoadedModels: options.maxLoadedModels ?? 3,
    keepAliveSeconds: options.keepAliveSeconds ?? 300,
    profiles,
    origins: options.origins ?? [],
  };
}

/** No timer for nothing to wait; the abort ends a wait at once. */
function pause(milliseconds: number, signal: AbortSignal | null): Promise<void> {
  if (milliseconds <= 0 || signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done, { once: true });
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function stop(server: Server, state: SimulatorState): Promise<void> {
  state.scheduler.stop();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  await state.log.close();
}

function replaceFaults(current: Set<FaultName>, next: readonly FaultName[]): void {
  current.clear();
  for (const fault of next) current.add(fault);
}

/**
 * Composition root, used by every host: data folder, lock, database, door, engine, experiments, simulator. Hosts start it, hand
 * requests in and events out, and stop it; they decide nothing.
 */
import { randomBytes } from 'node:crypto';
import type { CallId, RunId } from '../contract/ids.ts';
import { type Result, ok } from '../contract/denials.ts';
import type { EngineEvent } from '../contract/events.ts';
import type { Settings } from '../contract/settings.ts';
import { never } from '../engine/cancel.ts';
import { createEngine } from '../engine/engine.ts';
import { estimateText } from '../engine/estimate/estimate.ts';
import type { Clock } from '../engine/ports.ts';
import { createAgentParts } from './agent/agent-parts.ts';
import { createChunkedExports } from './csv/chunked-exports.ts';
import { createEstimator } from './estimating/estimator.ts';
import { type RunnerServer, createRunner } from './experiments/runner.ts';
import { createHandlers } from './handlers.ts';
import { priceSetNamed } from './costs/price-sets.ts';
import { createDirectory } from './ledger/directory.ts';
import { redisUrlOf } from './ledger/open-ledger.ts';
import { openSharedStore } from './ledger/shared-store.ts';
import { createStorms } from './ledger/storm.ts';
import { createLedgerService } from './ledger/ledger-service.ts';
import type { Parts, RuntimeOptions } from './parts.ts';
import type { EngineDoor } from './rpc/dispatcher.ts';
import {
  type ServerWatch,
  type Target,
  createServerWatch,
  notUp,
  ollamaTarget,
  simulatorTarget,
} from './server/server-watch.ts';
import { createServerQuestions } from './server/ask-server.ts';
import { createModelLoader } from './server/load-model.ts';
import { createSubjects } from './server/subjects.ts';
import { planLog } from './server-log/places.ts';
import { createServerLog } from './server-log/server-log.ts';
import { createSimulatorHost } from './simulator/host.ts';
import { type Home, openHome } from './storage/home.ts';
import { acquireLock } from './storage/lock.ts';
import { openLedgerStore } from './storage/ledger-store.ts';
import { openStore } from './storage/store.ts';
import type { StoreNotice } from './storage/store-types.ts';
import { openDiagnosticLog } from './telemetry/diagnostic-log.ts';
import { eventDiagnostics } from './telemetry/event-diagnostics.ts';

export interface Runtime extends EngineDoor {
  readonly home: Home;
  readonly notices: readonly StoreNotice[];
  /** The first look at the server has ended. */
  readonly ready: Promise<void>;
  /** Where this process can be reached, for whoever starts a second one. */
  announce(url: string): void;
  /** Cancels what runs, waits until it has settled and is stored, closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

export async function createRuntime(options: RuntimeOptions): Promise<Result<Runtime>> {
  const environment = options.environment ?? process.env;
  const home = openHome({ flag: options.home, environment });
  if (!home.ok) return home;
  const lock = acquireLock(home.value, { pid: process.pid, host: options.host, url: null });
  if (!lock.ok) return lock;
  const clock = systemClock;
  const opened = openStore({ home: home.value, clock });
  if (!opened.ok) {
    lock.value.release();
    return opened;
  }
  const { store } = opened.value;
  const log = openDiagnosticLog({ folder: home.value.logsFolder, clock });
  let settings = store.settings();
  const target = firstTarget(options, settings, environment);
  if (!target.ok) {
    store.close();
    lock.value.release();
    return target;
  }

  const listeners = new Set<(event: EngineEvent) => void>();
  const emit = (event: EngineEvent): void => {
    for (const listener of listeners) listener(event);
  };
  listeners.add(eventDiagnostics(log));
  const notices = [...opened.value.notices];
  const timeScale = (): number => options.simulatorTimeScale ?? settings.simulatorTimeScale;
  const simulator = createSimulatorHost({ timeScale });
  const watch = createServerWatch({
    target: target.value,
    clock,
    emit,
    log: (entry) => log.write({ ...entry, event: entry.what }),
  });
  const serverLog = createServerLog({
    clock,
    environment,
    simulatorLines: simulator.onLogLine,
    onChange: (state) => emit({ type: 'server-log-changed', log: state }),
  });
  const useLog = (): void =>
    serverLog.use(
      planLog({
        setting: options.serverLog ?? settings.serverLog,
        isOwnSimulator: watch.target().kind === 'simulator',
        isOtherSimulator: watch.status().kind === 'simulator',
        host: watch.target().address.hosts[0] ?? '',
        port: watch.target().address.port,
        environment,
      }),
      watch.status().kind === 'simulator',
    );
  listeners.add((event) => {
    if (event.type === 'server-changed' || event.type === 'settings-changed') useLog();
  });
  const subjects = createSubjects({ watch, store, localOnly: () => settings.localOnly });
  const estimator = createEstimator();
  const ids = { call: () => newId('call') as CallId, run: () => newId('run') as RunId };
  const ledgerStore = openLedgerStore({
    file: home.value.databaseFile,
    nowMs: () => Date.now(),
    synchronous: settings.ledgerSync,
  });
  if (!ledgerStore.ok) {
    store.close();
    lock.value.release();
    return ledgerStore;
  }
  const sqlite = ledgerStore.value;
  const openedLedger = await openSharedStore({
    sqlite,
    redisUrl: redisUrlOf(settings.redisUrl, environment.SPILLWAY_REDIS_URL),
    settings: () => settings,
  });
  if (!openedLedger.ok) {
    await sqlite.close();
    store.close();
    lock.value.release();
    return openedLedger;
  }
  const directory = createDirectory({ store });
  notices.push(...directory.notices);
  const budgets = createLedgerService({
    store: openedLedger.value.store,
    storeState: openedLedger.value.state,
    home: home.value,
    directory: directory.current,
    prices: (name) => priceSetNamed(store, name),
    isSimulated: () => watch.status().kind === 'simulator',
    emit,
  });
  // Limits are part of every balance that is shown.
  directory.onChange(() => budgets.changed());
  openedLedger.value.onState(() => budgets.changed());
  listeners.add((event) => {
    if (event.type !== 'settings-changed') return;
    sqlite.setSynchronous(settings.ledgerSync);
    budgets.changed();
  });
  const engine = createEngine({
    clock,
    ids,
    subjects,
    estimator,
    model: {
      // The limit of the settings holds for every call that brings none of its own, cells of sweeps too.
      stream: (request, signal) =>
        watch.door().stream({ ...request, timeoutMs: request.timeoutMs ?? settings.callTimeoutMs }, signal),
      running: (signal) => watch.door().running(signal),
    },
    journal: {
      callClosed(record) {
        subjects.learn(record);
        void watch.refreshRunning();
        const stored = store.callClosed(record);
        return stored.ok ? ok(undefined) : stored;
      },
    },
    log: serverLog,
    budgets: {
      ledger: budgets.ledger,
      payer: () => settings.payer,
      wallClockMs: () => settings.callTimeoutMs,
    },
    events: { emit },
  });
  const interrupted = store.interruptOpenRuns();
  if (interrupted.ok && interrupted.value.length > 0) notices.push(interruptedNotice(interrupted.value.length));
  const experiments = createRunner({
    engine,
    store,
    clock,
    ids,
    emit,
    server: () => runnerServer(watch),
    facts: async (model) => {
      const found = await watch.facts(model, never);
      return found.ok ? found.value : null;
    },
    estimateTokens: (text) => estimateText(text).likely,
  });
  const agentParts = createAgentParts({ engine, store, watch, subjects, clock, home: home.value, emit, timeScale });
  notices.push(...agentParts.notices);
  const exports = createChunkedExports();
  const parts: Parts = {
    load: createModelLoader({ watch, subjects }),
    questions: createServerQuestions({ watch, subjects, estimator, timeoutMs: () => settings.callTimeoutMs }),
    options,
    home: home.value,
    store,
    notices,
    clock,
    engine,
    budgets,
    directory,
    storms: createStorms({ simulator, emit, clock, timeScale }),
    watch,
    subjects,
    serverLog,
    simulator,
    experiments,
    agents: agentParts,
    exports,
    emit,
    settings: () => settings,
    saveSettings(next) {
      const saved = store.saveSettings(next);
      if (saved.ok) {
        settings = saved.value;
        emit({ type: 'settings-changed', settings });
      }
      return saved;
    },
  };
  const handle = createHandlers(parts);
  const ready = begin(parts, target.value);

  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    watch.stop();
    await experiments.stop();
    await parts.storms.stop();
    await agentParts.stop();
    await engine.stop('shutdown');
    await budgets.stop();
    await ready.catch(() => undefined);
    await simulator.stop();
    await serverLog.stop();
    await estimator.stop();
    listeners.clear();
    store.close();
    lock.value.release();
    await log.close();
  };
  return ok({
    home: home.value,
    notices,
    ready,
    handle,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    log: (entry) => log.write(entry),
    announce: (url) => lock.value.update({ pid: process.pid, host: options.host, url }),
    stop: () => (stopping ??= stop()),
  });
}

/** `--simulate` and the saved switch start the simulator; a server that was named by flag beats the saved switch. */
async function begin(parts: Parts, target: Target): Promise<void> {
  for (const notice of await parts.budgets.recover()) {
    parts.notices.push(notice);
    parts.emit({ type: 'notice-raised', ...notice });
  }
  const { options, simulator, watch } = parts;
  if (options.simulate === true || (parts.settings().useSimulator && options.ollamaUrl === undefined)) {
    const url = await simulator.start();
    await watch.point(simulatorTarget(url));
    return;
  }
  await watch.point(target);
}

async function runnerServer(watch: ServerWatch): Promise<Result<RunnerServer>> {
  const status = watch.status().state === 'up' ? watch.status() : await watch.look();
  if (status.state !== 'up') return notUp(status);
  return ok({
    url: status.url,
    version: status.version,
    simulated: status.kind === 'simulator',
    models: status.models.map((model) => model.name),
  });
}

function firstTarget(options: RuntimeOptions, settings: Settings, environment: NodeJS.ProcessEnv): Result<Target> {
  return ollamaTarget({ flag: options.ollamaUrl, setting: settings.ollamaUrl, env: environment.OLLAMA_HOST });
}

function interruptedNotice(runs: number): StoreNotice {
  return {
    level: 'warning',
    text:
      runs === 1
        ? 'A run was cut off when Spillway ended. Its finished cells are there.'
        : `${runs} runs were cut off when Spillway ended. Their finished cells are there.`,
    next: 'Resume it from History.',
  };
}

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  monotonicMs: () => performance.now(),
};

/** Sorts by time of making, which keeps index pages together. */
function newId(kind: string): string {
  return `${kind}_${Date.now().toString(36)}${randomBytes(8).toString('hex')}`;
}

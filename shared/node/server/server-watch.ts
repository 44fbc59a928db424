/**
 * Keeps one true picture of the model server: which address, whether it answers, its models, what is loaded. Looks every two
 * seconds while nobody answers, and every five while one does; whoever changes something asks for a look at once.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import type { ModelFacts, ModelSummary, RunningModel, ServerStatus } from '../../contract/server.ts';
import { never } from '../../engine/cancel.ts';
import type { CancelSignal, Clock } from '../../engine/ports.ts';
import { fullName } from '../../engine/running.ts';
import { type AddressSource, type OllamaAddress, parseOllamaHost, resolveServer } from '../ollama/address.ts';
import { type DoorOptions, type OllamaDoor, createOllamaDoor } from '../ollama/door.ts';
import { look } from '../ollama/look.ts';
import { isSimulator } from '../ollama/simulator-mark.ts';

const DOWN_INTERVAL_MS = 2_000;
const UP_INTERVAL_MS = 5_000;
const FACTS_MAX = 500;

/** Where to look: an Ollama at an address, or the simulator that this process started. */
export interface Target {
  readonly kind: 'ollama' | 'simulator';
  readonly address: OllamaAddress;
  readonly source: ServerStatus['urlSource'];
}

export interface ServerWatch {
  status(): ServerStatus;
  door(): OllamaDoor;
  target(): Target;
  /** Points at another server and looks at once. */
  point(target: Target): Promise<ServerStatus>;
  look(): Promise<ServerStatus>;
  /** Only what is loaded, after a call has ended. */
  refreshRunning(): Promise<void>;
  facts(model: string, signal: CancelSignal): Promise<Result<ModelFacts>>;
  stop(): void;
}

export function createServerWatch(options: {
  readonly target: Target;
  readonly clock: Clock;
  readonly emit: (event: EngineEvent) => void;
  readonly log?: DoorOptions['log'];
}): ServerWatch {
  const { clock, emit } = options;
  let target = options.target;
  let door = openDoor(target);
  let status = lookingAt(target);
  let facts = new Map<string, ModelFacts>();
  /** What the server said of itself, asked once for each address and version. */
  let marked: { readonly of: string; readonly simulator: boolean } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let underWay: { readonly at: Target; readonly looked: Promise<ServerStatus> } | null = null;
  let isStopped = false;

  function openDoor(at: Target): OllamaDoor {
    return createOllamaDoor({ url: at.address.url, clock, ...(options.log === undefined ? {} : { log: options.log }) });
  }

  function publish(next: ServerStatus): void {
    const isNews = next.state === 'down' || shape(next) !== shape(status);
    status = next;
    if (isNews && !isStopped) emit({ type: 'server-changed', status });
  }

  async function kindOf(at: Target, version: string): Promise<Target['kind']> {
    const of = `${at.address.url} ${version}`;
    if (at.kind === 'ollama' && marked?.of !== of) marked = { of, simulator: await isSimulator(at.address, never) };
    return at.kind === 'simulator' || marked?.simulator === true ? 'simulator' : 'ollama';
  }

  async function lookOnce(): Promise<ServerStatus> {
    const at = target;
    const through = door;
    const report = await look(at.address);
    const base = {
      ...lookingAt(at),
      looks: [...report.looks],
      looksCount: status.looksCount + 1,
      lastLookAt: clock.now(),
    };
    // Another server may come back in its place.
    if (report.version === null) marked = null;
    let next: ServerStatus = { ...base, state: 'down', problem: report.problem, ollamaInstalled: ollamaInstalled() };
    if (report.version !== null) {
      const [tags, ps, kind] = await Promise.all([through.tags(never), through.ps(never), kindOf(at, report.version)]);
      next = {
        ...base,
        kind,
        state: 'up',
        version: report.version,
        problem: tags.ok ? null : tags.denial.message,
        models: tags.ok ? [...tags.value] : [],
        running: ps.ok ? [...ps.value] : [],
        ollamaInstalled: true,
      };
    }
    // The person may have pointed elsewhere meanwhile: then this look is about nobody.
    if (at !== target || isStopped) return status;
    if (changedModels(status.models, next.models)) facts = new Map();
    publish(next);
    return status;
  }

  /** One look at a time at one server; a look at the server before is left to itself. */
  function run(): Promise<ServerStatus> {
    if (underWay?.at === target) return underWay.looked;
    const at = target;
    const looked = lookOnce().finally(() => {
      if (underWay?.at !== at) return;
      underWay = null;
      arm();
    });
    underWay = { at, looked };
    return looked;
  }

  function arm(): void {
    if (isStopped) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => void run(), status.state === 'up' ? UP_INTERVAL_MS : DOWN_INTERVAL_MS);
    timer.unref();
  }

  return {
    status: () => status,
    door: () => door,
    target: () => target,
    point(next) {
      target = next;
      door = openDoor(next);
      facts = new Map();
      status = lookingAt(next);
      emit({ type: 'server-changed', status });
      return run();
    },
    look: run,
    async refreshRunning() {
      const at = target;
      const ps = await door.ps(never);
      if (ps.ok && at === target && status.state === 'up') publish({ ...status, running: [...ps.value] });
    },
    async facts(model, signal) {
      const name = fullName(model);
      const known = facts.get(name);
      if (known !== undefined) return ok(known);
      const into = facts;
      const found = await door.show(model, signal);
      if (found.ok) {
        if (into.size >= FACTS_MAX) into.clear();
        into.set(name, found.value);
      }
      return found;
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** The address a person, a setting or the environment names, read once. */
export function ollamaTarget(from: {
  flag?: string | undefined;
  setting?: string;
  env?: string | undefined;
}): Result<Target> {
  const found = resolveServer({ flag: from.flag, setting: from.setting, env: from.env });
  if (!found.ok) return found;
  const source: AddressSource = found.value.source;
  return ok({ kind: 'ollama', address: found.value.address, source });
}

export function simulatorTarget(url: string): Target {
  const address = parseOllamaHost(url);
  if (!address.ok) throw new Error(address.denial.message);
  return { kind: 'simulator', address: address.value, source: 'simulator' };
}

export function notUp(status: ServerStatus): Result<never> {
  return denied('no-server', status.problem ?? `No Ollama at ${status.url}.`, {
    next: 'Start it, or use the simulator.',
  });
}

function lookingAt(target: Target): ServerStatus {
  return {
    state: 'looking',
    kind: target.kind,
    url: target.address.label,
    urlSource: target.source,
    version: null,
    problem: null,
    looks: [],
    looksCount: 0,
    lastLookAt: null,
    models: [],
    running: [],
    ollamaInstalled: null,
  };
}

/** What a screen would draw; the time of the last look alone is no news. */
function shape(status: ServerStatus): string {
  return JSON.stringify({ ...status, looksCount: 0, lastLookAt: null, running: status.running.map(withoutExpiry) });
}

function withoutExpiry(model: RunningModel): RunningModel {
  return { ...model, expiresAt: null };
}

function changedModels(before: readonly ModelSummary[], after: readonly ModelSummary[]): boolean {
  const key = (models: readonly ModelSummary[]): string =>
    models.map((model) => `${model.name} ${model.digest ?? ''}`).join('\n');
  return key(before) !== key(after);
}

/** Whether a program of that name stands on PATH; it is not run. */
function ollamaInstalled(): boolean {
  const names = process.platform === 'win32' ? ['ollama.exe'] : ['ollama'];
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && names.some((name) => isExecutable(join(folder, name))));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

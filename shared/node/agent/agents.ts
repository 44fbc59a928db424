/**
 * Agent runs of a process: starts them on a script or on a server's model, tells screens what happens at a bearable rate, asks a
 * person where a call has to be allowed, keeps runs in the store. Decides nothing about budgets, guards or calls.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentRun,
  type AgentRunId,
  type AgentRunView,
  type AgentTask,
  type Approval,
  type ToolInventory,
} from '../../contract/agents.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { engineModel } from '../../engine/agent/engine-model.ts';
import type { TranscriptEntry } from '../../engine/agent/model.ts';
import { partialText } from '../../engine/agent/prompts.ts';
import { type RestartState, type RunChange, type RunningAgents, startAgentRun } from '../../engine/agent/run.ts';
import type { Engine } from '../../engine/engine.ts';
import { estimateText } from '../../engine/estimate/estimate.ts';
import type { Breakers } from '../../engine/gateway/breaker.ts';
import { wordRefusal } from '../../engine/gateway/refusal.ts';
import { type Tool, withRule } from '../../engine/gateway/tool.ts';
import type { Clock } from '../../engine/ports.ts';
import type { AgentStore, AgentWorld } from './agent-ports.ts';
import { createApprovals } from './approvals.ts';
import { type BlobFolder, createBlobFolder } from './blob-folder.ts';
import { breakersOf, createFrames, createSaver, realTime, virtualTime } from './run-time.ts';

export type { AgentStore, AgentWorld, Scenario, ToolWorld } from './agent-ports.ts';

export interface Agents {
  start(task: AgentTask): Promise<Result<{ readonly runId: AgentRunId }>>;
  /** Goes on with a run that was cut off when a console ended. */
  resume(runId: AgentRunId): Promise<Result<Record<string, never>>>;
  /** Resolves with the run's end; null = no such run is under way. */
  ended(runId: AgentRunId): Promise<AgentRunView> | null;
  cancel(runId: AgentRunId, nodeId: string | null): Result<Record<string, never>>;
  view(runId: AgentRunId): AgentRunView | null;
  list(limit: number): { readonly runs: AgentRun[]; readonly approvals: Approval[] };
  transcript(runId: AgentRunId, nodeId: string): readonly TranscriptEntry[] | null;
  blob(runId: AgentRunId, handle: string, offset: number): ReturnType<BlobFolder['read']>;
  approve(id: string, allow: boolean): Result<Record<string, never>>;
  inventory(task: AgentTask): Promise<Result<{ readonly tools: ToolInventory; readonly problems: readonly string[] }>>;
  remove(runId: AgentRunId): Promise<Result<Record<string, never>>>;
  stop(): Promise<void>;
}

export interface AgentsOptions {
  readonly engine: Pick<Engine, 'open' | 'cancel'>;
  readonly store: AgentStore;
  readonly world: AgentWorld;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly emit: (event: EngineEvent) => void;
  readonly home: { readonly folder: string };
  /** Real milliseconds of watching for one second of a script; 0 = as fast as it goes. */
  pace(): number;
  isSimulated(): boolean;
  /** Refuses a model of the server that cannot be an agent, before anything is sent; else says what it is. */
  checkModel(model: string): Promise<Result<Pick<AgentRun, 'modelDigest' | 'ollamaVersion'> | null>>;
}

const RUNS_MAX = 8;
const RESTART_CHARACTERS_MAX = 8_000_000;
/** Of runs that have ended, in memory and on disk. */
const RUNS_KEPT_MAX = 30;
const BLOB_PAGE_BYTES = 64_000;

interface Open {
  readonly run: RunningAgents;
  readonly blobs: BlobFolder;
  readonly done: Promise<AgentRunView>;
}

export function createAgents(options: AgentsOptions): Agents {
  const { store, world, emit, clock } = options;
  const open = new Map<AgentRunId, Open>();
  /** Their tools are being started. */
  const starting = new Set<AgentRunId>();
  /** Whatever starts processes; a stop waits for it. */
  const underWay = new Set<Promise<unknown>>();
  const tracked = async <Value>(work: Promise<Value>): Promise<Value> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };
  /** Of runs that ended since the start: their outputs are still there. */
  const blobFolders = new Map<AgentRunId, BlobFolder>();
  const transcripts = new Map<AgentRunId, RunningAgents>();
  const approvals = createApprovals(emit);
  let stopping = false;
  dropOldOutputs(options);

  const start = (task: AgentTask): Promise<Result<{ runId: AgentRunId }>> =>
    begin(`agents_${Date.now().toString(36)}${randomBytes(8).toString('hex')}` as AgentRunId, task);

  async function begin(
    runId: AgentRunId,
    task: AgentTask,
    restored?: RestartState,
  ): Promise<Result<{ runId: AgentRunId }>> {
    if (stopping) return closingDown();
    if (open.has(runId) || starting.has(runId)) return denied('busy', 'This run is under way.');
    if (open.size + starting.size >= RUNS_MAX) {
      return denied('busy', `${RUNS_MAX} agent runs are under way.`, { next: 'Wait for one to end, or stop one.' });
    }
    starting.add(runId);
    try {
      return await tracked(launch(runId, task, restored));
    } finally {
      starting.delete(runId);
    }
  }

  async function launch(
    runId: AgentRunId,
    task: AgentTask,
    restored: RestartState | undefined,
  ): Promise<Result<{ runId: AgentRunId }>> {
    const script = /^script:(.+)$/.exec(task.model)?.[1] ?? null;
    const scenario = script === null ? null : world.scenario(script, task);
    if (script !== null && scenario === null) {
      return denied('bad-input', `There is no script ${script.slice(0, 100)}.`, {
        field: 'model',
        next: 'Choose one of the list.',
      });
    }
    const server = scenario === null ? await options.checkModel(task.model) : ok(null);
    if (!server.ok) return server;
    const startMs = restored?.view.run.nowMs ?? 0;
    const time =
      scenario === null ? realTime(startMs) : virtualTime(() => options.pace() * (scenario.paceShare ?? 1), startMs);
    const blobs = createBlobFolder(outputsFolder(options, runId), scenario?.figures?.handleOf);
    const found = await world.tools(task, { sleep: time.sleep, hold: time.hold, blobs });
    // A run that did not begin leaves nothing; one that goes on keeps what it had.
    const leave = (): Promise<void> => (restored === undefined ? blobs.remove() : Promise.resolve());
    if (!found.ok) {
      await leave();
      return found;
    }
    if (stopping) {
      await found.value.close();
      await leave();
      return closingDown();
    }
    for (const text of found.value.problems) emit({ type: 'notice-raised', level: 'warning', text, next: null });
    const tools = found.value.tools.map((tool) => withRule(tool, task.toolRules[tool.spec.name]));
    const frames = createFrames(() => tellRun(runId));
    let started: RunningAgents | null = null;
    let isStored = true;
    const saver = createSaver(() => {
      // Changes come before the run is handed over.
      if (started === null) return;
      const stored = store.saveAgentRun(started.view(), restartOf(started));
      if (!stored.ok && isStored) tellNotStored(stored.denial);
      isStored = stored.ok;
    });
    const figures = scenario?.figures;
    const run = startAgentRun(
      runId,
      task,
      {
        nowMs: time.nowMs,
        after: time.after,
        breakers: breakersOf(task, time, options.breakers),
        blobs: {
          put: (text) => time.hold(blobs.put(text)),
          read: (...about) => time.hold(blobs.read(...about)),
        },
        sha256: (text) => createHash('sha256').update(text).digest('hex'),
        tokensOf: figures?.tokensOf ?? tokensEstimated,
        baseTokens: figures?.baseTokens ?? ((prompt) => estimateText(prompt + toolTexts(tools)).likely),
        wordRefusal: figures?.wordRefusal ?? wordRefusal,
        wordPartial: figures?.wordPartial ?? partialText,
        model: scenario?.model({ sleep: time.sleep }) ?? engineModel(options.engine, task),
        tools,
        approve: (call) => {
          const nanoDollarsWorst = tools.find((tool) => tool.spec.name === call.tool)?.spec.nanoDollarsWorst ?? null;
          const id = approvalId(runId, call.id);
          return time.hold(approvals.ask({ id, runId, nodeId: call.nodeId, call, nanoDollarsWorst }));
        },
        raise: (exhaustion, limitAsked) => {
          const { nodeId } = exhaustion;
          const about = { id: approvalId(runId, 'raise'), runId, nodeId, exhaustion, limitAsked };
          return time.hold(approvals.ask({ ...about, kind: 'raise' }));
        },
        now: clock.now,
        onChange(change) {
          saver.changed();
          tell(runId, change, frames);
        },
      },
      {
        simulated: scenario !== null || options.isSimulated(),
        scripted: scenario !== null,
        ...(server.value === null ? {} : { server: server.value }),
        rootName: scenario?.rootName ?? 'agent',
        ...(scenario === null || scenario.settings === null ? {} : { settings: scenario.settings }),
        ...(restored === undefined ? {} : { restored }),
      },
    );
    started = run;
    saver.changed();
    const done = time.run(run.done).finally(async () => {
      saver.stop();
      frames.stop();
      open.delete(runId);
      approvals.takeBack(runId, null);
      await found.value.close();
      const stored = store.saveAgentRun(run.view(), null);
      tellRun(runId, run);
      if (!stored.ok && isStored) tellNotStored(stored.denial);
    });
    open.set(runId, { run, blobs, done });
    blobFolders.set(runId, blobs);
    forgetOldest();
    transcripts.set(runId, run);
    void done.catch(() => undefined);
    tellRun(runId);
    return ok({ runId });
  }

  function tellNotStored({ message, next }: Denial): void {
    emit({ type: 'notice-raised', level: 'error', text: message, next: next ?? null });
  }

  /** Transcripts and outputs are kept of the last runs only; calls, agents and turns of all are in the store. */
  function forgetOldest(): void {
    for (const [runId, folder] of blobFolders) {
      if (blobFolders.size <= RUNS_KEPT_MAX) return;
      if (open.has(runId)) continue;
      blobFolders.delete(runId);
      transcripts.delete(runId);
      void folder.remove().catch(() => undefined);
    }
  }

  function tell(runId: AgentRunId, change: RunChange, frames: { soon(): void }): void {
    // Stopped, or out of time: what became of the call is known, and nobody has to answer.
    if (change.kind === 'call' && change.call.outcome !== 'waiting-approval')
      approvals.answer(approvalId(runId, change.call.id), false);
    if (change.kind === 'call') emit({ type: 'agent-call-changed', runId, call: change.call });
    else if (change.kind === 'turn') emit({ type: 'agent-turn-changed', runId, turn: change.turn });
    else if (change.kind === 'trip') emit({ type: 'agent-guard-tripped', runId, trip: change.trip });
    else if (change.kind === 'lease') emit({ type: 'agent-lease-changed', runId, lease: change.lease });
    frames.soon();
  }

  function tellRun(runId: AgentRunId, run = open.get(runId)?.run): void {
    if (run === undefined) return;
    const { run: summary, nodes, breakers } = run.view();
    emit({ type: 'agent-run-changed', run: summary, nodes, breakers });
  }

  /** What a run that was cut off can go on from; null for every other one. */
  function restartFrom(runId: AgentRunId): RestartState | null {
    const json = open.has(runId) ? null : store.agentRestart(runId);
    return json === null ? null : (JSON.parse(json) as RestartState);
  }

  /** A run that was cut off has its outputs still. */
  function outputsOf(runId: AgentRunId): BlobFolder | null {
    const known = blobFolders.get(runId);
    if (known !== undefined) return known;
    return restartFrom(runId) === null ? null : createBlobFolder(outputsFolder(options, runId));
  }

  async function inventory(task: AgentTask): ReturnType<Agents['inventory']> {
    const blobs = createBlobFolder(outputsFolder(options, `inventory-${randomBytes(8).toString('hex')}`));
    try {
      const found = await world.tools(task, { sleep: () => Promise.resolve(), hold: (work) => work, blobs });
      if (!found.ok) return found;
      await found.value.close();
      const tools = found.value.tools.map((tool) => inventoryOf(withRule(tool, task.toolRules[tool.spec.name])));
      return ok({ tools, problems: found.value.problems });
    } finally {
      await blobs.remove();
    }
  }

  /** Its own end is seen a moment before all it started is gone. */
  async function settled(runId: AgentRunId): Promise<void> {
    const entry = open.get(runId);
    if (entry !== undefined && entry.run.view().run.state !== 'running') await entry.done.catch(() => undefined);
  }

  async function resume(runId: AgentRunId): Promise<Result<Record<string, never>>> {
    await settled(runId);
    if (open.has(runId)) return denied('busy', 'This run is under way.');
    const view = store.agentRun(runId);
    const restart = restartFrom(runId);
    if (view === null) return denied('not-found', 'There is no such agent run.', { field: 'runId' });
    if (view.run.state !== 'interrupted' || restart === null) {
      return denied('not-allowed', 'Only a run that was cut off can go on.', { next: 'Start it again.' });
    }
    const begun = await begin(runId, view.run.task, restart);
    return begun.ok ? ok({}) : begun;
  }

  return {
    start,
    resume,
    ended: (runId) => open.get(runId)?.done ?? null,
    cancel(runId, nodeId) {
      const entry = open.get(runId);
      if (entry === undefined)
        return denied('not-found', 'This run is not under way.', { next: 'It has ended already.' });
      if (!entry.run.cancel(nodeId))
        return denied('not-found', 'There is no such agent in this run.', { field: 'nodeId' });
      approvals.takeBack(runId, nodeId);
      return ok({});
    },
    view: (runId) => open.get(runId)?.run.view() ?? store.agentRun(runId),
    list(limit) {
      const running = [...open.values()].map(({ run }) => run.view().run).reverse();
      const ids = new Set(running.map(({ id }) => id));
      const stored = store.agentRuns(limit).filter(({ id }) => !ids.has(id));
      return {
        runs: [...running, ...stored].slice(0, limit),
        approvals: approvals.list(),
      };
    },
    transcript: (runId, nodeId) =>
      transcripts.get(runId)?.transcript(nodeId) ??
      restartFrom(runId)?.agents.find((agent) => agent.nodeId === nodeId)?.transcript ??
      null,
    blob: async (runId, handle, offset) => (await outputsOf(runId)?.read(handle, offset, BLOB_PAGE_BYTES)) ?? null,
    approve(id, allow) {
      if (!approvals.answer(id, allow)) return denied('not-found', 'Nobody waits for that answer any more.');
      return ok({});
    },
    inventory: (task) => (stopping ? Promise.resolve(closingDown()) : tracked(inventory(task))),
    async remove(runId) {
      await settled(runId);
      if (open.has(runId)) return denied('busy', 'The run is still going.', { next: 'Stop it, then delete it.' });
      const removed = store.removeAgentRun(runId);
      if (!removed.ok) return removed;
      // The id is one of the store's: it was removed there.
      await rm(outputsFolder(options, runId), { recursive: true, force: true });
      blobFolders.delete(runId);
      transcripts.delete(runId);
      return ok({});
    },
    async stop() {
      stopping = true;
      for (const [runId, { run }] of open) {
        run.cancel(null);
        approvals.takeBack(runId, null);
      }
      await Promise.allSettled([...underWay, ...[...open.values()].map(({ done }) => done)]);
    },
  };
}

const outputsFolder = ({ home }: AgentsOptions, name: string): string => join(home.folder, 'agent-outputs', name);

/** Outputs of earlier starts belong to nobody any more, unless their run can go on. */
function dropOldOutputs({ home, store }: AgentsOptions): void {
  const folder = join(home.folder, 'agent-outputs');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const view = store.agentRun(name as AgentRunId);
    const canGoOn = view?.run.state === 'interrupted' && store.agentRestart(name as AgentRunId) !== null;
    if (!canGoOn) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

const closingDown = (): Result<never> => denied('cancelled', 'The console is closing.');

const approvalId = (runId: AgentRunId, what: string): string => `${runId}/${what}`;

/** null where it would be too large to be written every two seconds: such a run cannot go on after a crash. */
function restartOf(run: RunningAgents): string | null {
  const restart = run.restart();
  // Looked at before it is written: a context of megabytes would hold up everything else, every time it is saved.
  const texts = restart.agents.flatMap(({ transcript }) => transcript);
  if (texts.reduce((sum, { content }) => sum + content.length, 0) > RESTART_CHARACTERS_MAX) return null;
  const json = JSON.stringify(restart);
  return json.length > RESTART_CHARACTERS_MAX ? null : json;
}

/** The pessimistic side where only a size is known. */
function tokensEstimated(text: string, textBytes: number): number {
  return text === '' ? Math.ceil(textBytes / 3) : estimateText(text).likely;
}

const toolTexts = (tools: readonly Tool[]): string =>
  tools.map(({ spec }) => `${spec.name} ${spec.description} ${JSON.stringify(spec.parameters)}`).join('\n');

function inventoryOf({ spec }: Tool): ToolInventory[number] {
  return {
    name: spec.name,
    source: spec.upstream,
    description: spec.description,
    parameters: { ...spec.parameters },
    nanoDollarsWorst: spec.nanoDollarsWorst,
    latencyMsUsual: spec.latencyMsUsual,
    outputBytesUsual: spec.outputBytesUsual,
    sideEffect: spec.sideEffect,
    polls: spec.polls,
    timeoutMs: spec.timeoutMs,
    attemptsMax: spec.attemptsMax,
    callsMax: spec.callsMax,
    approval: spec.approval,
  };
}

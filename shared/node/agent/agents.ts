/**
 * Agent runs of a process: starts them on a script or on a server's model, tells screens what happens at a bearable rate, asks a
 * person where a call has to be allowed, keeps runs in the store. Decides nothing about budgets, guards or calls.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AgentRun,
  type AgentRunId,
  type AgentRunView,
  type AgentTask,
  type Approval,
  type ToolInventory,
} from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { engineModel } from '../../engine/agent/engine-model.ts';
import type { AgentModel, TranscriptEntry } from '../../engine/agent/model.ts';
import { partialText } from '../../engine/agent/prompts.ts';
import {
  type RestartState,
  type RunChange,
  type RunSettings,
  type RunningAgents,
  startAgentRun,
} from '../../engine/agent/run.ts';
import type { Engine } from '../../engine/engine.ts';
import { estimateText } from '../../engine/estimate/estimate.ts';
import type { Breakers } from '../../engine/gateway/breaker.ts';
import { wordRefusal } from '../../engine/gateway/refusal.ts';
import { type Tool, withRule } from '../../engine/gateway/tool.ts';
import type { Clock } from '../../engine/ports.ts';
import { type BlobFolder, createBlobFolder } from './blob-folder.ts';
import { breakersOf, createFrames, realTime, virtualTime } from './run-time.ts';

/** What a script brings with it: its model, and what is known of its run to the token. */
export interface Scenario {
  model(about: { sleep(durationMs: number): Promise<void> }): AgentModel;
  readonly rootName: string;
  /** null = the task's own. */
  readonly settings: RunSettings | null;
  /** Figures of the scenario itself; left out = estimates. */
  readonly figures?: {
    baseTokens(prompt: string): number;
    tokensOf(text: string, textBytes: number): number;
    wordRefusal?: Parameters<typeof startAgentRun>[2]['wordRefusal'];
    wordPartial?: Parameters<typeof startAgentRun>[2]['wordPartial'];
    handleOf?: (text: { readonly head: string }) => string;
  };
}

/** What tools get from the run. */
export interface ToolWorld {
  sleep(durationMs: number): Promise<void>;
  /** Work outside of the run's own time, such as files, sockets and processes: a script's clock stands meanwhile. */
  hold<Value>(work: Promise<Value>): Promise<Value>;
  readonly blobs: BlobFolder;
}

export interface AgentWorld {
  /** The scenario behind `script:NAME` for this task; null = there is none of that name. */
  scenario(name: string, task: AgentTask): Scenario | null;
  /** Tools of the task's sets and MCP servers. `close` ends what was started for them. */
  tools(
    task: AgentTask,
    about: ToolWorld,
  ): Promise<Result<{ readonly tools: readonly Tool[]; readonly problems: readonly string[]; close(): Promise<void> }>>;
}

export interface AgentStore {
  saveAgentRun(view: AgentRunView, restart: string | null): Result<null>;
  agentRestart(id: AgentRunId): string | null;
  agentRun(id: AgentRunId): AgentRunView | null;
  agentRuns(limit: number): AgentRun[];
  removeAgentRun(id: AgentRunId): Result<null>;
  /** Runs that were running when the process ended become `interrupted`. */
  interruptAgentRuns(): Result<number>;
}

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
  /** Refuses a model of the server that cannot be an agent, before anything is sent. */
  checkModel(model: string): Promise<Result<null>>;
}

const RUNS_MAX = 8;
const SAVE_EVERY_MS = 2_000;
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
  /** Of runs that ended since the start: their outputs are still there. */
  const blobFolders = new Map<AgentRunId, BlobFolder>();
  const transcripts = new Map<AgentRunId, RunningAgents>();
  const approvals = new Map<string, { readonly approval: Approval; answer(allow: boolean): void }>();
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
      return await launch(runId, task, restored);
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
    if (scenario === null) {
      const usable = await options.checkModel(task.model);
      if (!usable.ok) return usable;
    }
    const startMs = restored?.view.run.nowMs ?? 0;
    const time = scenario === null ? realTime(startMs) : virtualTime(options.pace, startMs);
    const blobs = createBlobFolder(join(options.home.folder, 'agent-outputs', runId), scenario?.figures?.handleOf);
    const found = await world.tools(task, { sleep: time.sleep, hold: time.hold, blobs });
    if (!found.ok) {
      await blobs.remove();
      return found;
    }
    if (stopping) {
      await found.value.close();
      return closingDown();
    }
    const tools = found.value.tools.map((tool) => withRule(tool, task.toolRules[tool.spec.name]));
    const frames = createFrames(() => tellRun(runId));
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
          const worst = tools.find((tool) => tool.spec.name === call.tool)?.spec.nanoDollarsWorst ?? null;
          const about = { id: `${runId}/${call.id}`, runId, nodeId: call.nodeId, call, nanoDollarsWorst: worst };
          return time.hold(askPerson({ ...noApproval, ...about }));
        },
        raise: (exhaustion, limitAsked) => {
          const about = { id: `${runId}/raise`, runId, kind: 'raise' as const, nodeId: exhaustion.nodeId };
          return time.hold(askPerson({ ...noApproval, ...about, exhaustion, limitAsked }));
        },
        now: clock.now,
        onChange: (change) => tell(runId, change, frames),
      },
      {
        simulated: scenario !== null || options.isSimulated(),
        scripted: scenario !== null,
        rootName: scenario?.rootName ?? 'agent',
        ...(scenario === null || scenario.settings === null ? {} : { settings: scenario.settings }),
        ...(restored === undefined ? {} : { restored }),
      },
    );
    const saving = setInterval(() => void store.saveAgentRun(run.view(), restartOf(run)), SAVE_EVERY_MS);
    saving.unref();
    store.saveAgentRun(run.view(), restartOf(run));
    const done = time.run(run.done).finally(async () => {
      clearInterval(saving);
      frames.stop();
      open.delete(runId);
      dropApprovals(runId);
      await found.value.close();
      const stored = store.saveAgentRun(run.view(), null);
      tellRun(runId, run);
      if (!stored.ok) {
        emit({ type: 'notice-raised', level: 'error', text: stored.denial.message, next: stored.denial.next ?? null });
      }
    });
    open.set(runId, { run, blobs, done });
    blobFolders.set(runId, blobs);
    forgetOldest();
    transcripts.set(runId, run);
    void done.catch(() => undefined);
    tellRun(runId);
    return ok({ runId });
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

  function askPerson(approval: Approval): Promise<boolean> {
    return new Promise((resolve) => {
      approvals.set(approval.id, {
        approval,
        answer(allow) {
          approvals.delete(approval.id);
          emit({ type: 'approval-ended', id: approval.id, allowed: allow });
          resolve(allow);
        },
      });
      emit({ type: 'approval-asked', approval });
    });
  }

  function dropApprovals(runId: AgentRunId): void {
    for (const { approval, answer } of [...approvals.values()]) if (approval.runId === runId) answer(false);
  }

  async function resume(runId: AgentRunId): Promise<Result<Record<string, never>>> {
    const view = open.get(runId)?.run.view() ?? store.agentRun(runId);
    const restart = view === null ? null : store.agentRestart(runId);
    if (view === null) return denied('not-found', 'There is no such agent run.', { field: 'runId' });
    if (view.run.state !== 'interrupted' || restart === null) {
      return denied('not-allowed', 'Only a run that was cut off can go on.', { next: 'Start it again.' });
    }
    const begun = await begin(runId, view.run.task, JSON.parse(restart) as RestartState);
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
      if (nodeId === null) dropApprovals(runId);
      return ok({});
    },
    view: (runId) => open.get(runId)?.run.view() ?? store.agentRun(runId),
    list(limit) {
      const running = [...open.values()].map(({ run }) => run.view().run).reverse();
      const ids = new Set(running.map(({ id }) => id));
      const stored = store.agentRuns(limit).filter(({ id }) => !ids.has(id));
      return {
        runs: [...running, ...stored].slice(0, limit),
        approvals: [...approvals.values()].map(({ approval }) => approval),
      };
    },
    transcript: (runId, nodeId) => transcripts.get(runId)?.transcript(nodeId) ?? null,
    blob: async (runId, handle, offset) =>
      (await blobFolders.get(runId)?.read(handle, offset, BLOB_PAGE_BYTES)) ?? null,
    approve(id, allow) {
      const entry = approvals.get(id);
      if (entry === undefined) return denied('not-found', 'Nobody waits for that answer any more.');
      entry.answer(allow);
      return ok({});
    },
    async inventory(task) {
      const blobs = createBlobFolder(join(options.home.folder, 'agent-outputs', 'inventory'));
      const found = await world.tools(task, { sleep: () => Promise.resolve(), hold: (work) => work, blobs });
      if (!found.ok) return found;
      await found.value.close();
      await blobs.remove();
      const tools = found.value.tools.map((tool) => inventoryOf(withRule(tool, task.toolRules[tool.spec.name])));
      return ok({ tools, problems: found.value.problems });
    },
    async remove(runId) {
      if (open.has(runId)) return denied('busy', 'The run is still going.', { next: 'Stop it, then delete it.' });
      const removed = store.removeAgentRun(runId);
      if (!removed.ok) return removed;
      await blobFolders.get(runId)?.remove();
      blobFolders.delete(runId);
      transcripts.delete(runId);
      return ok({});
    },
    async stop() {
      stopping = true;
      for (const [runId, { run }] of open) {
        run.cancel(null);
        dropApprovals(runId);
      }
      await Promise.allSettled([...open.values()].map(({ done }) => done));
    },
  };
}

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

const noApproval = {
  kind: 'call',
  call: null,
  nanoDollarsWorst: null,
  exhaustion: null,
  limitAsked: null,
} as const;

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

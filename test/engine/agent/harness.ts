/** A run of agents in virtual time: real tree, guards, gateway and loop; the model is a script, the tools are what a test says. */
import { createHash } from 'node:crypto';
import {
  type AgentRunId,
  type AgentRunView,
  type AgentTask,
  type AgentTaskInput,
  type GuardSettings,
  type NodeLimits,
  agentTaskSchema,
} from '../../../shared/contract/agents.ts';
import { createVirtualTime } from '../../../shared/engine/agent-lab/virtual-time.ts';
import type { AgentModel, TurnAnswer, TurnAsk } from '../../../shared/engine/agent/model.ts';
import {
  type AgentRunPorts,
  type RestartState,
  type RunChange,
  type RunSettings,
  type RunningAgents,
  settingsOf,
  startAgentRun,
} from '../../../shared/engine/agent/run.ts';
import { type Breakers, createBreakers } from '../../../shared/engine/gateway/breaker.ts';
import type { Blobs, ToolAsk } from '../../../shared/engine/gateway/gateway.ts';
import { headBytes } from '../../../shared/engine/gateway/output-cap.ts';
import { wordRefusal } from '../../../shared/engine/gateway/refusal.ts';
import {
  TOOL_DEFAULTS,
  type Tool,
  type ToolAnswer,
  type ToolSpec,
  textOf,
} from '../../../shared/engine/gateway/tool.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const OFF: Partial<GuardSettings> = {
  stateHash: null,
  identicalCalls: null,
  cycles: null,
  noProgress: null,
  brokenArguments: null,
};

export const call = (name: string, args: unknown = {}): ToolAsk => ({
  id: '',
  name,
  argumentsText: typeof args === 'string' ? args : JSON.stringify(args),
});

export type Turn = readonly ToolAsk[] | string;

/** decide: tool calls, or a text that ends the agent. The closing turn is answered with `summary`. */
export function script(decide: (ask: TurnAsk) => Turn): AgentModel & { readonly turns: TurnAsk[] } {
  const turns: TurnAsk[] = [];
  return {
    turns,
    async turn(ask): Promise<TurnAnswer> {
      turns.push({ ...ask, transcript: [...ask.transcript] });
      const next = ask.closing ? 'summary' : decide(ask);
      const text = typeof next === 'string' ? next : '';
      return {
        text,
        toolCalls: typeof next === 'string' ? [] : next,
        promptTokens: null,
        outputTokens: 0,
        callId: null,
        failed: null,
      };
    },
  };
}

/** The same calls turn after turn, then an answer. */
export const turnsOf = (...turns: readonly Turn[]): ((ask: TurnAsk) => Turn) => {
  let at = 0;
  return () => {
    at += 1;
    return turns[at - 1] ?? 'done';
  };
};

export const always =
  (...asks: readonly ToolAsk[]): ((ask: TurnAsk) => Turn) =>
  () =>
    asks;

export interface TestTool extends Tool {
  readonly ran: { readonly args: unknown; readonly attempt: number }[];
}

type Answering = string | Partial<ToolAnswer>;

export function tool(
  name: string,
  answer: (about: {
    readonly n: number;
    readonly args: Parameters<Tool['invoke']>[0];
    readonly attempt: number;
    readonly signal: Parameters<Tool['invoke']>[1]['signal'];
  }) => Answering | Promise<Answering>,
  spec: Partial<ToolSpec> = {},
): TestTool {
  const ran: TestTool['ran'] = [];
  return {
    ran,
    spec: {
      ...TOOL_DEFAULTS,
      name,
      description: '',
      parameters: { type: 'object' },
      upstream: name,
      check: () => null,
      ...spec,
    },
    async invoke(args, { attempt, signal }) {
      ran.push({ args, attempt });
      const given = await answer({ n: ran.length, args, attempt, signal });
      return answerOf(given);
    },
  };
}

export function answerOf(given: Answering): ToolAnswer {
  const fields = typeof given === 'string' ? { text: textOf(given) } : given;
  return { text: textOf(''), nanoDollars: null, failed: false, retryable: false, lease: null, ...fields };
}

/** Handles count up; what is stored is kept as text. */
export function memoryBlobs(): Blobs & { readonly stored: Map<string, string> } {
  const stored = new Map<string, string>();
  return {
    stored,
    async put(text) {
      const handle = `blob-${stored.size + 1}`;
      stored.set(handle, text.head);
      return handle;
    },
    async read(handle, offset, bytesMax) {
      const whole = stored.get(handle);
      if (whole === undefined) return null;
      const from = headBytes(whole, offset).length;
      const text = headBytes(whole.slice(from), bytesMax);
      const bytes = Buffer.byteLength(whole);
      const next = offset + Buffer.byteLength(text);
      return { text, nextOffset: next >= bytes ? null : next, bytes };
    },
  };
}

export interface RunOptions {
  readonly task?: Partial<AgentTaskInput>;
  /** Over the defaults; guards are off unless named. */
  readonly limits?: Partial<NodeLimits>;
  readonly guards?: Partial<GuardSettings>;
  readonly settings?: RunSettings;
  readonly model: AgentModel;
  readonly tools?: readonly Tool[];
  readonly ports?: Partial<AgentRunPorts>;
  readonly breakers?: Breakers;
  readonly rootName?: string;
  /** Called with every change while it runs. */
  readonly watch?: (change: RunChange, run: RunningAgents) => void;
  readonly time?: ReturnType<typeof virtualTime>;
  readonly restored?: RestartState;
}

export const virtualTime = (): ReturnType<typeof createVirtualTime> =>
  createVirtualTime({ idle: () => new Promise((resolve) => setImmediate(resolve)) });

export interface Ended {
  readonly view: AgentRunView;
  readonly run: RunningAgents;
  readonly changes: RunChange[];
  readonly task: AgentTask;
  readonly nowMs: number;
}

export async function runAgents(options: RunOptions): Promise<Ended> {
  const task = agentTaskSchema.parse({
    prompt: 'Do it.',
    model: 'script:test',
    guards: { ...OFF, ...options.guards },
    limits: { ...options.limits },
    ...options.task,
  });
  const time = options.time ?? virtualTime();
  const changes: RunChange[] = [];
  let run: RunningAgents | null = null;
  const started = startAgentRun(
    'run' as AgentRunId,
    task,
    {
      nowMs: time.nowMs,
      after: time.after,
      breakers: options.breakers ?? createBreakers(),
      blobs: memoryBlobs(),
      sha256,
      tokensOf: (_text, bytes) => Math.ceil(bytes / 4),
      wordRefusal,
      approve: async () => true,
      raise: async () => false,
      model: options.model,
      tools: options.tools ?? [],
      baseTokens: () => 100,
      wordPartial: ({ why, calls }) => `Stopped: ${why}, ${calls} calls.`,
      now: () => new Date(0).toISOString(),
      onChange: (change) => {
        changes.push(change);
        if (run !== null) options.watch?.(change, run);
      },
      ...options.ports,
    },
    {
      simulated: true,
      scripted: true,
      rootName: options.rootName ?? 'agent',
      settings: options.settings ?? settingsOf(task),
      ...(options.restored === undefined ? {} : { restored: options.restored }),
    },
  );
  run = started;
  const view = await time.run(started.done);
  return { view, run: started, changes, task, nowMs: time.nowMs() };
}

/** The law of a transcript: every call of a model has one result, in order, before the model speaks again. */
export function openCalls(run: RunningAgents, nodeIds: readonly string[]): string[] {
  return nodeIds.flatMap((nodeId) => {
    const faults: string[] = [];
    let waiting: string[] = [];
    for (const entry of run.transcript(nodeId)) {
      if (entry.role === 'tool') {
        if (waiting[0] !== entry.toolCallId) faults.push(`${entry.toolCallId} came where ${waiting[0]} was awaited`);
        waiting = waiting.slice(1);
        continue;
      }
      faults.push(...waiting.map((id) => `${id} has no result`));
      waiting = entry.role === 'assistant' ? entry.toolCalls.map(({ id }) => id) : [];
    }
    return [...faults, ...waiting.map((id) => `${id} has no result`)];
  });
}

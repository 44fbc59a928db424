/** What agent runs of a process need from outside: a world to work in, and a store. */
import type { AgentRun, AgentRunId, AgentRunView, AgentTask } from '../../contract/agents.ts';
import type { Result } from '../../contract/denials.ts';
import type { AgentModel } from '../../engine/agent/model.ts';
import type { AgentRunPorts, RunSettings } from '../../engine/agent/run.ts';
import type { Tool } from '../../engine/gateway/tool.ts';
import type { BlobFolder } from './blob-folder.ts';

/** What a script brings with it: its model, and what is known of its run to the token. */
export interface Scenario {
  model(about: { sleep(durationMs: number): Promise<void> }): AgentModel;
  readonly rootName: string;
  /** null = the task's own. */
  readonly settings: RunSettings | null;
  /** Part of the usual pace, for a script that waits very long; left out = 1. The run's own times stay what they are. */
  readonly paceShare?: number;
  /** Figures of the scenario itself; left out = estimates. */
  readonly figures?: {
    baseTokens(prompt: string): number;
    tokensOf(text: string, textBytes: number): number;
    wordRefusal?: AgentRunPorts['wordRefusal'];
    wordPartial?: AgentRunPorts['wordPartial'];
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

/** A console of its own for tests of agents: real runtime, real database, nobody's Ollama; and how its runs are waited for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type AgentRunId, type AgentRunView, type AgentTaskInput } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { type EngineEvent, eventSchema } from '../../../shared/contract/events.ts';
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  requests,
} from '../../../shared/contract/requests.ts';
import type { RuntimeOptions } from '../../../shared/node/parts.ts';
import { type Runtime, createRuntime } from '../../../shared/node/runtime.ts';
import { startSimulator } from '../../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../../shared/node/simulator/options.ts';

export interface Console {
  readonly runtime: Runtime;
  readonly events: EngineEvent[];
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  refused<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Denial>;
  begin(task: Partial<AgentTaskInput>): Promise<AgentRunId>;
  /** When it runs no more. */
  ended(runId: AgentRunId): Promise<AgentRunView>;
  run(task: Partial<AgentTaskInput>): Promise<AgentRunView>;
}

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function simulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator({ port: 0, timeScale: 0, ...options });
  onTestFinished(() => started.stop());
  return started;
}

export async function startConsole(options: Partial<RuntimeOptions> = {}): Promise<Console> {
  const made = await createRuntime({
    host: 'test',
    home: freshFolder(),
    // Port 1 answers nobody: no test talks to an Ollama that happens to run here.
    environment: { OLLAMA_HOST: '127.0.0.1:1' },
    simulatorTimeScale: 0,
    ...options,
  });
  if (!made.ok) throw new Error(made.denial.message);
  const runtime = made.value;
  onTestFinished(() => runtime.stop());
  const events: EngineEvent[] = [];
  runtime.subscribe((event) => events.push(eventSchema.parse(event)));
  await runtime.ready;
  const handle = (name: RequestName, params: unknown): ReturnType<Runtime['handle']> =>
    runtime.handle(name, requests[name].params.parse(params), {
      screenId: 'test',
      signal: new AbortController().signal,
    });
  const here: Console = {
    runtime,
    events,
    async ask(name, params) {
      const answer = await handle(name, params);
      if (!answer.ok) throw new Error(`${name}: ${answer.denial.message}`);
      return requests[name].result.parse(answer.value) as never;
    },
    async refused(name, params) {
      const answer = await handle(name, params);
      if (answer.ok) throw new Error(`${name} was not refused`);
      return answer.denial;
    },
    async begin(task) {
      return (await here.ask('agent.start', { prompt: 'Do it.', model: 'sim-loop', ...task })).runId;
    },
    ended: (runId) =>
      until(async () => {
        const view = await here.ask('agent.get', { runId });
        return view.run.state === 'running' ? undefined : view;
      }),
    run: async (task) => here.ended(await here.begin(task)),
  };
  return here;
}

/** Looks again until there is something; gives up after a number of looks, not after a time that was hoped for. */
export async function until<Value>(look: () => Value | undefined | Promise<Value | undefined>): Promise<Value> {
  for (let turn = 0; turn < 6_000; turn += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it did not happen');
}

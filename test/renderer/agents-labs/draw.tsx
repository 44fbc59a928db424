/** One part of the Agents page over a fake line, without the page around it. */
import { render } from '@testing-library/react';
import type { RenderResult } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactElement } from 'react';
import { agentTaskSchema } from '../../../shared/contract/agents.ts';
import type { AgentPreset, AgentTask, AgentTaskInput, Bomb } from '../../../shared/contract/agents.ts';
import { ok } from '../../../shared/contract/denials.ts';
import { EngineContext } from '../../../renderer/stores/engine-context.ts';
import { createEngineClient } from '../../../renderer/stores/engine-store.ts';
import type { EngineClient } from '../../../renderer/stores/engine-store.ts';
import { fakeTransport } from '../support/fake-transport.ts';
import type { FakeTransport, Script } from '../support/fake-transport.ts';
import { makeModel, makeServer, makeSnapshot } from '../support/make.ts';
import { jsdomGaps } from '../support/screen.tsx';

export interface Drawn extends RenderResult {
  readonly transport: FakeTransport;
  readonly client: EngineClient;
}

export async function drawPart(part: ReactElement, script: Script = {}): Promise<Drawn> {
  jsdomGaps();
  const models = [
    makeModel('llama3.2:3b', { capabilities: ['completion', 'tools'] }),
    makeModel('gemma3:270m', { capabilities: ['completion'] }),
  ];
  const transport = fakeTransport({
    'snapshot.get': () => ok(makeSnapshot({ server: makeServer({ models }) })),
    'bomb.list': () => ok([]),
    'agent.presets': () => ok([]),
    'agent.budgets': () => ok([]),
    ...script,
  });
  const client = createEngineClient(transport, { soon: (run) => void setTimeout(run, 0), nowMs: () => 0 });
  await new Promise<void>((resolve) => {
    const look = (): void => (client.store.getState().loaded ? resolve() : void setTimeout(look, 1));
    look();
  });
  const drawn = render(
    <EngineContext value={client}>
      <Tooltip.Provider>{part}</Tooltip.Provider>
    </EngineContext>,
  );
  return { ...drawn, transport, client };
}

export function makeBomb(patch: Partial<Omit<Bomb, 'with' | 'without'>> & { counts?: readonly number[] } = {}): Bomb {
  const { counts = [40, 3, 41, 3], ...rest } = patch;
  const [without = 0, governed = 0, second, governedSecond] = counts;
  const side = (runId: string, count: number, secondCount: number | undefined) => ({
    runId: runId as Bomb['with']['runId'],
    count,
    secondCount: secondCount ?? null,
  });
  return {
    id: 'bomb_1',
    shape: 'loop',
    title: 'Loop',
    unit: 'tool calls',
    secondUnit: second === undefined ? null : 'model calls',
    state: 'done',
    ...rest,
    without: side('run_without', without, second),
    with: side('run_with', governed, governedSecond),
  };
}

export const makeTask = (patch: Partial<AgentTaskInput> = {}): AgentTask =>
  agentTaskSchema.parse({ prompt: 'Where is order 41?', model: 'script:carrier', tools: ['carrier'], ...patch });

export const makePreset = (name: string, patch: Partial<AgentTaskInput> = {}): AgentPreset => ({
  name,
  title: `The ${name}`,
  shows: 'What it shows, in one sentence.',
  scripted: true,
  task: makeTask({ name, model: `script:${name}`, ...patch }),
});

import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Bomb, bombSchema } from '../../../shared/contract/agents.ts';
import { denied } from '../../../shared/contract/denials.ts';
import { eventSchema } from '../../../shared/contract/events.ts';
import { bombPlan } from '../../../shared/engine/agent-lab/bomb-shapes.ts';
import { bombHandlers } from '../../../shared/node/agent/bomb-handlers.ts';
import { type Bombs, createBombs } from '../../../shared/node/agent/bombs.ts';
import { type Lab, openLab, withoutIds } from './world-setup.ts';

const golden = <Content>(name: string): Content =>
  JSON.parse(readFileSync(new URL(`../../golden/${name}.json`, import.meta.url), 'utf8')) as Content;
const loops = golden<{ document000: { name: string; modelCalls: number; toolCalls: number }[] }>('loopguard');
const farm =
  golden<Record<'withoutBudgets' | 'withLedger', { toolCalls: number; billedInputTokens: number; agents: number }>>(
    'linkfarm',
  );
const bomb = golden<{
  retryStorm: { attemptsPerLogicalCall: number; singleLayer: number };
  delegationTree: { rows: { fanout: number; depth: number; agents: number; delegations: number }[] };
}>('toolbomb');

const loop = (name: string): [number, number] => {
  const row = loops.document000.find((one) => one.name === name);
  return [row?.toolCalls ?? NaN, row?.modelCalls ?? NaN];
};
const tree = bomb.delegationTree.rows.find(({ fanout, depth }) => fanout === 3 && depth === 3);

/** [without, with], each as [count, second count]. */
const classic: Readonly<Record<Bomb['shape'], readonly [readonly [number, number], readonly [number, number]]>> = {
  loop: [loop('guard off, max 40'), loop('guard on, maxRepeats 2')],
  'fan-out': [
    [500, 0],
    [8, 492],
  ],
  delegation: [
    [tree?.agents ?? NaN, tree?.delegations ?? NaN],
    [3, 2],
  ],
  'retry-storm': [
    [bomb.retryStorm.attemptsPerLogicalCall, 3],
    [bomb.retryStorm.singleLayer, 1],
  ],
  'output-inflation': [
    [10_000_000, 2_500_037],
    [16_000, 12_103],
  ],
  'side-effects': [
    [6, 6],
    [0, 6],
  ],
  'link-farm': [
    [farm.withoutBudgets.toolCalls, farm.withoutBudgets.billedInputTokens],
    [farm.withLedger.toolCalls, farm.withLedger.billedInputTokens],
  ],
};
const shapes = Object.keys(classic) as Bomb['shape'][];

async function openBombs(options: Parameters<typeof openLab>[0] = {}): Promise<Lab & { readonly bombs: Bombs }> {
  const lab = await openLab(options);
  const bombs = createBombs({ agents: lab.agents, emit: (event) => void lab.events.push(event) });
  onTestFinished(() => bombs.stop());
  return { ...lab, bombs };
}

async function explode(bombs: Bombs, shape: Bomb['shape']): Promise<Bomb> {
  const started = await bombs.start(shape);
  if (!started.ok) throw new Error(started.denial.message);
  const ended = await bombs.ended(started.value.id);
  if (ended === null) throw new Error('a bomb that was started ends');
  return ended;
}

describe.each(shapes)('%s', (shape) => {
  test('comes to its known figures, both sides really run', async () => {
    const { bombs, agents, events } = await openBombs();
    const ended = await explode(bombs, shape);
    const [without, withLedger] = classic[shape];
    expect([ended.without.count, ended.without.secondCount]).toEqual(without);
    expect([ended.with.count, ended.with.secondCount]).toEqual(withLedger);
    expect(ended.state).toBe('done');
    expect(bombSchema.parse(ended)).toEqual(ended);
    expect(bombs.list()).toEqual([ended]);
    for (const event of events) if (event.type !== 'notice-raised') eventSchema.parse(event);
    const told = events.flatMap((event) => (event.type === 'bomb-changed' ? [event.bomb] : []));
    expect(told[0]).toMatchObject({ state: 'running', without: { count: 0 }, with: { count: 0 } });
    expect(told.at(-1)).toEqual(ended);
    expect(agents.view(ended.without.runId)?.run.task.governed).toBe(false);
    expect(agents.view(ended.with.runId)?.run.task.governed).toBe(true);
  });

  test('the same again, whatever runs beside it', async () => {
    const { bombs, agents } = await openBombs();
    const [first, second] = await Promise.all([explode(bombs, shape), explode(bombs, shape)]);
    for (const side of ['without', 'with'] as const) {
      const [one, other] = [agents.view(first[side].runId), agents.view(second[side].runId)];
      if (one === null || other === null) throw new Error('both sides have a view');
      expect(withoutIds(other)).toEqual(withoutIds(one));
    }
  });
});

test('what holds each shape is one guard or limit', () => {
  const held = shapes.map((shape) => {
    const { guards } = bombPlan(shape).with;
    return [
      shape,
      Object.entries(guards).flatMap(([name, value]) => (value === null || name === 'ladder' ? [] : name)),
    ];
  });
  expect(Object.fromEntries(held)).toEqual({
    loop: ['stateHash'],
    'fan-out': [],
    delegation: [],
    'retry-storm': ['identicalCalls'],
    'output-inflation': [],
    'side-effects': [],
    'link-farm': [],
  });
});

test('every call above the fan-out has its answer, and nothing of it ran', async () => {
  const { bombs, agents, transcript } = await openBombs();
  const ended = await explode(bombs, 'fan-out');
  const answers = transcript(ended.with.runId, 'agent').filter(({ role }) => role === 'tool');
  expect(answers).toHaveLength(500);
  expect(answers.filter((entry) => entry.role === 'tool' && !entry.ran)).toHaveLength(492);
  expect(agents.view(ended.with.runId)?.calls.filter(({ code }) => code === 'fan-out')).toHaveLength(492);
});

test('leases are shown: released with the ledger, open without', async () => {
  const { bombs, agents } = await openBombs();
  const ended = await explode(bombs, 'side-effects');
  const statesOf = (side: 'with' | 'without'): string[] =>
    agents.view(ended[side].runId)?.leases.map(({ state }) => state) ?? [];
  expect(statesOf('with')).toEqual(Array.from({ length: 6 }, () => 'released'));
  expect(statesOf('without')).toEqual(Array.from({ length: 6 }, () => 'open'));
});

test('it is counted while it goes, at most ten times a second', async () => {
  const { bombs, events } = await openBombs({ pace: 8 });
  const before = performance.now();
  await explode(bombs, 'loop');
  const seconds = (performance.now() - before) / 1_000;
  const told = events.flatMap((event) => (event.type === 'bomb-changed' ? [event.bomb] : []));
  expect(told.length).toBeLessThanOrEqual(2 + 10 * seconds);
  const counts = told.map(({ without }) => without.count);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.some((count) => count > 0 && count < 40)).toBe(true);
});

test('a bomb is stopped on both sides', async () => {
  const { bombs, agents } = await openBombs({ pace: 1_000_000 });
  const started = await bombs.start('link-farm');
  if (!started.ok) throw new Error(started.denial.message);
  const { id } = started.value;
  expect(bombs.cancel(id).ok).toBe(true);
  const ended = await bombs.ended(id);
  expect(ended?.state).toBe('cancelled');
  for (const side of ['without', 'with'] as const)
    expect(agents.view(started.value[side].runId)?.run.state).toBe('cancelled');
  expect(bombs.cancel(id)).toMatchObject({ ok: false, denial: { code: 'not-found' } });
  expect(bombs.cancel('bomb_0')).toMatchObject({ ok: false, denial: { code: 'not-found', field: 'id' } });
  expect(bombs.ended('bomb_0')).toBeNull();
});

test('where the second side may not start, the first is stopped', async () => {
  const lab = await openLab({ pace: 1_000_000 });
  const cancelled: string[] = [];
  let starts = 0;
  const bombs = createBombs({
    emit: () => undefined,
    agents: {
      ...lab.agents,
      start: async (task) =>
        (starts += 1) > 1 ? denied('busy', '8 agent runs are under way.') : lab.agents.start(task),
      cancel: (runId, nodeId) => {
        cancelled.push(runId);
        return lab.agents.cancel(runId, nodeId);
      },
    },
  });
  expect(await bombs.start('loop')).toMatchObject({ ok: false, denial: { code: 'busy' } });
  expect(cancelled).toHaveLength(1);
  expect(bombs.list()).toEqual([]);
});

test('the list keeps the last twenty', async () => {
  const { bombs } = await openBombs();
  const ids: string[] = [];
  for (let at = 0; at < 22; at += 1) ids.push((await explode(bombs, 'retry-storm')).id);
  expect(bombs.list().map(({ id }) => id)).toEqual(ids.slice(2).reverse());
});

test('requests', async () => {
  const { bombs } = await openBombs();
  const handlers = bombHandlers({ bombs });
  const started = await handlers['bomb.start']({ shape: 'retry-storm' });
  if (!started.ok) throw new Error(started.denial.message);
  await bombs.ended(started.value.id);
  expect(handlers['bomb.list']({})).toMatchObject({ ok: true, value: [{ id: started.value.id, state: 'done' }] });
  expect(handlers['bomb.cancel']({ id: started.value.id })).toMatchObject({ ok: false });
});

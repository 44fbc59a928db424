// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { Bomb } from '../../../shared/contract/agents.ts';
import { BombLab } from '../../../renderer/pages/agents/bomb-lab.tsx';
import {
  becameWord,
  expectedMs,
  figuresOf,
  labShapes,
  newestBombs,
  scaleMax,
} from '../../../renderer/pages/agents/bomb-model.ts';
import { runAction } from '../../../renderer/frame/shortcuts.ts';
import { firstBombRuns, useBombRuns } from '../../../renderer/pages/agents/bomb-store.ts';
import type { Script } from '../support/fake-transport.ts';
import { drawPart, makeBomb } from './draw.tsx';

afterEach(cleanup);
beforeEach(() => useBombRuns.setState(firstBombRuns, true));

const opened: string[] = [];
const lab = (script: Script = {}) => {
  opened.length = 0;
  return drawPart(<BombLab onOpenRun={(runId) => opened.push(runId)} />, script);
};
const row = (name: string) => within(screen.getByRole('region', { name }));
const side = (shape: string, name: string): string =>
  row(shape).getByRole('group', { name }).textContent?.replaceAll(/\s+/g, ' ') ?? '';
const press = (shape: string, name: string): void => {
  fireEvent.click(row(shape).getByRole('button', { name }));
};
const asked = (drawn: Awaited<ReturnType<typeof lab>>, name: string): unknown[] =>
  drawn.transport.asked.filter((one) => one.name === name).map(({ params }) => params);

test('before anything runs: seven shapes, what each will do, simulated, and no figure', async () => {
  await lab();
  const lists = within(screen.getByRole('region', { name: 'Tool bombs' }));
  expect(lists.getByText('SIMULATED')).toBeTruthy();
  expect(lists.getAllByRole('button', { name: 'Run' })).toHaveLength(7);
  expect(row('Loop').getByRole('status').textContent).toBe(
    'runs twice · scripted model · virtual time · about 4 s · no tokens of a real model',
  );
  expect(side('Link farm', 'Without the ledger')).toContain('not run yet');
  expect(screen.queryAllByRole('alert')).toHaveLength(0);
});

test('a shape is run where its button is, grows with events, and ends in both figures', async () => {
  const running = makeBomb({ state: 'running', counts: [0, 0, 0, 0] });
  const drawn = await lab({ 'bomb.start': () => ok(running) });
  press('Loop', 'Run');
  await row('Loop').findByRole('button', { name: 'Stop' });
  expect(asked(drawn, 'bomb.start')).toEqual([{ shape: 'loop' }]);
  act(() =>
    drawn.transport.emit({ type: 'bomb-changed', bomb: makeBomb({ state: 'running', counts: [11, 3, 12, 3] }) }),
  );
  await waitFor(() => expect(side('Loop', 'Without the ledger')).toContain('12 / 11'));
  expect(side('Loop', 'With the ledger')).toContain('3 / 3');
  act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: makeBomb() }));
  await waitFor(() => expect(side('Loop', 'Without the ledger')).toContain('41 / 40model / tool calls'));
  expect(row('Loop').getByRole('status').textContent).toBe('41 model and 40 tool calls become 3 and 3.');
  const scales = row('Loop')
    .getAllByRole('img')
    .map((image) => image.getAttribute('aria-label'));
  expect(scales).toEqual(['40 of 50 on the scale of both sides', '3 of 50 on the scale of both sides']);
  await row('Loop').findByRole('button', { name: 'Run again' });
});

test('each side opens its own run', async () => {
  await lab({ 'bomb.list': () => ok([makeBomb()]) });
  await row('Loop').findByText('41 / 40');
  const [first, second] = row('Loop').getAllByRole('button', { name: 'Open the run' });
  for (const button of [first, second]) if (button !== undefined) fireEvent.click(button);
  expect(opened).toEqual(['run_without', 'run_with']);
});

test('stopped where it was started, and said so', async () => {
  const running = makeBomb({ state: 'running', counts: [9, 3] });
  const drawn = await lab({ 'bomb.start': () => ok(running), 'bomb.cancel': () => ok({}) });
  press('Loop', 'Run');
  fireEvent.click(await row('Loop').findByRole('button', { name: 'Stop' }));
  await waitFor(() => expect(asked(drawn, 'bomb.cancel')).toEqual([{ id: 'bomb_1' }]));
  act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: { ...running, state: 'cancelled' } }));
  await row('Loop').findByText(/^Stopped\./);
});

test('a refusal stands at its shape with the next step', async () => {
  await lab({ 'bomb.start': () => denied('busy', 'A bomb runs already.', { next: 'Stop it first.' }) });
  press('Fan-out', 'Run');
  expect((await row('Fan-out').findByRole('alert')).textContent).toBe('A bomb runs already. Stop it first.');
  expect(row('Loop').queryByRole('alert')).toBeNull();
});

describe('run all', () => {
  const started: Bomb[] = [];
  const script: Script = {
    'bomb.start': ({ shape }) => {
      const bomb = makeBomb({ id: `bomb_${shape}`, shape, state: 'running', counts: [1, 1] });
      started.push(bomb);
      return ok(bomb);
    },
    'bomb.cancel': () => ok({}),
  };
  beforeEach(() => {
    started.length = 0;
  });

  test('one after the other, all seven, in their order', async () => {
    const drawn = await lab(script);
    fireEvent.click(screen.getByRole('button', { name: 'Run all' }));
    for (let at = 0; at < labShapes.length; at += 1) {
      await waitFor(() => expect(started).toHaveLength(at + 1));
      const bomb = started[at];
      if (bomb !== undefined)
        act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: { ...bomb, state: 'done' } }));
    }
    await screen.findByRole('button', { name: 'Run all' });
    expect(started.map(({ shape }) => shape)).toEqual(labShapes.map(({ shape }) => shape));
  });

  test('the space bar starts all and stops what runs', async () => {
    const drawn = await lab(script);
    act(() => void runAction('start-or-stop'));
    await row('Loop').findByRole('button', { name: 'Stop' });
    act(() => void runAction('start-or-stop'));
    await waitFor(() => expect(asked(drawn, 'bomb.cancel')).toEqual([{ id: 'bomb_loop' }]));
    const [bomb] = started;
    if (bomb !== undefined)
      act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: { ...bomb, state: 'cancelled' } }));
    await screen.findByRole('button', { name: 'Run all' });
  });

  test('stopping one of them stops the rest', async () => {
    const drawn = await lab(script);
    fireEvent.click(screen.getByRole('button', { name: 'Run all' }));
    await row('Loop').findByRole('button', { name: 'Stop' });
    fireEvent.click(screen.getByRole('button', { name: 'Stop all' }));
    await waitFor(() => expect(asked(drawn, 'bomb.cancel')).toEqual([{ id: 'bomb_loop' }]));
    const [bomb] = started;
    if (bomb !== undefined)
      act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: { ...bomb, state: 'cancelled' } }));
    await screen.findByRole('button', { name: 'Run all' });
    expect(started).toHaveLength(1);
  });
});

test('what events told is not taken back by an older list, and what ran and is gone goes', async () => {
  let answer: ((bombs: Bomb[]) => void) | null = null;
  const drawn = await lab({
    'bomb.list': () => new Promise((resolve) => (answer = (bombs) => resolve(ok(bombs)))),
  });
  act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: makeBomb() }));
  const gone = makeBomb({ id: 'bomb_0', shape: 'fan-out', state: 'running' });
  act(() => drawn.transport.emit({ type: 'bomb-changed', bomb: gone }));
  await row('Fan-out').findByRole('button', { name: 'Stop' });
  act(() => answer?.([makeBomb({ state: 'running', counts: [1, 1, 2, 2] })]));
  await row('Fan-out').findByRole('button', { name: 'Run' });
  expect(side('Loop', 'Without the ledger')).toContain('41 / 40');
});

test('the time that is said follows the pace of the simulator', () => {
  const [loop] = labShapes;
  const ms = (timeScale: number): number => (loop === undefined ? 0 : expectedMs(loop, timeScale));
  expect([ms(0), ms(1), ms(2)]).toEqual([300, 4_000, 7_700]);
});

test('words: of the newest, on a scale in steps, and nothing is said of a bomb that is not done', () => {
  const [older, newer] = [makeBomb({ id: 'a' }), makeBomb({ id: 'b', counts: [7, 7] })];
  expect(newestBombs([older, newer]).get('loop')).toBe(newer);
  expect(scaleMax(makeBomb({ counts: [1_976, 58] }))).toBe(2_000);
  expect(scaleMax(makeBomb({ counts: [0, 0] }))).toBe(1);
  expect(becameWord(makeBomb({ counts: [1_976, 58] }))).toBe('1,976 tool calls become 58, 34 times fewer.');
  expect(becameWord(makeBomb({ counts: [7, 7] }))).toBe('7 tool calls become 7.');
  expect(becameWord(makeBomb({ counts: [7, 0] }))).toBe('7 tool calls become 0.');
  expect(becameWord(makeBomb({ state: 'failed' }))).toBeNull();
  const fanOut = makeBomb({ counts: [500, 8, 0, 492], unit: 'calls that ran', secondUnit: 'calls not run' });
  expect(figuresOf(fanOut, 'with')).toEqual({ figure: '8', unit: 'calls that ran', second: '492 calls not run' });
  const storm = makeBomb({ counts: [27, 1, 3, 1], unit: 'attempts at the server', secondUnit: 'tool calls' });
  expect(figuresOf(storm, 'with')).toEqual({ figure: '1', unit: 'attempt at the server', second: '1 tool call' });
  expect(becameWord(fanOut)).toBe('500 calls that ran become 8, 63 times fewer.');
});

// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ContextCell, ContextRun } from '../../../shared/contract/experiments.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import '../../../renderer/pages/context/context-page.tsx';
import { useDraft } from '../../../renderer/pages/context/draft.ts';
import { useScreen } from '../../../renderer/stores/screen-store.ts';
import type { Snapshot } from '../../../renderer/stores/engine-state.ts';
import type { Script } from '../support/fake-transport.ts';
import { makeCell, makeModel, makeOpenCall, makeRecord, makeRun, makeServer, runId } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';
import { sweepCells } from './make-cells.ts';

beforeEach(() => {
  useDraft.setState({ form: null, filledFrom: null, touched: false, note: null, documents: [] });
});
afterEach(cleanup);

const plan = { cells: 4, calls: 5, tokensMax: 20_000, timeMs: 90_000, warnings: [] };
const cells = sweepCells({ windows: [null, 40_960], sizes: [2_000, 40_000], warmUp: true });

async function draw(
  run: ContextRun | null,
  runCells: readonly ContextCell[],
  script: Script = {},
  snapshot: Partial<Snapshot> = {},
) {
  const app = drawApp(
    { runs: run === null ? [] : [run], ...snapshot },
    {
      'context.plan': () => ok(plan as never),
      'context.start': () => ok({ runId: runId('run-2') }),
      'run.get': () =>
        run === null ? denied('not-found', 'There is no such run.') : ok({ run, cells: [...runCells] }),
      'run.cancel': () => ok({}),
      'run.resume': () => ok({}),
      'cell.get': ({ cellKey }) =>
        ok({ cell: runCells.find((cell) => cell.plan.key === cellKey) ?? makeCell('x'), record: makeRecord() }),
      ...script,
    },
  );
  open(run?.id ?? '');
  await screen.findByLabelText('Experiment', {}, { timeout: 10_000 });
  return app;
}

function open(id: string): void {
  location.hash = id === '' ? 'context' : `context/${id}`;
  act(() => {
    useScreen.setState({ route: { page: 'context', id } });
  });
}

const done = makeRun('run-1', {
  state: 'done',
  cellsTotal: 6,
  cellsDone: 6,
  endedAt: '2026-11-14T19:45:26.000Z',
  tokensEvaluated: 15_000,
});
const asked = (transport: { asked: { name: string; params: unknown }[] }, name: string): unknown[] =>
  transport.asked.filter((request) => request.name === name).map((request) => request.params);

describe('before the first run', () => {
  test('the sentence holds the classic experiment, says what it costs, and one press starts it', async () => {
    const { transport } = await draw(null, []);
    await screen.findByText('No run yet');
    expect(screen.getByRole('button', { name: /^Windows: server default, 32,768/u })).toBeTruthy();
    await screen.findByText(
      /4 cells · 5 calls · up to 20,000 tokens · about 90 s|4 cells · 5 calls · up to 20,000 tokens · about 2 min/u,
    );
    await screen.findByText('gemma3:270m was trained with 32,768 tokens, so that is used in place of 40,960.');
    fireEvent.click(screen.getByRole('button', { name: 'Run it' }));
    await waitFor(() => expect(asked(transport, 'context.start')).toHaveLength(1));
    expect(asked(transport, 'context.start')[0]).toMatchObject({
      axes: {
        models: ['gemma3:270m'],
        numCtx: ['default', 32_768],
        sizes: [2_000, 10_000, 40_000, 120_000],
        needleDepths: [0],
      },
      numPredict: 60,
      temperature: 0,
    });
  });

  test('bad input names the field, is said beside it, and nothing starts', async () => {
    const { transport } = await draw(null, []);
    await screen.findByText('No run yet');
    fireEvent.click(screen.getByRole('button', { name: /^Windows:/u }));
    fireEvent.change(await screen.findByLabelText('Windows, num_ctx'), { target: { value: '4096, wide' } });
    expect(screen.getAllByText(/windows: "wide" is not a number of tokens/u).length).toBeGreaterThan(0);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Run', hidden: true }).disabled).toBe(true);
    expect(asked(transport, 'context.start')).toEqual([]);
  });

  test('a refusal of the engine stands at the value it is about', async () => {
    await draw(null, [], {
      'context.plan': () =>
        denied('bad-input', 'A document of 100 characters is too small for its needles.', {
          field: 'axes.sizes[0]',
          next: 'Give at least 300 characters.',
        }),
    });
    await screen.findByText(/too small for its needles. Give at least 300 characters./u);
    expect(screen.getByRole('button', { name: /^Sizes:/u }).getAttribute('aria-invalid')).toBe('true');
  });

  test('without a server the next step is offered', async () => {
    drawApp(
      { server: makeServer({ state: 'down', models: [], problem: 'connection refused' }) },
      { 'context.plan': () => ok(plan as never) },
    );
    open('');
    await screen.findByText('No Ollama at 127.0.0.1:11434', {}, { timeout: 10_000 });
    expect(screen.getByRole('button', { name: 'Start the simulator' })).toBeTruthy();
  });
});

describe('a run', () => {
  test('map, rows and pane tell the same: what was lost, counted where another window read it whole', async () => {
    await draw(done, cells);
    const map = await screen.findByRole('grid', { name: /4 cells, size down, window across: 1 lost part/u });
    const cut = within(map).getByRole('gridcell', {
      name: '40k at 4,096: halved, 2,051 tokens evaluated, 7,949 lost, needle made up',
    });
    fireEvent.click(cut);
    const pane = await screen.findByRole('complementary', { name: 'Details of 40k at 4,096' });
    await within(pane).findByText('7,949 lost', { selector: '.headline' });
    expect(pane.textContent).toContain(
      'of 10,000 tokens. The first 5 and the last 2,046 stayed, so the needle was never seen.',
    );
    expect(pane.textContent).toContain('40,960 held it all.');
    expect(pane.textContent).toContain('Sent is counted');
    expect(pane.textContent).not.toContain('~');
  });

  test('the arrow keys walk through the map', async () => {
    await draw(done, cells);
    const map = await screen.findByRole('grid', { name: /1 lost part/u });
    const [first] = within(map).getAllByRole('gridcell');
    if (first === undefined) throw new Error('no cell');
    fireEvent.keyDown(first, { key: 'ArrowDown' });
    expect(within(map).getByRole('gridcell', { selected: true }).getAttribute('aria-label')).toMatch(/^40k at 4,096/u);
    fireEvent.keyDown(first, { key: 'ArrowRight' });
    expect(within(map).getByRole('gridcell', { selected: true }).getAttribute('aria-label')).toMatch(/^40k at 40,960/u);
  });

  test('run at the window that holds it: the same text, one window, its cost first', async () => {
    const { transport } = await draw(done, cells);
    fireEvent.click(await screen.findByRole('gridcell', { name: /^40k at 4,096/u }));
    await screen.findByText(/5 calls · up to 20,000 tokens/u, { selector: 'aside *' });
    fireEvent.click(screen.getByRole('button', { name: 'Run at 40,960' }));
    await waitFor(() => expect(asked(transport, 'context.start')).toHaveLength(1));
    expect(asked(transport, 'context.start')[0]).toMatchObject({
      axes: { models: ['gemma3:270m'], numCtx: [40_960], sizes: [40_000], needleDepths: [0], repeats: 1 },
    });
  });

  test('Stop stands where Run stood, says how far it is, and stops the run', async () => {
    const running = makeRun('run-1', { state: 'running', cellsTotal: 6, cellsDone: 2, etaMs: 42_000 });
    const waiting = cells.map((cell, index): ContextCell =>
      index < 2 ? cell : { ...cell, state: 'waiting', call: null },
    );
    const { transport } = await draw(
      running,
      waiting,
      {},
      {
        openCalls: [
          { ...makeOpenCall('c'), runId: runId('run-1'), cellKey: waiting[2]?.plan.key ?? null, phase: 'evaluating' },
        ],
      },
    );
    await screen.findByText(/40k at default: reading the prompt · 2 of 6 calls · about 42 s left/u);
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('2');
    expect(screen.queryByRole('button', { name: /^Run/u })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    await waitFor(() => expect(asked(transport, 'run.cancel')).toEqual([{ runId: 'run-1' }]));
  });

  test('a cell that ends while the page looks fills in', async () => {
    const running = makeRun('run-1', { state: 'running', cellsTotal: 6 });
    const waiting = cells.map((cell): ContextCell => ({ ...cell, state: 'waiting', call: null }));
    const { transport } = await draw(running, waiting);
    const map = await screen.findByRole('grid', { name: /0 lost part/u });
    expect(map.textContent).not.toContain('2,051');
    act(() => {
      for (const cell of cells) transport.emit({ type: 'cell-changed', runId: runId('run-1'), cell });
    });
    await waitFor(() => expect(map.textContent).toContain('2,051'));
  });

  test('an interrupted run offers to go on with what has no result', async () => {
    const stopped = makeRun('run-1', { state: 'interrupted', cellsTotal: 6, cellsDone: 2 });
    const { transport } = await draw(
      stopped,
      cells.map((cell, index): ContextCell => (index < 2 ? cell : { ...cell, state: 'waiting', call: null })),
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Resume 4' }));
    await waitFor(() => expect(asked(transport, 'run.resume')).toEqual([{ runId: 'run-1' }]));
  });

  test('when all calls failed the page says why', async () => {
    const failed = cells.map((cell): ContextCell => ({
      ...cell,
      state: 'failed',
      call: cell.call === null ? null : { ...cell.call, promptEvalCount: null, error: 'model "x" not found' },
    }));
    await draw(makeRun('run-1', { state: 'done', cellsTotal: 6, cellsFailed: 6 }), failed);
    await screen.findByText('All 6 calls failed: model "x" not found');
  });

  test('a run that is not there says so', async () => {
    drawApp({}, { 'run.get': () => denied('not-found', 'There is no such run.', { next: 'Look in History.' }) });
    open('gone');
    await screen.findByText('There is no such run.', {}, { timeout: 10_000 });
  });

  test('presenter mode is one chart and one sentence', async () => {
    await draw(done, cells);
    await screen.findByRole('grid', { name: /lost part/u });
    act(() => {
      useScreen.setState({ presenter: true });
    });
    await screen.findByText(
      /Of 10,000 tokens the model read 2,051: 7,949 were lost at a window of 4,096, and the status was 200./u,
    );
    expect(screen.queryByRole('grid')).toBeNull();
    expect(screen.getByRole('figure', { name: /at 4,096 the count falls to 2,051/u })).toBeTruthy();
  });
});

describe('hostile text is text', () => {
  const hostile = [
    '<img src=x onerror="document.title=1">',
    '<script>alert(1)</script>',
    '\u202egnp.exe \u0000 \u001b[31m',
    'x'.repeat(3_000),
  ];
  test.each(hostile)('%j as model, answer and error', async (text) => {
    vi.stubGlobal('fetch', () => {
      throw new Error('nothing is fetched for a text');
    });
    const name = text.trim().slice(0, 480);
    const bad = sweepCells({ models: [name, 'other'], windows: [null], sizes: [2_000, 40_000] }).map(
      (cell, index): ContextCell => ({
        ...cell,
        call:
          cell.call === null
            ? null
            : { ...cell.call, answerHead: text.slice(0, 200), error: index === 1 ? text : null },
      }),
    );
    const run = makeRun('run-1', {
      state: 'done',
      name: name.slice(0, 200),
      cellsTotal: 4,
      cellsDone: 4,
      error: text,
      warnings: [text],
    });
    const { container } = await draw(run, bad, {}, { server: makeServer({ models: [makeModel(name)] }) });
    fireEvent.click((await screen.findAllByRole('gridcell', { name: /^40k/u }))[0] ?? container);
    await screen.findByRole('complementary', { name: /^Details/u });
    expect(document.querySelectorAll('img,script,iframe,object,embed,link,main a')).toHaveLength(0);
    expect(document.title).not.toBe('1');
    expect(container.textContent).toContain(text.slice(0, 150));
  });
});

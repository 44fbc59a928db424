// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import { denied, ok } from '../../../shared/contract/denials.ts';
import '../../../renderer/pages/reasoning/reasoning-page.tsx';
import { draft } from '../../../renderer/pages/reasoning/draft.ts';
import { useDraft as useLiveDraft } from '../../../renderer/pages/live/draft-store.ts';
import { useScreen } from '../../../renderer/stores/screen-store.ts';
import type { Snapshot } from '../../../renderer/stores/engine-state.ts';
import type { Script } from '../support/fake-transport.ts';
import { callId, makeModel, makeOpenCall, makeRecord, makeServer, runId } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';
import { classicCells, makeCall, makeLaneCell, makeReading, makeReasoningRun, makeSplit } from './make-lanes.ts';

beforeEach(() => {
  draft.reset();
});
afterEach(cleanup);

const plan = { cells: 3, calls: 4, tokensMax: 10_484, timeMs: 90_000, warnings: [] };
const thinker = makeServer({ models: [makeModel('qwen3.5:9b', { capabilities: ['completion', 'thinking'] })] });

async function draw(
  run: ReasoningRun | null,
  cells: readonly ReasoningCell[],
  script: Script = {},
  snapshot: Partial<Snapshot> = {},
) {
  const app = drawApp(
    { runs: run === null ? [] : [run], server: thinker, ...snapshot },
    {
      'reasoning.plan': () => ok(plan as never),
      'reasoning.start': () => ok({ runId: runId('run-2') }),
      'reasoning.preset': ({ model }) =>
        ok({
          experiment: {
            ...makeReasoningRun('x').experiment,
            axes: { ...makeReasoningRun('x').experiment.axes, models: [model] },
          },
          warnings: [],
        }),
      'reasoning.summary': ({ runId: id }) => ok({ runId: id, lanes: [] }),
      'run.get': () => (run === null ? denied('not-found', 'There is no such run.') : ok({ run, cells: [...cells] })),
      'run.cancel': () => ok({}),
      'run.resume': () => ok({}),
      'cell.get': ({ cellKey }) =>
        ok({
          cell: cells.find((cell) => cell.plan.key === cellKey) ?? makeLaneCell('x'),
          record: makeRecord({ reasoning: null }),
        }),
      ...script,
    },
  );
  location.hash = run === null ? 'reasoning' : `reasoning/${run.id}`;
  act(() => {
    useScreen.setState({ route: { page: 'reasoning', id: run?.id ?? '' } });
  });
  await screen.findByRole('main', { name: 'Reasoning' });
  return app;
}

const asked = (app: { transport: { asked: { name: string; params: unknown }[] } }, name: string): unknown[] =>
  app.transport.asked.filter((one) => one.name === name).map(({ params }) => params);

describe('before a run', () => {
  test('the ready experiment is a sentence with its cost, and one press starts it', async () => {
    const app = await draw(null, []);
    await screen.findByText('off / 2,000, on / 8,000, on / 256');
    await screen.findByText(/4 calls · up to 10,484 tokens · about 90 s|4 calls · up to 10,484 tokens · about 2 min/u);
    const run = await screen.findByRole('button', { name: 'Run' });
    await waitFor(() => expect((run as HTMLButtonElement).disabled).toBe(false));
    fireEvent.click(run);
    await waitFor(() => expect(asked(app, 'reasoning.start')).toHaveLength(1));
    expect(asked(app, 'reasoning.start')[0]).toMatchObject({
      kind: 'reasoning',
      axes: { models: ['qwen3.5:9b'], repeats: 1 },
      numCtx: 16_384,
    });
  });

  test('a variant that cannot run says why in its row, and on is not offered for a model that cannot think', async () => {
    const left = [
      { model: 'gemma3:270m', variant: 'on/8000', reason: 'gemma3:270m cannot think, so think on would be refused.' },
    ];
    await draw(
      null,
      [],
      { 'reasoning.plan': () => ok({ ...plan, leftOut: left } as never) },
      { server: makeServer({ models: [makeModel('gemma3:270m', { capabilities: ['completion'] })] }) },
    );
    fireEvent.click(await screen.findByRole('button', { name: /^Variants/u }));
    const dialog = await screen.findByRole('dialog', { name: 'Variants' });
    await within(dialog).findByText('Not run: gemma3:270m cannot think, so think on would be refused.');
    const options = within(within(dialog).getByLabelText('think of variant 1')).getAllByRole('option');
    expect(
      options.filter((option) => !(option as HTMLOptionElement).disabled).map((option) => option.textContent),
    ).toEqual(['default', 'off']);
    within(dialog).getByText(/gemma3:270m cannot think: on and the levels would be refused/u);
  });

  test('a cap that cannot be read is said, and nothing starts', async () => {
    const app = await draw(null, []);
    fireEvent.click(await screen.findByRole('button', { name: /^Variants/u }));
    fireEvent.change(await screen.findByLabelText('num_predict of variant 1'), { target: { value: 'lots' } });
    expect((await screen.findAllByRole('alert'))[0]?.textContent).toContain('"lots" is not a number of tokens');
    fireEvent.keyDown(document.body, { key: ' ' });
    expect(asked(app, 'reasoning.start')).toEqual([]);
  });

  test('the search for the smallest cap is switched on in the sentence, and goes out with it', async () => {
    const app = await draw(null, []);
    fireEvent.click(await screen.findByRole('button', { name: /^Cap search: no cap search/u }));
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Find the smallest cap that answers' }));
    fireEvent.change(await screen.findByLabelText('to, tokens'), { target: { value: '4k' } });
    await screen.findByRole('button', { name: /^Cap search: smallest cap, think on, 16 to 4k/u, hidden: true });
    await waitFor(() =>
      expect(asked(app, 'reasoning.plan').at(-1)).toMatchObject({
        findCap: { think: true, capMin: 16, capMax: 4_000, inARow: 3 },
      }),
    );
  });

  test('no server: the page says so with ways on', async () => {
    await draw(null, [], {}, { server: makeServer({ state: 'down', models: [], problem: 'Nothing answers.' }) });
    await screen.findByText('No Ollama at 127.0.0.1:11434');
    screen.getByRole('button', { name: 'Start the simulator' });
  });
});

describe('a run', () => {
  test('that is done: lanes with flags, how many answered, a row each, SIMULATED', async () => {
    await draw(makeReasoningRun('run-1'), classicCells());
    await screen.findByText('0 of 3');
    const figure = screen.getByRole('figure');
    expect(figure.getAttribute('aria-label')).toContain('on / 8,000: 8,000 tokens, 216.8 s, no answer');
    within(figure).getByText('8,000 tokens, 216.8 s, no answer');
    const rows = within(screen.getByRole('grid', { name: 'Rows of this run' }))
      .getAllByRole('row')
      .slice(1);
    expect(
      rows.map((row) =>
        within(row)
          .getAllByRole('gridcell')
          .slice(0, 10)
          .map((cell) => cell.textContent),
      ),
    ).toEqual([
      [
        'off / 2,000',
        'starved',
        'cap',
        'in the answer, tagged',
        'not obeyed',
        '~2,000',
        '0',
        'estimated ±2 %',
        '2,000',
        '54.2 s',
      ],
      ['on / 8,000', 'starved', 'cap', 'own field', 'not asked', '8,000', '0', 'counted', '8,000', '216.8 s'],
      ['on / 256', 'starved', 'cap', 'own field', 'not asked', '256', '0', 'counted', '256', '6.9 s'],
    ]);
    expect(screen.getAllByText('SIMULATED').length).toBeGreaterThan(0);
  });

  test('a dot opens the run it stands for; the next step says its cost and starts it', async () => {
    const app = await draw(makeReasoningRun('run-1', { cellsTotal: 9, cellsDone: 9 }), classicCells(3));
    const lane = await screen.findByRole('region', { name: 'on / 8,000' });
    fireEvent.click(within(lane).getByRole('button', { name: 'run 2: no answer' }));
    const pane = await screen.findByRole('complementary', { name: /^Details of on \/ 8,000/u });
    within(pane).getByText('run 2 of 3');
    await within(pane).findByText('There is text, and none of it is an answer. Thinking came in its own field.');
    await within(pane).findByText(/^8 calls · up to 10,484 tokens/u);
    fireEvent.click(within(pane).getByRole('button', { name: 'Try in two steps' }));
    await waitFor(() => expect(asked(app, 'reasoning.start')).toHaveLength(1));
    expect(asked(app, 'reasoning.start')[0]).toMatchObject({
      axes: {
        variants: [{ think: true, numPredict: 512, thinkingCap: { tokensMax: 256, then: 'ask-again' } }],
        repeats: 1,
      },
    });
  });

  test('a probable answer is an offer: one press puts it into Live, nothing is sent', async () => {
    const reading = makeReading({
      cause: 'stop',
      endedBy: 'stop',
      probableAnswer: 'Yes, it is prime.',
      split: makeSplit(6, 0),
    });
    const cell = makeLaneCell('a', {}, makeCall({ reasoning: reading }));
    const app = await draw(makeReasoningRun('run-1', { cellsTotal: 1, cellsDone: 1 }), [cell]);
    fireEvent.click(await screen.findByRole('button', { name: 'run 1: no answer' }));
    const offer = await screen.findByRole('region', { name: 'Probable answer' });
    within(offer).getByText('Yes, it is prime.');
    expect(useLiveDraft.getState().turns).toEqual([]);
    fireEvent.click(within(offer).getByRole('button', { name: 'Use in Live' }));
    expect(useLiveDraft.getState().turns.at(-1)).toEqual({ role: 'assistant', content: 'Yes, it is prime.' });
    expect(location.hash).toBe('#live');
    expect(asked(app, 'call.start')).toEqual([]);
  });

  test('under way: the lane grows, stays when the call ends, and Stop stops it', async () => {
    const [first, ...rest] = classicCells();
    if (first === undefined) throw new Error('no cell');
    const running = { ...first, state: 'running' as const, call: null };
    const waiting = rest.map((cell) => ({ ...cell, state: 'waiting' as const, call: null }));
    const run = makeReasoningRun('run-1', { state: 'running', endedAt: null, cellsDone: 0 });
    const app = await draw(run, [running, ...waiting]);
    await screen.findByText('running', { selector: 'section *' });
    act(() => {
      app.transport.emit({
        type: 'call-opened',
        call: makeOpenCall('c', { runId: run.id, cellKey: first.plan.key, phase: 'streaming' }),
      });
      for (const [atMs, chunks] of [
        [1_000, 40],
        [2_000, 80],
      ] as const)
        app.transport.emit({
          type: 'call-delta',
          callId: callId('c'),
          thinking: '',
          answer: chunks === 40 ? '<think>Okay' : ' more',
          thinkingChunks: 0,
          answerChunks: chunks,
          atMs: atMs as never,
        });
    });
    await screen.findByText('80 tokens, 40.0/s');
    await screen.findByText('thinking 100 %, no answer so far');
    await screen.findByText('at this pace the cap is reached in 48 s');
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    await waitFor(() => expect(asked(app, 'run.cancel')).toEqual([{ runId: 'run-1' }]));
    act(() => {
      app.transport.emit({
        type: 'call-closed',
        call: { ...makeCall(), id: callId('c'), runId: run.id, cellKey: first.plan.key },
      });
      app.transport.emit({ type: 'cell-changed', runId: run.id, cell: first });
    });
    await screen.findByText('2,000 tokens, 54.2 s, no answer');
    // What streamed comes back a drawing later than the figures of the end.
    await waitFor(() =>
      expect(screen.getByLabelText('Texts of off / 2,000').textContent).toContain('<think>Okay more'),
    );
  });

  test('what a cap search came to is said in a sentence', async () => {
    const run = makeReasoningRun('run-1');
    const searched = {
      ...run,
      experiment: {
        ...run.experiment,
        findCap: { think: true, capMin: 16, capMax: 8_000, inARow: 3, within: 16, runsMax: 60 },
      },
    };
    const cap = {
      model: 'm',
      think: true,
      state: 'found',
      cap: 1_024,
      notEnough: 1_008,
      runsMade: 21,
      sentence: 'think on: 1,024 answered 3 times in a row.',
    };
    await draw(searched as never, classicCells(), {
      'reasoning.summary': ({ runId: id }) => ok({ runId: id, lanes: [], caps: [cap] } as never),
    });
    await screen.findByText('think on: 1,024 answered 3 times in a row.');
  });

  test('an interrupted run offers to go on with what has no result', async () => {
    const [first, ...rest] = classicCells();
    if (first === undefined) throw new Error('no cell');
    const waiting = rest.map((cell) => ({ ...cell, state: 'waiting' as const, call: null }));
    const app = await draw(makeReasoningRun('run-1', { state: 'interrupted', cellsDone: 1 }), [first, ...waiting]);
    fireEvent.click(await screen.findByRole('button', { name: 'Resume 2' }));
    await waitFor(() => expect(asked(app, 'run.resume')).toEqual([{ runId: 'run-1' }]));
  });

  test('presenter mode is one chart and one sentence', async () => {
    await draw(makeReasoningRun('run-1'), classicCells());
    await screen.findByRole('grid');
    act(() => {
      useScreen.setState({ presenter: true });
    });
    await screen.findByText(/8,000 tokens in 216.8 s, 100 % of them thinking, and no answer. The status was 200./u);
    expect(screen.queryByRole('grid')).toBeNull();
    screen.getByRole('figure');
  });

  test('two hundred lanes: the first are drawn, the table has all of them', async () => {
    const cells = Array.from({ length: 200 }, (_, index) =>
      makeLaneCell(`c${index}`, { model: `model ${index % 50}`, variant: `on/${1_000 + index}`, index }, makeCall()),
    );
    await draw(makeReasoningRun('run-1', { cellsTotal: 200, cellsDone: 200 }), cells);
    await screen.findByText('24 of 200 lanes are drawn; the table has all of them');
    expect(screen.getByRole('grid').getAttribute('aria-rowcount')).toBe('201');
  });
});

test.each([
  '<img src=x onerror="document.title=1">',
  '<script>alert(1)</script>',
  '\u202egnp.exe \u001b[31m',
  'x'.repeat(3_000),
])('hostile text stays text: %j', async (text) => {
  vi.stubGlobal('fetch', () => {
    throw new Error('nothing is fetched for a text');
  });
  const call = makeCall({
    answerHead: text.slice(0, 200),
    error: text,
    reasoning: makeReading({
      evidence: [text],
      next: text,
      probableAnswer: text.slice(0, 2_000),
      strayMarkers: [text],
    }),
  });
  const cells = ['one', 'two'].map((key, index) =>
    makeLaneCell(key, { model: `${text.slice(0, 400)} ${key}`, variant: text.slice(0, 60), index }, call),
  );
  const { container } = await draw(
    makeReasoningRun('run-1', { name: text.slice(0, 200), cellsTotal: 2, cellsDone: 2, error: text, warnings: [text] }),
    cells,
  );
  fireEvent.click((await screen.findAllByRole('button', { name: 'run 1: no answer' }))[0] ?? container);
  await screen.findByRole('complementary', { name: /^Details/u });
  expect(document.querySelectorAll('img,script,iframe,object,embed,link,main a')).toHaveLength(0);
  expect(document.title).not.toBe('1');
  expect(container.textContent).toContain(text.slice(0, 150));
});

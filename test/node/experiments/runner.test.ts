import { describe, expect, test } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { eventSchema } from '../../../shared/contract/events.ts';
import type { DocumentId, RunId } from '../../../shared/contract/ids.ts';
import { UNREACHABLE_MAX } from '../../../shared/node/experiments/runner.ts';
import { bench, down, experiment, must } from './bench.ts';

const states = (events: readonly EngineEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'cell-changed' ? [event.cell.state] : []));
const runStates = (events: readonly EngineEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'run-opened' || event.type === 'run-changed' ? [event.run.state] : []));
const unreachable = {
  reply: { status: null, ending: 'unreachable', error: 'connection refused', done: null, promptEvalCount: null },
} as never;

describe('a run that goes well', () => {
  test('calls every cell once, in order, stores each, tells each', async () => {
    const { runner, store, events, asked } = bench();
    const { runId } = must(await runner.start(experiment()));
    expect(runner.running).toBe(runId);
    await runner.idle();
    expect(runner.running).toBeNull();
    const cells = store.cells(runId);
    expect(asked.map((one) => one.cellKey)).toEqual(cells.map((cell) => cell.plan.key));
    expect(cells.map((cell) => [cell.state, cell.documentCharacters, cell.call?.model])).toEqual([
      ['done', 500, 'm'],
      ['done', 500, 'm'],
      ['done', 1_000, 'm'],
      ['done', 2_000, 'm'],
      ['done', 500, 'm'],
      ['done', 500, 'm'],
      ['done', 1_000, 'm'],
      ['done', 2_000, 'm'],
    ]);
    expect(store.run(runId)).toMatchObject({
      state: 'done',
      cellsTotal: 8,
      cellsDone: 8,
      cellsFailed: 0,
      endedAt: '2026-11-14T09:30:00.000Z',
      simulated: false,
      name: 'm, 3 sizes, 2 windows',
    });
    expect(states(events)).toEqual(Array.from({ length: 8 }, () => ['running', 'done']).flat());
    expect(runStates(events)).toEqual([...Array.from({ length: 9 }, () => 'running'), 'done']);
    for (const event of events) expect(eventSchema.safeParse(event).error?.issues).toBeUndefined();
  });

  test('asks with the settings of the experiment; a warm-up asks for little', async () => {
    const { runner, asked } = bench();
    must(
      await runner.start(
        experiment(
          { sizes: [2_000], numCtx: [8_192], policies: ['refuse'], repeats: 2 },
          { seed: 30, temperature: 0.5, think: false },
        ),
      ),
    );
    await runner.idle();
    expect(
      asked.map(({ request: { numCtx, numPredict, policy, seed, temperature, think } }) => ({
        numCtx,
        numPredict,
        policy,
        seed,
        temperature,
        think,
      })),
    ).toEqual([
      { numCtx: 8_192, numPredict: 8, policy: 'refuse', seed: 30, temperature: 0.5, think: false },
      { numCtx: 8_192, numPredict: 60, policy: 'refuse', seed: 30, temperature: 0.5, think: false },
      { numCtx: 8_192, numPredict: 60, policy: 'refuse', seed: 31, temperature: 0.5, think: false },
    ]);
    expect(asked[1]?.request.messages[0]?.content).toMatch(/^The launch code is [A-Z]+-\d{4}\.\n/);
  });

  test('knows the time left after the first measured call, and the plan has it for the next run', async () => {
    const { runner, events } = bench();
    expect(must(await runner.plan(experiment())).timeMs).toBeNull();
    must(await runner.start(experiment()));
    await runner.idle();
    const left = events.flatMap((event) => (event.type === 'run-changed' ? [event.run.etaMs] : []));
    expect(left[0]).toBeGreaterThan(0);
    expect(left.at(-2)).toBe(0);
    expect(must(await runner.plan(experiment())).timeMs).toBeGreaterThan(0);
  });

  test('takes the stored text of the person', async () => {
    const { runner, store, asked } = bench();
    const { documentId } = must(
      store.putDocument({ name: 'log.txt', text: 'A grey gull sat on the pier. '.repeat(200) }),
    );
    must(await runner.start(experiment({ sizes: [1_000] }, { document: { kind: 'own', documentId }, warmUp: false })));
    await runner.idle();
    expect(asked[0]?.request.messages[0]?.content).toContain('A grey gull sat on the pier.');
  });
});

describe('what is refused before anything runs', () => {
  test('a second run, a missing document, a server that is down, a plan too large; none of them leaves a run behind', async () => {
    const made = bench(() => 'hang');
    must(await made.runner.start(experiment()));
    expect(await made.runner.start(experiment())).toMatchObject({ ok: false, denial: { code: 'busy' } });
    await made.runner.stop();
    const before = made.store.runs().length;
    expect(
      await made.runner.start(experiment({}, { document: { kind: 'own', documentId: 'gone' as DocumentId } })),
    ).toMatchObject({ ok: false, denial: { code: 'not-found', field: 'document.documentId' } });
    expect(
      await made.runner.start(
        experiment({
          repeats: 100,
          sizes: Array.from({ length: 100 }, (_, index) => 1_000 + index),
          needleDepths: [0, 1, 2],
        }),
      ),
    ).toMatchObject({ ok: false, denial: { code: 'bad-input', field: 'axes' } });
    made.server = down;
    expect(await made.runner.start(experiment())).toEqual(down);
    expect(made.store.runs()).toHaveLength(before);
    expect(made.runner.running).toBeNull();
  });

  test('two starts at once: one runs', async () => {
    const { runner } = bench(() => 'hang');
    const both = await Promise.all([runner.start(experiment()), runner.start(experiment())]);
    expect(both.map((one) => one.ok).sort()).toEqual([false, true]);
    await runner.stop();
  });
});

describe('cancel and resume', () => {
  test('a cancel aborts the call under way; resume runs the rest and nothing twice', async () => {
    let hangAt: number | null = 3;
    const made = bench((_, call) => (call === hangAt ? 'hang' : {}));
    const { runId } = must(await made.runner.start(experiment()));
    await until(() => made.asked.length === 4);
    must(made.runner.cancel(runId));
    await made.runner.idle();
    expect(made.cancelled).toEqual(['person']);
    expect(made.store.run(runId)?.state).toBe('cancelled');
    expect(made.store.cells(runId).map((cell) => cell.state)).toEqual([
      'done',
      'done',
      'done',
      'cancelled',
      'waiting',
      'waiting',
      'waiting',
      'waiting',
    ]);

    hangAt = null;
    must(await made.runner.resume(runId));
    await made.runner.idle();
    expect(made.store.run(runId)).toMatchObject({ state: 'done', cellsDone: 8, cellsFailed: 0, error: null });
    const times = new Map<string, number>();
    for (const { cellKey } of made.asked) times.set(cellKey, (times.get(cellKey) ?? 0) + 1);
    expect([...times.values()]).toEqual([1, 1, 1, 2, 1, 1, 1, 1]);
    expect(await made.runner.resume(runId)).toMatchObject({ ok: false, denial: { code: 'bad-input' } });
  });

  test('the end of the program leaves the run interrupted, its cell waiting', async () => {
    const made = bench((_, call) => (call === 1 ? 'hang' : {}));
    const { runId } = must(await made.runner.start(experiment()));
    await until(() => made.asked.length === 2);
    await made.runner.stop();
    expect(made.cancelled).toEqual(['shutdown']);
    expect(made.store.run(runId)?.state).toBe('interrupted');
    expect(
      made.store
        .cells(runId)
        .map((cell) => cell.state)
        .slice(0, 3),
    ).toEqual(['done', 'waiting', 'waiting']);
    must(await made.runner.resume(runId));
    await made.runner.idle();
    expect(made.store.run(runId)?.state).toBe('done');
  });

  test('a simulated run is not finished on a real server, nor the reverse', async () => {
    const made = bench((_, call) => (call === 1 ? 'hang' : {}));
    const { runId } = must(await made.runner.start(experiment()));
    await until(() => made.asked.length === 2);
    must(made.runner.cancel(runId));
    await made.runner.idle();
    made.server = ok({ url: 'http://127.0.0.1:11500', version: '0.33.0', simulated: true, models: null });
    expect(await made.runner.resume(runId)).toMatchObject({ ok: false, denial: { code: 'not-allowed' } });
    expect(made.runner.running).toBeNull();
  });

  test('a run that does not run cannot be cancelled, one that is not there cannot be resumed', async () => {
    const { runner } = bench();
    expect(runner.cancel('run-9' as RunId)).toMatchObject({ ok: false, denial: { code: 'not-found' } });
    expect(await runner.resume('run-9' as RunId)).toMatchObject({ ok: false, denial: { code: 'not-found' } });
  });
});

describe('when cells fail', () => {
  test('an error of the server is recorded and the sweep goes on', async () => {
    const made = bench((_, call) =>
      call === 2 ? ({ reply: { status: 500, ending: 'refused', error: 'model runner has crashed' } } as never) : {},
    );
    const { runId } = must(await made.runner.start(experiment()));
    await made.runner.idle();
    expect(made.store.run(runId)).toMatchObject({ state: 'done', cellsDone: 7, cellsFailed: 1 });
    // The server answered, so there is a result: nothing is left to resume.
    expect(await made.runner.resume(runId)).toMatchObject({ ok: false, denial: { code: 'bad-input' } });
  });

  test(`${UNREACHABLE_MAX} calls in a row without a server end the run with the reason; it goes on when the server is back`, async () => {
    let isDown = true;
    const made = bench((_, call) => (call >= 2 && isDown ? unreachable : {}));
    const { runId } = must(await made.runner.start(experiment()));
    await made.runner.idle();
    expect(made.asked).toHaveLength(2 + UNREACHABLE_MAX);
    expect(made.pauses).toEqual([250, 500, 1_000, 2_000]);
    expect(made.store.run(runId)).toMatchObject({
      state: 'failed',
      error: '5 calls in a row did not reach the server: connection refused. Start the server, then resume the run.',
    });
    isDown = false;
    must(await made.runner.resume(runId));
    await made.runner.idle();
    expect(made.store.run(runId)).toMatchObject({ state: 'done', cellsDone: 8, cellsFailed: 0, error: null });
  });

  test('a server that comes back in between is no reason to end', async () => {
    const made = bench((_, call) => (call % 3 === 0 ? {} : unreachable));
    const { runId } = must(await made.runner.start(experiment()));
    await made.runner.idle();
    expect(made.store.run(runId)).toMatchObject({ state: 'done', cellsDone: 3, cellsFailed: 5 });
  });

  test('a full disk ends the run with the reason', async () => {
    const made = bench(() => ({}), {
      denial: denied('storage-full', 'The disk is full.', { next: 'Free some space.' }).denial,
    });
    const { runId } = must(await made.runner.start(experiment()));
    await made.runner.idle();
    expect(made.store.run(runId)).toMatchObject({ state: 'failed', error: 'The disk is full. Free some space.' });
    expect(made.asked).toHaveLength(1);
  });

  test('an engine that is busy is asked again', async () => {
    const made = bench(() => ({}), { open: (call) => (call < 3 ? denied('busy', '64 calls are running.') : ok(null)) });
    const { runId } = must(await made.runner.start(experiment()));
    await made.runner.idle();
    expect(made.pauses).toEqual([500, 500, 500]);
    expect(made.store.run(runId)?.state).toBe('done');
  });

  test('a bug in a call ends the run as failed and leaves the runner free', async () => {
    const made = bench(() => {
      throw new Error('Broken rule: of the test');
    });
    const { runId } = must(await made.runner.start(experiment()));
    await made.runner.idle();
    expect(made.store.run(runId)).toMatchObject({ state: 'failed', error: 'Broken rule: of the test' });
    expect(made.store.cells(runId)[0]?.state).toBe('waiting');
    expect(made.runner.running).toBeNull();
  });
});

test('warnings: a missing model and the ones handed in are kept with the run', async () => {
  const { runner, store } = bench();
  const { runId } = must(await runner.start(experiment({ models: ['m', 'other'] }), ['said before']));
  await runner.idle();
  expect(store.run(runId)?.warnings).toEqual([
    'said before',
    'other is not on this server; its cells will fail. Pull it, or choose another model.',
  ]);
});

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20_000 && !condition(); turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(condition()).toBe(true);
}

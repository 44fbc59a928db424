import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CallRecord } from '../../../shared/contract/calls.ts';
import { callSummarySchema } from '../../../shared/contract/calls.ts';
import { cellSchema, runSummarySchema } from '../../../shared/contract/experiments.ts';
import type { CallId, CellKey, DocumentId, RunId } from '../../../shared/contract/ids.ts';
import { settingsSchema } from '../../../shared/contract/settings.ts';
import { contextRow } from '../../../shared/node/csv/context-columns.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import { clock, freshHome, freshStore, samplePlan, sampleRecord, sampleRun, value } from './samples.ts';

const runId = 'run-1' as RunId;
const key = (index: number): CellKey => `cell-${index}` as CellKey;

describe('settings', () => {
  test('are the defaults until they are saved, and then what was saved, also after a restart', () => {
    const home = freshHome();
    const store = freshStore(home);
    expect(store.settings()).toEqual(settingsSchema.parse({}));
    const mine = settingsSchema.parse({ theme: 'dark', csvSeparator: ';', ollamaUrl: 'http://127.0.0.1:9' });
    expect(store.saveSettings(mine)).toEqual({ ok: true, value: mine });
    store.close();
    expect(freshStore(home).settings()).toEqual(mine);
  });

  test('a field that is not understood falls back alone', () => {
    const store = freshStore();
    value(store.saveSettings({ ...settingsSchema.parse({ numPredict: 99 }), theme: 'sepia', later: 1 } as never));
    expect(store.settings()).toEqual(settingsSchema.parse({ numPredict: 99 }));
  });
});

describe('runs and cells', () => {
  test('a run is stored with all its cells, waiting, in running order', () => {
    const store = freshStore();
    const plans = [samplePlan(2), samplePlan(0, { warmUp: true }), samplePlan(1)];
    expect(value(store.openRun(sampleRun(), plans))).toEqual(sampleRun({ cellsTotal: 3 }));
    expect(store.cells(runId)).toEqual(
      [plans[1], plans[2], plans[0]].map((plan) => ({ plan, state: 'waiting', documentCharacters: null, call: null })),
    );
  });

  test('a call that closes gives its cell the result and moves the counters, all readable by the contract', () => {
    const store = freshStore();
    value(store.openRun(sampleRun(), [samplePlan(0), samplePlan(1), samplePlan(2)]));
    value(store.setCellState(runId, key(0), 'running', 1_999));
    const record = sampleRecord({
      runId,
      cellKey: key(0),
      reply: { promptEvalCount: 2_051 },
      truncation: { kinds: ['halved', 'window-full'], lost: 700 },
    });
    const closed = value(store.callClosed(record));
    expect(closed.run).toEqual(sampleRun({ cellsTotal: 3, cellsDone: 1, cellsTruncated: 1, tokensEvaluated: 2_051 }));
    expect(closed.cell).toMatchObject({
      state: 'done',
      documentCharacters: 1_999,
      call: { id: 'call-1', promptEvalCount: 2_051 },
    });
    expect(closed).toEqual({ run: store.run(runId), cell: store.cells(runId)[0] });
    expect(store.cell(runId, key(0))).toEqual({ cell: closed.cell, record });
    expect(store.cell(runId, key(1))?.record).toBeNull();
    expect(store.cell(runId, key(9))).toBeNull();
    runSummarySchema.parse(closed.run);
    cellSchema.parse(closed.cell);
  });

  test('the same record twice counts once, and a new result replaces the old one in the counters', () => {
    const store = freshStore();
    value(store.openRun(sampleRun(), [samplePlan(0)]));
    const failed = sampleRecord({ runId, cellKey: key(0), reply: { ending: 'cut', promptEvalCount: null } });
    value(store.callClosed(failed));
    value(store.callClosed(failed));
    expect(store.run(runId)).toMatchObject({ cellsDone: 0, cellsFailed: 1, tokensEvaluated: 0 });
    value(store.setCellState(runId, key(0), 'running'));
    expect(store.run(runId)).toMatchObject({ cellsDone: 0, cellsFailed: 0 });
    value(store.callClosed(sampleRecord({ id: 'call-2', runId, cellKey: key(0) })));
    expect(store.run(runId)).toMatchObject({ cellsDone: 1, cellsFailed: 0, tokensEvaluated: 31 });
    expect(store.calls({ runId }).map((call) => call.id)).toEqual(['call-2', 'call-1']);
    expect(store.cell(runId, key(0))?.record?.id).toBe('call-2');
  });

  test.each<[string, Partial<CallRecord['reply']>, string[], string]>([
    ['a done line', { ending: 'done' }, ['intact'], 'done'],
    ['a refused overflow, which is a result', { ending: 'refused', status: 400 }, ['refused'], 'done'],
    ['another refusal', { ending: 'refused', status: 404 }, ['unknown'], 'failed'],
    ['an error line', { ending: 'error-line' }, ['unknown'], 'failed'],
    ['a cut stream', { ending: 'cut' }, ['unknown'], 'failed'],
    ['no server', { ending: 'unreachable' }, ['unknown'], 'failed'],
    ['a time-out', { ending: 'aborted', abortedBy: 'timeout' }, ['unknown'], 'failed'],
    ['a cancel', { ending: 'aborted', abortedBy: 'person' }, ['unknown'], 'cancelled'],
    ['a cancel before it left', { ending: 'not-sent', abortedBy: 'person' }, ['unknown'], 'cancelled'],
    ['a connection that broke', { ending: 'aborted', abortedBy: null }, ['unknown'], 'failed'],
    ['the end of the program', { ending: 'aborted', abortedBy: 'shutdown' }, ['unknown'], 'waiting'],
  ])('%s makes the cell what it is', (_name, reply, kinds, state) => {
    const store = freshStore();
    value(store.openRun(sampleRun(), [samplePlan(0)]));
    const record = sampleRecord({ runId, cellKey: key(0), reply, truncation: { kinds } });
    expect(value(store.callClosed(record)).cell?.state).toBe(state);
  });

  test('counters always equal a recount of the cells', () => {
    const step = fc.record({
      index: fc.nat(3),
      how: fc.constantFrom('done', 'cut', 'aborted', 'waiting', 'cancelled', 'failed'),
      count: fc.option(fc.nat(9_000)),
      kinds: fc.constantFrom(['intact'], ['halved'], ['refused'], ['messages-dropped', 'shifted']),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const store = value(openStore({ home: freshHome(), clock })).store;
        value(
          store.openRun(
            sampleRun(),
            [0, 1, 2, 3].map((index) => samplePlan(index, { warmUp: index === 0 })),
          ),
        );
        for (const [number, { index, how, count, kinds }] of steps.entries()) {
          if (how === 'done' || how === 'cut' || how === 'aborted') {
            const reply = { ending: how, promptEvalCount: count, abortedBy: how === 'aborted' ? 'person' : null };
            const change = { id: `call-${number}`, runId, cellKey: key(index), reply, truncation: { kinds } };
            value(store.callClosed(sampleRecord(change)));
          } else value(store.setCellState(runId, key(index), how));
        }
        const cells = store.cells(runId);
        const lost = ['halved', 'messages-dropped', 'shifted', 'cut-to-window'];
        expect(store.run(runId)).toMatchObject({
          cellsTotal: 4,
          cellsDone: cells.filter((cell) => cell.state === 'done').length,
          cellsFailed: cells.filter((cell) => cell.state === 'failed').length,
          cellsTruncated: cells.filter(
            (cell) => !cell.plan.warmUp && cell.call?.truncation.kinds.some((kind) => lost.includes(kind)),
          ).length,
          tokensEvaluated: cells.reduce((sum, cell) => sum + (cell.call?.promptEvalCount ?? 0), 0),
        });
        store.close();
      }),
      { numRuns: 40 },
    );
  });

  test('saving a run keeps the counters of the store', () => {
    const store = freshStore();
    value(store.openRun(sampleRun(), [samplePlan(0)]));
    value(store.callClosed(sampleRecord({ runId, cellKey: key(0) })));
    const saved = value(
      store.saveRun(sampleRun({ state: 'done', name: 'Mine', cellsDone: 77, endedAt: '2026-11-14T10:00:00.000Z' })),
    );
    expect(saved).toEqual(store.run(runId));
    expect(saved).toMatchObject({ state: 'done', name: 'Mine', cellsDone: 1, cellsTotal: 1, tokensEvaluated: 31 });
  });

  test('what is not there is a refusal that changes nothing', () => {
    const store = freshStore();
    expect(store.run(runId)).toBeNull();
    expect(store.saveRun(sampleRun())).toMatchObject({ ok: false, denial: { code: 'not-found' } });
    expect(store.deleteRun(runId)).toMatchObject({ ok: false, denial: { code: 'not-found' } });
    expect(store.callClosed(sampleRecord({ runId, cellKey: key(0) }))).toMatchObject({ denial: { code: 'not-found' } });
    value(store.openRun(sampleRun(), [samplePlan(0)]));
    expect(store.callClosed(sampleRecord({ runId, cellKey: key(5) }))).toMatchObject({ denial: { code: 'not-found' } });
    expect(store.calls()).toEqual([]);
  });

  test('runs are found by any of their words, newest first', () => {
    const store = freshStore();
    const add = (id: string, name: string, minute: number, state: string): void => {
      value(store.openRun(sampleRun({ id, name, state, createdAt: `2026-11-14T09:0${minute}:00.000Z` }), []));
    };
    add('a', 'Naïve Sweep', 1, 'done');
    add('b', '100% _odd_ name', 3, 'cancelled');
    add('c', 'sweep two', 2, 'done');
    const found = (search: string): string[] => store.runs({ search }).map((run) => run.id);
    expect(found('')).toEqual(['b', 'c', 'a']);
    expect(found('SWEEP')).toEqual(['c', 'a']);
    expect(found('naïve  done')).toEqual(['a']);
    expect(found('llama3.2')).toEqual(['b', 'c', 'a']);
    expect(found('%')).toEqual(['b']);
    expect(found("'; DROP TABLE runs")).toEqual([]);
    expect(store.runs({ limit: 1 }).map((run) => run.id)).toEqual(['b']);
  });

  test('deleting a run takes its cells, calls and texts along, but not texts that others use', () => {
    const home = freshHome();
    const store = freshStore(home);
    const reader = new BetterSqlite3(home.databaseFile, { readonly: true });
    onTestFinished(() => void reader.close());
    const texts = (): unknown => reader.prepare('SELECT count(*) FROM texts').pluck().get();
    const shared = 'shared text. '.repeat(2_000);
    const record = (id: string, run: RunId | null, content: string): CallRecord =>
      sampleRecord({
        id,
        runId: run,
        cellKey: run === null ? null : key(0),
        request: { messages: [{ role: 'user', content }] },
      });
    value(store.openRun(sampleRun({ state: 'running' }), [samplePlan(0)]));
    const own = record('call-1', runId, 'only in the run. '.repeat(2_000));
    const kept = record('call-2', null, shared);
    for (const each of [own, record('call-3', runId, shared), kept]) value(store.callClosed(each));
    expect(store.deleteRun(runId)).toMatchObject({ ok: false, denial: { code: 'busy' } });
    value(store.saveRun(sampleRun({ state: 'done' })));
    expect(texts()).toBe(2);
    value(store.deleteRun(runId));
    expect(texts()).toBe(1);
    expect(store.run(runId)).toBeNull();
    expect(store.cells(runId)).toEqual([]);
    expect(store.calls().map((call) => call.id)).toEqual(['call-2']);
    expect(store.call('call-2' as CallId)).toEqual(kept);
    value(store.callClosed(record('call-4', null, 'only in the run. '.repeat(2_000))));
    expect(store.call('call-4' as CallId)?.request).toEqual(own.request);
  });

  test('runs that were open at a crash become interrupted, and their running cells wait again', () => {
    const home = freshHome();
    const before = freshStore(home);
    value(before.openRun(sampleRun(), [samplePlan(0), samplePlan(1)]));
    value(before.openRun(sampleRun({ id: 'run-2', state: 'done' }), []));
    value(before.callClosed(sampleRecord({ runId, cellKey: key(0) })));
    value(before.setCellState(runId, key(1), 'running', 2_000));
    before.close();
    const store = freshStore(home);
    expect(value(store.interruptOpenRuns())).toEqual([store.run(runId)]);
    expect(store.run(runId)).toMatchObject({ state: 'interrupted', cellsDone: 1, cellsTotal: 2 });
    expect(store.cells(runId).map((cell) => cell.state)).toEqual(['done', 'waiting']);
    expect(store.run('run-2' as RunId)?.state).toBe('done');
    expect(value(store.interruptOpenRuns())).toEqual([]);
  });
});

describe('calls', () => {
  /** Texts that databases and encoders like to change. */
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom('\ud800', '\udc00', '\0', '"', '\\', '\r\n', '\u2028', 'é', '😀', 'a'),
      maxLength: 40,
    }),
    fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 3_000 }))
      .map(([piece, times]) => piece.repeat(times)),
  );

  test('what comes back is exactly what was stored, whatever the texts', () => {
    const store = freshStore();
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        text,
        text,
        text,
        fc.boolean(),
        (contents, thinking, answer, rawReply, asJson) => {
          const messages = contents.map((content) => ({ role: 'user', content }));
          const record = sampleRecord({
            request: { messages, numKeep: 5 },
            sentBody: asJson ? JSON.stringify({ messages, model: 'm', prompt: contents[0] }) : contents.join('"'),
            reply: { thinking, answer },
            rawReply,
          });
          value(store.callClosed(record));
          expect(store.call(record.id)).toEqual(record);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('lists carry summaries by the contract, newest first, of one run or of none', () => {
    const store = freshStore();
    value(store.openRun(sampleRun(), [samplePlan(0)]));
    value(store.callClosed(sampleRecord({ id: 'live', startedAt: '2026-11-14T09:00:00.000Z' })));
    value(
      store.callClosed(sampleRecord({ id: 'swept', runId, cellKey: key(0), reply: { answer: 'x'.repeat(5_000) } })),
    );
    const ids = (query: Parameters<typeof store.calls>[0]): string[] => store.calls(query).map((call) => call.id);
    expect(ids({})).toEqual(['swept', 'live']);
    expect(ids({ runId })).toEqual(['swept']);
    expect(ids({ runId: null })).toEqual(['live']);
    expect(ids({ limit: 1 })).toEqual(['swept']);
    for (const call of store.calls()) callSummarySchema.parse(call);
    expect(store.calls({ runId })[0]?.answerHead).toHaveLength(200);
  });

  test('tokens of a day: unknown is not zero, and other days and kinds stay out', () => {
    const store = freshStore();
    expect(store.tokensOn('2026-11-14')).toBeNull();
    value(store.callClosed(sampleRecord({ id: 'a', reply: { promptEvalCount: null, evalCount: null } })));
    expect(store.tokensOn('2026-11-14')).toBeNull();
    value(store.callClosed(sampleRecord({ id: 'b', reply: { promptEvalCount: 0, evalCount: null } })));
    expect(store.tokensOn('2026-11-14')).toBe(0);
    value(store.callClosed(sampleRecord({ id: 'c', startedAt: '2026-11-14T23:59:59.999Z', simulated: false })));
    value(store.callClosed(sampleRecord({ id: 'd', startedAt: '2026-11-15T00:00:00.000Z' })));
    expect(store.tokensOn('2026-11-14')).toBe(40);
    expect(store.tokensOn('2026-11-14', true)).toBe(0);
    expect(store.tokensOn('2026-11-14', false)).toBe(40);
    expect(store.tokensOn('2026-11-15')).toBe(40);
  });
});

describe('rows for the export', () => {
  test('are the rows of the finished cells in running order, equal to those made from the full records', () => {
    const store = freshStore();
    const plans = [3, 1, 0, 2].map((index) => samplePlan(index, { warmUp: index === 0 }));
    value(store.openRun(sampleRun(), plans));
    for (const index of [3, 0, 1]) {
      value(store.setCellState(runId, key(index), 'running', 2_000 + index));
      const request = { messages: [{ role: 'user', content: 'long '.repeat(1_000) + index }], numKeep: index };
      const reply = { answer: `=${index}${'x'.repeat(3_000)}`, thinking: 'hm '.repeat(index * 700) };
      value(store.callClosed(sampleRecord({ id: `call-${index}`, runId, cellKey: key(index), request, reply })));
    }
    const run = store.run(runId);
    const full = [0, 1, 3].map((index) => {
      const found = store.cell(runId, key(index));
      if (run === null || found === null || found.record === null) throw new Error('missing');
      return contextRow(found.cell, found.record, run);
    });
    expect([...store.rows(runId)]).toEqual(full);
    expect(store.rowCount(runId)).toBe(3);
    expect([...store.rows('none' as RunId)]).toEqual([]);
  });

  test('are read in pages, and writes go on in between', () => {
    const store = freshStore();
    value(
      store.openRun(
        sampleRun(),
        Array.from({ length: 450 }, (_, index) => samplePlan(index)),
      ),
    );
    for (let index = 0; index < 450; index += 1) {
      value(store.callClosed(sampleRecord({ id: `call-${index}`, runId, cellKey: key(index) })));
    }
    const cells: string[] = [];
    for (const row of store.rows(runId)) {
      cells.push(String(row['cell']));
      if (cells.length === 250) value(store.setCellState(runId, key(449), 'waiting'));
    }
    expect(cells).toEqual(Array.from({ length: 449 }, (_, index) => key(index)));
  });
});

test('a cell that joins a run raises its total, and no key twice', () => {
  const store = freshStore();
  value(store.openRun(sampleRun(), [samplePlan(0)]));
  expect(value(store.addCell(runId, samplePlan(1))).cellsTotal).toBe(2);
  expect(store.cells(runId).map(({ plan, state }) => [plan.key, state])).toEqual([
    [key(0), 'waiting'],
    [key(1), 'waiting'],
  ]);
  expect(store.addCell(runId, samplePlan(1))).toMatchObject({ ok: false, denial: { code: 'bad-input' } });
  expect(store.addCell('none' as RunId, samplePlan(2))).toMatchObject({ ok: false, denial: { code: 'not-found' } });
  value(store.callClosed(sampleRecord({ id: 'call-1', runId, cellKey: key(1) })));
  expect(store.run(runId)).toMatchObject({ cellsTotal: 2, cellsDone: 1 });
});

describe('documents and ratios', () => {
  test('equal documents are one, whatever their names, and a document needs no run', () => {
    const store = freshStore();
    const text = 'Naïve 😀 text\r\n'.repeat(1_000);
    const first = value(store.putDocument({ name: 'a.txt', text }));
    expect(value(store.putDocument({ name: 'b.txt', text }))).toEqual(first);
    expect(store.document(first.documentId)).toEqual({
      name: 'a.txt',
      text,
      characters: text.length,
      sha256: first.sha256,
    });
    expect(store.document('nothing' as DocumentId)).toBeNull();
    // The hash that sha256sum prints for the same bytes.
    expect(value(store.putDocument({ name: 'abc', text: 'abc' })).sha256).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  test('learned ratios are kept by model', () => {
    const store = freshStore();
    value(store.saveLearnedRatio('m:1b', '{"latin":3.1}'));
    value(store.saveLearnedRatio('m:1b', '{"latin":3.2}'));
    expect([...store.learnedRatios()]).toEqual([['m:1b', '{"latin":3.2}']]);
  });
});

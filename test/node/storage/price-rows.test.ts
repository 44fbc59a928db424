/** Price sets of one's own, and the counts that calls reported. */
import { expect, test } from 'vitest';
import { callRecordSchema } from '../../../shared/contract/calls.ts';
import type { CallRecord } from '../../../shared/contract/calls.ts';
import { readPriceSet } from '../../../shared/engine/costs/costs.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import { clock, freshHome, freshStore, sampleRecord, value } from './samples.ts';

const set = (name: string, date: string) =>
  value(readPriceSet({ name, date, source: 'a bill', inputPerMillion: '0.05', outputPerMillion: 2 }));

test('sets are kept in order over an end; a name may come again on another day, and is removed by both', () => {
  const home = freshHome();
  const first = value(openStore({ home, clock })).store;
  value(first.addPriceSet(set('z', '2026-11-20')));
  value(first.addPriceSet(set('a', '2026-11-20')));
  value(first.addPriceSet(set('z', '2026-11-21')));
  // The engine refuses it in words; here it is a bug, and nothing is changed.
  expect(() => first.addPriceSet(set('a', '2026-11-20'))).toThrow(/UNIQUE/);
  first.close();
  const store = freshStore(home);
  value(store.removePriceSet({ name: 'z', date: '2026-11-20' }));
  expect(store.priceSets()).toEqual([set('a', '2026-11-20'), set('z', '2026-11-21')]);
  expect(store.removePriceSet({ name: 'z', date: '2026-11-20' })).toMatchObject({ denial: { code: 'not-found' } });
});

test('reported counts: a call that left one out is counted as such, and its known part is in the sum', () => {
  const store = freshStore();
  const base = sampleRecord();
  const call = (id: string, at: string, counts: readonly [number | null, number | null], simulated = false): void => {
    const reply = { ...base.reply, promptEvalCount: counts[0], evalCount: counts[1] };
    const record: CallRecord = callRecordSchema.parse({ ...base, id, startedAt: at, simulated, reply });
    value(store.callClosed(record));
  };
  expect(store.reportedSince('2026-11-14T00:00:00.000Z', false)).toEqual({
    calls: 0,
    callsUnknown: 0,
    inputTokens: null,
    outputTokens: null,
  });
  call('before', '2026-11-13T23:59:59.999Z', [1_000, 1_000]);
  call('whole', '2026-11-14T00:00:00.000Z', [100, 10]);
  call('half', '2026-11-14T08:00:00.000Z', [20, null]);
  call('none', '2026-11-14T09:00:00.000Z', [null, null]);
  call('zero', '2026-11-14T09:00:00.000Z', [0, 0]);
  call('other', '2026-11-14T09:00:00.000Z', [7, 7], true);
  expect(store.reportedSince('2026-11-14T00:00:00.000Z', false)).toEqual({
    calls: 4,
    callsUnknown: 2,
    inputTokens: 120,
    outputTokens: 10,
  });
  expect(store.reportedSince('2026-11-14T09:00:00.000Z', true)).toMatchObject({ calls: 1, inputTokens: 7 });
});

test('learned ratios are forgotten one by one or all at once', () => {
  const store = freshStore();
  for (const model of ['a:1b', 'b:1b', 'c:1b']) value(store.saveLearnedRatio(model, '{}'));
  expect(value(store.forgetLearnedRatios('b:1b'))).toBe(1);
  expect([...store.learnedRatios().keys()]).toEqual(['a:1b', 'c:1b']);
  expect(value(store.forgetLearnedRatios('b:1b'))).toBe(0);
  expect(value(store.forgetLearnedRatios(null))).toBe(2);
  expect([...store.learnedRatios()]).toEqual([]);
});

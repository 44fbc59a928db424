/** The last columns of every row about a call: who paid, what was reserved and charged. */
import { expect, test } from 'vitest';
import type { CallBudget } from '../../../shared/contract/ledger.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import { budgetColumns, budgetRow } from '../../../shared/node/csv/budget-columns.ts';
import { contextColumns } from '../../../shared/node/csv/context-columns.ts';
import { reasoningColumns } from '../../../shared/node/csv/reasoning-columns.ts';
import { freshStore, samplePlan, sampleRecord, sampleRun, value } from '../storage/samples.ts';

const names = [
  'budget_tenant',
  'budget_user',
  'budget_plan',
  'reservation_id',
  'reserved_tokens',
  'charged_tokens',
  'charge_source',
  'budget_resolution',
  'overrun_tokens',
];

const budget: CallBudget = {
  reservationId: 'hold_1',
  tenant: 'acme',
  user: 'ada',
  plan: 'assistant',
  book: 'simulated',
  reservedInputTokens: 2_034,
  reservedOutputTokens: 400,
  sentTokensEstimated: 1_900,
  resolution: 'settled',
  source: 'reported',
  chargedInputTokens: 2_051,
  chargedOutputTokens: 39,
  chargedNanoDollars: 0,
  overrunTokens: 17,
  reason: '',
};
const row = {
  budget_tenant: 'acme',
  budget_user: 'ada',
  budget_plan: 'assistant',
  reservation_id: 'hold_1',
  reserved_tokens: 2_434,
  charged_tokens: 2_090,
  charge_source: 'reported',
  budget_resolution: 'settled',
  overrun_tokens: 17,
};

test('they are the last ones of both tables, in this order', () => {
  expect(budgetColumns.map((column) => column.name)).toEqual(names);
  for (const columns of [contextColumns, reasoningColumns]) {
    expect(columns.slice(-names.length).map((column) => column.name)).toEqual(names);
    expect(new Set(columns.map((column) => column.name)).size).toBe(columns.length);
  }
});

test('what stood before them in reasoning rows has not moved', () => {
  expect(reasoningColumns.at(-names.length - 1)?.name).toBe('asked_after_wall_ms');
  expect(contextColumns.at(-names.length - 1)?.name).toBe('prompt_tokens_lost_estimated');
});

test('unknown is empty, and a charge of nothing is 0', () => {
  expect(budgetRow(null)).toEqual(Object.fromEntries(names.map((name) => [name, null])));
  expect(budgetRow(budget)).toEqual(row);
  const nothing = {
    ...budget,
    resolution: 'voided',
    source: 'none',
    chargedInputTokens: 0,
    chargedOutputTokens: 0,
  } as const;
  expect(budgetRow({ ...nothing, overrunTokens: 0 })).toMatchObject({
    charged_tokens: 0,
    charge_source: 'none',
    budget_resolution: 'voided',
    overrun_tokens: 0,
  });
});

test('rows that come out of the database have them', () => {
  const store = freshStore();
  const run = sampleRun();
  value(store.openRun(run, [samplePlan(0), samplePlan(1)]));
  const base = { runId: run.id, reply: { promptEvalCount: 2_051 } };
  value(store.callClosed(sampleRecord({ ...base, id: 'call-1', cellKey: 'cell-0', budget })));
  value(store.callClosed(sampleRecord({ ...base, id: 'call-2', cellKey: 'cell-1' })));
  const [first, second] = [...store.rows(run.id as RunId)];
  expect(first).toMatchObject(row);
  expect(second).toMatchObject(budgetRow(null));
});

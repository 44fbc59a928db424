/** Rows of the reasoning experiment: order of the columns, and that a row says what the record says. */
import { expect, test } from 'vitest';
import { reasoningRunSchema } from '../../../shared/contract/experiments.ts';
import { reasoningCellPlanSchema } from '../../../shared/contract/reasoning.ts';
import { csvHeader, csvRow, machineCsv } from '../../../shared/node/csv/csv.ts';
import { contextColumns, optionsHash } from '../../../shared/node/csv/context-columns.ts';
import { reasoningColumns, reasoningRow } from '../../../shared/node/csv/reasoning-columns.ts';
import { columnsOf } from '../../../shared/node/csv/rows.ts';
import { sampleRecord, sampleRun } from '../storage/samples.ts';

const { experiment: _experiment, kind: _kind, ...fields } = sampleRun();
const run = reasoningRunSchema.parse({
  ...fields,
  kind: 'reasoning',
  experiment: {
    kind: 'reasoning',
    axes: { models: ['m'], variants: [{ think: false, numPredict: 2_000 }], repeats: 1 },
    prompt: 'Is 7 prime?',
  },
});
const plan = reasoningCellPlanSchema.parse({
  kind: 'reasoning',
  key: 'm|off/2000|r0',
  index: 0,
  model: 'm',
  variant: 'off/2000',
  think: false,
  numPredict: 2_000,
  thinkingCap: { tokensMax: 500, then: 'ask-again' },
  numCtx: 16_384,
  repeat: 0,
  seed: 7,
  warmUp: false,
});
const cell = { plan, state: 'done', documentCharacters: null } as const;
const reasoning = {
  outcome: 'starved',
  cause: 'cap',
  endedBy: 'cap',
  complete: false,
  places: ['answer-tagged', 'field'],
  suspected: null,
  obedience: 'not-obeyed',
  answerFrom: null,
  probableAnswer: null,
  thinkingCharacters: 8_002,
  answerCharacters: 0,
  strayMarkers: [],
  split: {
    source: 'counted',
    basis: 'logprobs',
    thinkingTokens: 1_997,
    answerTokens: 0,
    hiddenTokens: 0,
    otherTokens: 3,
    thinkingOutsideCount: false,
    errorTokens: 0,
    errorPercent: 0,
  },
  evidence: [],
  next: 'Raise num_predict.',
};

test('the columns of every row, then those of the reading in their order, and more only behind them', () => {
  const header = csvHeader(machineCsv, reasoningColumns);
  expect(header).toContain(
    ',started_at,error,variant,outcome,outcome_cause,thinking_place,obedience,thinking_tokens,answer_tokens,split_source,thinking_chars,answer_chars,options_hash,',
  );
  const before = csvHeader(machineCsv, contextColumns).split(',options_hash,')[0] ?? '';
  expect(header.startsWith(`${before},variant,`)).toBe(true);
  const names = reasoningColumns.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(contextColumns.map(({ name }) => name)));
  expect([columnsOf('reasoning'), columnsOf('context')]).toEqual([reasoningColumns, contextColumns]);
});

test('a row says what the record says', () => {
  const record = { ...sampleRecord({ reply: { answer: '<think>...', evalCount: 2_000 } }), reasoning } as never;
  const row = reasoningRow(cell, record, run);
  expect(row).toMatchObject({
    variant: 'off/2000',
    outcome: 'starved',
    outcome_cause: 'cap',
    thinking_place: 'answer-tagged+field',
    obedience: 'not-obeyed',
    thinking_tokens: 1_997,
    answer_tokens: 0,
    split_source: 'counted',
    thinking_chars: 8_002,
    answer_chars: 0,
    needle_depth_percent: null,
    document_id: null,
    answer_complete: false,
    other_tokens: 3,
    next_step: 'Raise num_predict.',
    thinking_cap_tokens: 500,
    thinking_cap_then: 'ask-again',
    asked_after_call_id: null,
  });
  expect(csvRow(row, machineCsv, reasoningColumns).split(',').length).toBeGreaterThanOrEqual(reasoningColumns.length);
});

test('a record without a reading has empty cells, not zeros', () => {
  const row = reasoningRow(cell, sampleRecord(), run);
  for (const name of ['outcome', 'thinking_place', 'obedience', 'thinking_tokens', 'answer_tokens', 'split_source'])
    expect([name, row[name]]).toEqual([name, null]);
});

test('a thinking cap is a setting; without one the hash of a call stays what it was', () => {
  const { request } = sampleRecord();
  expect(optionsHash({ ...request, thinkingCap: { tokensMax: 5, then: 'stop' } })).not.toBe(optionsHash(request));
});

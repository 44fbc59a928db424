/** What every ending of a call is charged, and that nothing is left open after any of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endings } from '../../../shared/contract/calls.ts';
import type { Plan } from '../../../shared/contract/plans.ts';
import { tokens } from '../../../shared/contract/units.ts';
import { type EndedCall, settlementOf } from '../../../shared/engine/ledger/settlement.ts';

/** Reserved are 1,000 + 200, likely 800; 30 tokens of output were seen; the server counted 700 and 90 where it counted. */
const base: EndedCall = {
  reply: { ending: 'done', abortedBy: null, status: 200, promptEvalCount: null, evalCount: null },
  wasSent: true,
  outputTokensSeen: 30,
  reservedInputTokens: 1_000,
  reservedOutputTokens: 200,
  inputTokensLikely: 800,
  onCancel: 'forfeit',
};
type Row = readonly [
  what: string,
  onCancel: Plan['onCancel'],
  change: Partial<EndedCall['reply']> & Partial<Pick<EndedCall, 'wasSent' | 'outputTokensSeen'>>,
  operation: string,
  input: number,
  output: number,
  source: string,
  reason: string,
];
const counts = { promptEvalCount: tokens(700), evalCount: tokens(90) };
const by = (abortedBy: EndedCall['reply']['abortedBy']): Partial<EndedCall['reply']> => ({
  ending: 'aborted',
  abortedBy,
});

const table: readonly Row[] = [
  ['done, counted', 'forfeit', counts, 'settle', 700, 90, 'reported', ''],
  ['done, counted', 'observed', counts, 'settle', 700, 90, 'reported', ''],
  [
    'done, counted 0 and 0',
    'forfeit',
    { promptEvalCount: tokens(0), evalCount: tokens(0) },
    'settle',
    0,
    0,
    'reported',
    '',
  ],
  ['done, no count', 'forfeit', {}, 'settle', 1_000, 30, 'observed', ''],
  ['done, no count', 'observed', {}, 'settle', 1_000, 30, 'observed', ''],
  ['done, no count, nothing seen', 'forfeit', { outputTokensSeen: 0 }, 'settle', 1_000, 200, 'observed', ''],
  ['done, prompt counted', 'forfeit', { promptEvalCount: tokens(700) }, 'settle', 700, 30, 'observed', ''],
  ['done, output counted', 'forfeit', { evalCount: tokens(90) }, 'settle', 1_000, 90, 'observed', ''],
  [
    'error line',
    'forfeit',
    { ending: 'error-line' },
    'forfeit',
    1_000,
    200,
    'reserved',
    'the server failed in the middle',
  ],
  [
    'error line',
    'observed',
    { ending: 'error-line' },
    'settle',
    800,
    30,
    'observed',
    'the server failed in the middle',
  ],
  ['cut', 'forfeit', { ending: 'cut' }, 'forfeit', 1_000, 200, 'reserved', 'the reply ended without its last line'],
  ['cut', 'observed', { ending: 'cut' }, 'settle', 800, 30, 'observed', 'the reply ended without its last line'],
  ['stopped by the person', 'forfeit', by('person'), 'forfeit', 1_000, 200, 'reserved', 'it was stopped'],
  ['stopped by the person', 'observed', by('person'), 'settle', 800, 30, 'observed', 'it was stopped'],
  [
    'stopped, nothing seen',
    'observed',
    { ...by('person'), outputTokensSeen: 0 },
    'settle',
    800,
    0,
    'observed',
    'it was stopped',
  ],
  ['timed out', 'forfeit', by('timeout'), 'forfeit', 1_000, 200, 'reserved', 'its time was over'],
  ['timed out', 'observed', by('timeout'), 'settle', 800, 30, 'observed', 'its time was over'],
  ['shut down', 'forfeit', by('shutdown'), 'forfeit', 1_000, 200, 'reserved', 'the console was closed'],
  ['shut down', 'observed', by('shutdown'), 'settle', 800, 30, 'observed', 'the console was closed'],
  ['connection broke', 'forfeit', by(null), 'forfeit', 1_000, 200, 'reserved', 'the connection broke'],
  [
    'stopped on its way out',
    'forfeit',
    { ...by('person'), status: null, wasSent: false },
    'void',
    0,
    0,
    'none',
    'it never reached the server',
  ],
  [
    'stopped on its way out',
    'observed',
    { ...by('person'), status: null, wasSent: false },
    'void',
    0,
    0,
    'none',
    'it never reached the server',
  ],
  ['thinking stopped', 'forfeit', by('thinking-cap'), 'settle', 800, 30, 'observed', 'its thinking was stopped'],
  ['thinking stopped', 'observed', by('thinking-cap'), 'settle', 800, 30, 'observed', 'its thinking was stopped'],
  [
    'thinking stopped, counted',
    'forfeit',
    { ...by('thinking-cap'), ...counts },
    'settle',
    700,
    90,
    'reported',
    'its thinking was stopped',
  ],
  ...(['forfeit', 'observed'] as const).flatMap((onCancel): Row[] => [
    ...[400, 404, 413, 429, 503].map((status): Row => [
      `refused with ${status}`,
      onCancel,
      { ending: 'refused', status },
      'settle',
      0,
      0,
      'none',
      `the server refused it with status ${status}`,
    ]),
    [
      'unreachable, never sent',
      onCancel,
      { ending: 'unreachable', status: null, wasSent: false },
      'void',
      0,
      0,
      'none',
      'it never reached the server',
    ],
    [
      'not sent',
      onCancel,
      { ending: 'not-sent', status: null, wasSent: false },
      'void',
      0,
      0,
      'none',
      'it was never sent',
    ],
  ]),
  ...[500, 502].flatMap((status): Row[] => [
    [
      `refused with ${status}`,
      'forfeit',
      { ending: 'refused', status },
      'forfeit',
      1_000,
      200,
      'reserved',
      `the server failed with status ${status}`,
    ],
    [
      `refused with ${status}`,
      'observed',
      { ending: 'refused', status, outputTokensSeen: 0 },
      'settle',
      800,
      0,
      'observed',
      `the server failed with status ${status}`,
    ],
  ]),
  [
    'unreachable after it was sent',
    'forfeit',
    { ending: 'unreachable', status: null },
    'forfeit',
    1_000,
    200,
    'reserved',
    'no answer came',
  ],
  [
    'unreachable after it was sent',
    'observed',
    { ending: 'unreachable', status: null, outputTokensSeen: 0 },
    'settle',
    800,
    0,
    'observed',
    'no answer came',
  ],
];

describe('the table', () => {
  test.each(table)('%s, %s', (_what, onCancel, change, operation, inputTokens, outputTokens, source, reason) => {
    const { wasSent = true, outputTokensSeen = 30, ...fields } = change;
    const call = { ...base, onCancel, wasSent, outputTokensSeen, reply: { ...base.reply, ...fields } };
    expect(settlementOf(call)).toEqual({ operation, inputTokens, outputTokens, source, reason });
  });

  test('has every ending under both policies', () => {
    for (const ending of endings) {
      for (const onCancel of ['forfeit', 'observed']) {
        expect(table.some(([, policy, change]) => policy === onCancel && (change.ending ?? 'done') === ending)).toBe(
          true,
        );
      }
    }
  });

  test('an unknown count is never charged as 0, and nothing is charged above what was reserved without a count', () => {
    const ended = fc.record<EndedCall>({
      reply: fc.record<EndedCall['reply']>({
        ending: fc.constantFrom('done', 'error-line', 'cut', 'aborted'),
        abortedBy: fc.constantFrom(null, 'person', 'timeout', 'shutdown', 'thinking-cap'),
        status: fc.constant(200),
        promptEvalCount: fc.constant(null),
        evalCount: fc.option(fc.nat(500)) as never,
      }),
      wasSent: fc.constant(true),
      outputTokensSeen: fc.nat(200),
      reservedInputTokens: fc.integer({ min: 50, max: 1_000 }),
      reservedOutputTokens: fc.integer({ min: 200, max: 500 }),
      inputTokensLikely: fc.integer({ min: 1, max: 50 }),
      onCancel: fc.constantFrom('forfeit', 'observed'),
    });
    fc.assert(
      fc.property(ended, (call) => {
        const { inputTokens, outputTokens, source, operation } = settlementOf(call);
        expect(inputTokens).toBeGreaterThan(0);
        expect(inputTokens).toBeLessThanOrEqual(call.reservedInputTokens);
        expect(outputTokens).toBeGreaterThanOrEqual(Math.min(call.outputTokensSeen, call.reply.evalCount ?? Infinity));
        expect(source).not.toBe('reported');
        expect(operation).not.toBe('void');
      }),
    );
  });
});

/** Units and refusals: what is no count is a bug, and of several refusals the ranked first is told. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callRequestSchema } from '../../shared/contract/calls.ts';
import { denialCodes, denialOfIssues, mostImportant } from '../../shared/contract/denials.ts';
import { bytes, characters, milliseconds, percent, tokens } from '../../shared/contract/units.ts';

test('a count is a safe whole number that is not negative', () => {
  for (const unit of [tokens, milliseconds, bytes, characters]) {
    for (const value of [-1, 1.5, NaN, Infinity, -Infinity, 2 ** 53]) expect(() => unit(value)).toThrow(RangeError);
    expect(unit(0)).toBe(0);
    expect(unit(3)).toBe(3);
  }
  for (const value of [-0.1, 100.1, NaN]) expect(() => percent(value)).toThrow(RangeError);
});

test('of several refusals the first of the ranking is told, in whatever order they come', () => {
  const denial = fc.constantFrom(...denialCodes).map((code) => ({ code, message: code }));
  fc.assert(
    fc.property(fc.array(denial, { minLength: 1 }), (list) => {
      const rank = Math.min(...list.map(({ code }) => denialCodes.indexOf(code)));
      expect(mostImportant(list)?.code).toBe(denialCodes[rank]);
    }),
  );
  expect(mostImportant([])).toBeUndefined();
});

test('bad input names its field', () => {
  const good = {
    model: 'm',
    route: 'chat',
    messages: [{ role: 'user', content: 'hi' }],
    numCtx: null,
    numPredict: 1,
    think: 'default',
    temperature: 0,
    seed: 7,
    policy: 'warn',
  };
  const fieldOf = (change: object): string | undefined => {
    const parsed = callRequestSchema.safeParse({ ...good, ...change });
    return parsed.success ? undefined : denialOfIssues(parsed.error).field;
  };
  expect(fieldOf({})).toBeUndefined();
  for (const numCtx of [0, -5, 1.5, '4096']) expect(fieldOf({ numCtx })).toBe('numCtx');
  for (const numPredict of [0, -1, undefined, NaN]) expect(fieldOf({ numPredict })).toBe('numPredict');
  expect(fieldOf({ messages: [{ role: 'root', content: 'hi' }] })).toBe('messages[0].role');
  expect(fieldOf({ num_ctx: 4096 })).toBe('num_ctx');
});

import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type PriceSet, type PriceSetInput, priceSetSchema } from '../../../shared/contract/costs.ts';
import {
  LOCAL_PRICES,
  findPriceSet,
  readPriceSet,
  shippedPriceSets,
  withPriceSet,
} from '../../../shared/engine/costs/costs.ts';
import { SONNET, denialOf, valueOf } from './samples.ts';

const typed = (more: Partial<PriceSetInput> = {}): PriceSetInput => ({
  name: 'Some provider',
  date: '2026-11-01',
  source: 'Price page of the provider',
  inputPerMillion: 2,
  outputPerMillion: '10',
  ...more,
});

test('what is shipped: one named set with its day, and local for nothing', () => {
  expect(shippedPriceSets.map(({ source: _, ...set }) => set)).toEqual([
    {
      name: 'Claude Sonnet 5.5',
      date: '2026-11-14',
      inputNanoDollarsPerToken: 2_000,
      outputNanoDollarsPerToken: 10_000,
      cachedNanoDollarsPerToken: null,
    },
  ]);
  expect([LOCAL_PRICES.inputNanoDollarsPerToken, LOCAL_PRICES.outputNanoDollarsPerToken]).toEqual([0, 0]);
  for (const set of [LOCAL_PRICES, ...shippedPriceSets]) expect(priceSetSchema.parse(set)).toEqual(set);
});

describe('dollars per million become nano-dollars per token', () => {
  test.each([
    [2, 2_000],
    ['10', 10_000],
    [0, 0],
    [-0, 0],
    ['0.05', 50],
    // 0.07 x 1,000 is 70.00000000000001 in floats.
    [0.07, 70],
    [1.005, 1_005],
    ['2.500000', 2_500],
    [' 3.75 ', 3_750],
    [1_000_000, 1_000_000_000],
  ])('%s -> %i', (price, nano) => {
    const set = valueOf(readPriceSet(typed({ inputPerMillion: price, cachedPerMillion: price })));
    expect([set.inputNanoDollarsPerToken, set.cachedNanoDollarsPerToken]).toEqual([nano, nano]);
    expect(Object.is(set.inputNanoDollarsPerToken, -0)).toBe(false);
  });

  test('every number of nano-dollars comes back, as text and as a number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (nano) => {
        const text = `${Math.floor(nano / 1_000)}.${String(nano % 1_000).padStart(3, '0')}`;
        for (const price of [text, Number(text)]) {
          expect(valueOf(readPriceSet(typed({ outputPerMillion: price }))).outputNanoDollarsPerToken).toBe(nano);
        }
      }),
    );
  });

  test('no cached price is unknown, not free', () => {
    expect(valueOf(readPriceSet(typed())).cachedNanoDollarsPerToken).toBe(null);
    expect(valueOf(readPriceSet(typed({ cachedPerMillion: null }))).cachedNanoDollarsPerToken).toBe(null);
    expect(valueOf(readPriceSet(typed({ cachedPerMillion: 0 }))).cachedNanoDollarsPerToken).toBe(0);
  });

  const FRACTION = 'inputPerMillion has a fraction of a nano-dollar per token: three decimals are the most.';
  test.each([
    [-1, 'inputPerMillion is negative.'],
    ['-0.001', 'inputPerMillion is negative.'],
    [-1e-9, 'inputPerMillion is negative.'],
    [Number.NaN, 'inputPerMillion is not a number.'],
    [Number.POSITIVE_INFINITY, 'inputPerMillion is not a number.'],
    ['', 'inputPerMillion is not a number.'],
    ['2 dollars', 'inputPerMillion is not a number.'],
    ['1e3', 'inputPerMillion is not a number.'],
    ['0x10', 'inputPerMillion is not a number.'],
    ['2,5', 'inputPerMillion is not a number.'],
    [0.0005, FRACTION],
    ['0.0375', FRACTION],
    [1e-9, FRACTION],
    [0.1 + 0.2, FRACTION],
    [1_000_000.001, 'inputPerMillion is too large.'],
    [1e300, 'inputPerMillion is too large.'],
  ])('refused: %s', (price, message) => {
    expect(denialOf(readPriceSet(typed({ inputPerMillion: price })))).toEqual({
      code: 'bad-input',
      message,
      field: 'inputPerMillion',
      next: 'Give dollars per million tokens, such as 2 or 0.05.',
    });
  });

  test('any text is read or refused, never thrown at', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.constantFrom('1.', '.5', '00012', '9'.repeat(40))), (price) => {
        const read = readPriceSet(typed({ outputPerMillion: price }));
        if (read.ok) expect(priceSetSchema.parse(read.value)).toEqual(read.value);
        else expect(read.denial.field).toBe('outputPerMillion');
      }),
    );
  });

  test.each([
    ['name', typed({ name: '  ' })],
    ['date', typed({ date: '14.11.2026' })],
    ['date', typed({ date: '2026-02-30' })],
    ['source', typed({ source: '' })],
    ['outputPerMillion', typed({ outputPerMillion: Number.NaN })],
    ['cachedPerMillion', typed({ cachedPerMillion: -1 })],
  ])('a set without a proper %s is refused by that name', (field, input) => {
    expect(denialOf(readPriceSet(input)).field).toBe(field);
  });
});

describe('the list of sets', () => {
  const later: PriceSet = { ...SONNET, date: '2027-01-01' };

  test('keeps the same name of another day, and finds the one that was valid', () => {
    const sets = valueOf(withPriceSet([later], SONNET));
    expect(findPriceSet(sets, SONNET.name)).toEqual(later);
    expect(findPriceSet(sets, SONNET.name, '2026-12-31')).toEqual(SONNET);
    expect(findPriceSet(sets, SONNET.name, '2026-11-13')).toBe(null);
    expect(findPriceSet(sets, 'other')).toBe(null);
    expect(findPriceSet(sets, 'local', '2020-01-01')).toEqual(LOCAL_PRICES);
  });

  test('refuses the same name on the same day, the name local, and the 101st', () => {
    expect(denialOf(withPriceSet(shippedPriceSets, SONNET)).field).toBe('name');
    expect(denialOf(withPriceSet([], { ...SONNET, name: 'local' })).field).toBe('name');
    const hundred = Array.from({ length: 100 }, (_, index) => ({ ...SONNET, name: `set ${index}` }));
    expect(denialOf(withPriceSet(hundred, SONNET)).message).toBe('There are 100 price sets already.');
  });
});

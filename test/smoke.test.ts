import { expect, test } from 'vitest';
import { tokens } from '../shared/contract/units.ts';
test('units reject what is no count', () => {
  expect(() => tokens(-1)).toThrow(RangeError);
  expect(() => tokens(1.5)).toThrow(RangeError);
  expect(tokens(3)).toBe(3);
});

/** What is not seen is written out; everything else stays as it is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withSigns } from '../../../renderer/format/signs.ts';

test('overrides of direction, controls and hidden letters are written out; joiners, breaks and letters stay', () => {
  expect(withSigns('pay \u202e00.1$\u202c')).toBe('pay \\u202e00.1$\\u202c');
  expect(withSigns('\u001b[31m\u0000\u009b')).toBe('\\u001b[31m\\u0000\\u009b');
  expect(withSigns('a\u200bb\ufeff\u2066c\u{e0041}')).toBe('a\\u200bb\\ufeff\\u2066c\\u{e0041}');
  const plain = 'one\ntwo\tthree, é e\u0301, 👩\u200d🚀, نمی\u200cخواهم, שלום\u200f';
  expect(withSigns(plain)).toBe(plain);
});

test('whatever comes in, nothing unseen comes out, and a second time changes nothing', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(fc.constantFrom('\u202e', '\u2069', '\u0007', 'a'), fc.string()) }),
      (text) => {
        const shown = withSigns(text);
        expect(shown).not.toMatch(/[\u0000-\u0008\u001b\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u);
        expect(withSigns(shown)).toBe(shown);
      },
    ),
  );
});

/** Texts of the kinds that break a fixed ratio of characters to tokens. */
import fc from 'fast-check';

const words =
  'the a request about parking goes to desk and is answered within days international responsibility by our team of course I we need it was not'.split(
    ' ',
  );
const prose = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 400 }).map((list) => `${list.join(' ')}.`);
const longWords = fc
  .array(fc.constantFrom('international', 'responsibility', 'documentation', 'environment', 'understanding'), {
    minLength: 1,
    maxLength: 200,
  })
  .map((list) => list.join(' '));
const code = fc
  .nat({ max: 25 })
  .map((times) => 'for (let i = 0; i < items.length; i++) { total += items[i].price; }\n'.repeat(times + 1));
const japanese = fc.nat({ max: 40 }).map((times) => '今日は天気がいいので、公園を散歩しました。'.repeat(times + 1));
const emoji = fc.nat({ max: 60 }).map((times) => '🙂🚀🌍🎉'.repeat(times + 1));
const blank = fc
  .tuple(fc.nat({ max: 60 }), fc.constantFrom('    ', '\n\n', '\t', ' '))
  .map(([times, white]) => `word${white}`.repeat(times + 1));
const numbers = fc.nat({ max: 80 }).map((times) => '1712, 2026; '.repeat(times + 1));

export const texts = fc.oneof(prose, longWords, code, japanese, emoji, blank, numbers);

export const vocabularies = fc.record({
  pieceLetters: fc.constantFrom(4, 7, 12, 16),
  numberDigits: fc.constantFrom(1, 3),
  cjkCharacters: fc.constantFrom(1.4, 1.8, 2.4),
  emojiTokens: fc.constantFrom(1, 2, 3),
  templateTokens: fc.constantFrom(0, 4, 8, 14),
  addsBos: fc.boolean(),
});

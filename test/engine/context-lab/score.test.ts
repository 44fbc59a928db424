import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { scoreNeedles } from '../../../shared/engine/context-lab/score.ts';
import { buildDocument } from '../../../shared/engine/context-lab/document.ts';
import type { NeedleOutcome } from '../../../shared/contract/verdicts.ts';

const needle = { token: 'ZEBRA-7741', depthPercent: 0, decoys: ['HERON-2210'] };
const prompt =
  'The launch code is ZEBRA-7741. Requests about parking go to desk 100 and are answered within 17 days. ' +
  'The desk code for parking is HERON-2210. Room 44 is kept free. See form BLUE-1500.\n\nQuestion: What is the launch code? Answer with the code only.';
const messages = [{ role: 'user' as const, content: prompt }];
const outcome = (answer: string): NeedleOutcome => scoreNeedles(answer, [needle], messages).overall;

const cases: readonly [NeedleOutcome, string][] = [
  ['found', 'ZEBRA-7741'],
  ['found', 'The launch code is zebra-7741.'],
  ['found', 'zebra 7741'],
  ['found', 'ZEBRA_7741'],
  ['found', 'zebra\n7741'],
  ['found', '**ZEBRA**-`7741`'],
  ['found', '<b>ZEBRA</b>&#45;7741'],
  ['found', '<ZEBRA-7741>'],
  ['found', '$\\text{ZEBRA-7741}$'],
  ['found', '{"code":"ZEBRA-7741"}'],
  ['found', 'code:\\nZEBRA-7741'],
  ['found', 'ＺＥＢＲＡ－７７４１'],
  ['found', 'ZE\u200bBRA\u20117\u00ad741'],
  ['found', '\u202eZEBRA-7741\u202c'],
  ['found', 'ZÉBRA-7741'],
  ['found', 'Z-E-B-R-A 7 7 4 1'],
  ['found', 'ZEBRA-7,741'],
  ['found', 'ZEBRA-٧٧٤١'],
  ['found', 'コードはZEBRA-7741です。'],
  ['found', 'Not HERON-2210 but ZEBRA-7741.'],
  ['invented', 'KIWI-1201'],
  ['invented', 'The code is KIWI 1201.'],
  ['invented', 'ZEBRA-7742'],
  ['invented', 'ZEBRA-77412'],
  ['invented', 'AZEBRA-7741'],
  ['invented', 'コードはKIWI-1201です'],
  ['invented', '4829'],
  ['invented', 'XK9-42B'],
  ['echoed', 'HERON-2210'],
  ['echoed', 'it is heron 2210'.toUpperCase()],
  ['echoed', 'BLUE-1500'],
  ['echoed', 'What is the launch code?'],
  ['echoed', 'Requests about parking go to desk 100 and are answered within 17 days. Requests about'],
  ['lost', 'I do not know.'],
  ['lost', 'The launch code is not mentioned in the document.'],
  ['lost', 'ZEBRA'],
  ['lost', 'You39:'],
  ['lost', 'The answer is in room 44.'],
  ['lost', 'The code is ZEBRA-77'],
  ['lost', 'The text speaks about offices, parking, heating and the people who look after them all year.'],
  ['none', ''],
  ['none', ' \n\t'],
  ['none', '** … **'],
  ['none', '\u200b\u2060'],
];

test.each(cases)('%s: %j', (expected, answer) => {
  expect(outcome(answer)).toBe(expected);
});

test('says what was given instead', () => {
  expect(scoreNeedles('I think it is **KIWI-1201**.', [needle], messages).readings).toEqual([
    { token: 'ZEBRA-7741', depthPercent: 0, outcome: 'invented', said: 'KIWI-1201' },
  ]);
});

test('the token is found in any dress: case, width, markup, invisible signs, other separators', () => {
  const dress = fc.record({
    case: fc.constantFrom('upper', 'lower', 'mixed'),
    wide: fc.boolean(),
    between: fc.constantFrom('', '\u200b', '\u00ad', '\u2060', '\ufeff'),
    separator: fc.constantFrom('-', ' ', '_', '\u2011', '\u2013', '\u2212', ' - ', ''),
    around: fc.constantFrom(
      ['', ''],
      ['**', '**'],
      ['`', '`'],
      ['"', '"'],
      ['(', ').'],
      ['<code>', '</code>'],
      ['The code: ', '!'],
      ['「', '」'],
    ),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), dress, (seed, form) => {
      const document = buildDocument({
        size: 2_000,
        depths: [0],
        seed,
        ownText: null,
        estimateTokens: (text) => text.length,
      });
      const [word = '', digits = ''] = document.needles[0]?.token.split('-') ?? [];
      const cased =
        form.case === 'upper'
          ? word
          : form.case === 'lower'
            ? word.toLowerCase()
            : word[0] + word.slice(1).toLowerCase();
      const widen = (text: string): string =>
        form.wide ? text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)) : text;
      const spell = (text: string): string => [...widen(text)].join(form.between);
      const answer = `${form.around[0]}${spell(cased)}${form.separator}${spell(digits)}${form.around[1]}`;
      expect(scoreNeedles(answer, document.needles, [{ role: 'user', content: document.text }]).overall).toBe('found');
    }),
  );
});

test('a token that stands nowhere in the document is never found, a decoy is always an echo', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 1000, max: 9999 }), (seed, digits) => {
      const { text, needles } = buildDocument({
        size: 8_000,
        depths: [0],
        seed,
        ownText: null,
        estimateTokens: (any) => any.length,
      });
      const content = [{ role: 'user' as const, content: text }];
      expect(scoreNeedles(`UNICORN-${digits}`, needles, content).overall).toBe('invented');
      for (const decoy of needles[0]?.decoys ?? [])
        expect(scoreNeedles(decoy, needles, content).overall).toBe('echoed');
    }),
    { numRuns: 40 },
  );
});

test('any answer is read, without an error and without waiting', { timeout: 20_000 }, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (answer) => {
      scoreNeedles(answer, [needle], messages);
    }),
    { numRuns: 500 },
  );
  const hard = [
    '-',
    '_',
    '*',
    '<b ',
    '\\a',
    '&',
    '1',
    'a',
    'a1',
    '1-',
    'A-',
    '1,',
    'Z-E-B-R-A-',
    'ABCD ',
    '\\text{',
    '\u0301',
  ];
  for (const part of hard) {
    const long = part.repeat(Math.floor(150_000 / part.length));
    for (const answer of [long, `${long} a`, `a ${long}`]) scoreNeedles(answer, [needle], messages);
  }
});

describe('several needles', () => {
  const second = { token: 'OTTER-1234', depthPercent: 50, decoys: ['HERON-2210'] };
  const both = (answer: string) =>
    scoreNeedles(answer, [needle, second], [{ role: 'user', content: `${prompt} The vault word is OTTER-1234.` }]);

  test('found means all of them', () => {
    expect(both('ZEBRA-7741\nOTTER-1234').overall).toBe('found');
  });

  test('the right token of one is no invention of the other', () => {
    const score = both('ZEBRA-7741');
    expect(score.readings.map((reading) => reading.outcome)).toEqual(['found', 'lost']);
    expect(score.overall).toBe('lost');
  });

  test('the worst is the word for the whole', () => {
    expect(both('ZEBRA-7741, PUMA-4444').overall).toBe('invented');
    expect(both('ZEBRA-7741, HERON-2210').overall).toBe('echoed');
  });
});

test('without needles there is nothing to read', () => {
  expect(scoreNeedles('ZEBRA-7741', [], messages)).toEqual({ overall: 'none', readings: [] });
});

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { guardComparisonSchema } from '../../../shared/contract/agents.ts';
import type { GuardComparison } from '../../../shared/contract/agents.ts';
import { requests } from '../../../shared/contract/requests.ts';
import { parseJson } from '../../../shared/engine/guards/canonical.ts';
import { compareCalls } from '../../../shared/engine/guards/compare.ts';
import { differencesOf } from '../../../shared/engine/guards/differences.ts';
import { readRaw } from '../../../shared/engine/guards/raw-json.ts';
import { guardHandlers } from '../../../shared/node/agent/guard-handlers.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function compared(first: string, second: string, more: { ignored?: string[]; results?: [string, string] } = {}) {
  const call = (args: string, result: string | undefined) => ({ tool: 'read', args, result: result ?? null });
  const asked = {
    first: call(first, more.results?.[0]),
    second: call(second, more.results?.[1]),
    ignoredFields: more.ignored ?? [],
  };
  return guardComparisonSchema.parse(compareCalls(asked, sha256));
}

const cases: [string, GuardComparison['sameCall'], string, string, string][] = [
  ['key order', true, '{"a":1,"b":2}', '{"b":2,"a":1}', 'key order differs: no matter'],
  ['nested key order', true, '{"o":{"a":1,"b":2}}', '{"o":{"b":2,"a":1}}', 'o: key order differs: no matter'],
  ['number forms', true, '{"n":1.0}', '{"n":1}', 'n: 1.0 and 1 are the same number'],
  ['an exponent', true, '{"n":1e3}', '{"n":1000}', 'n: 1e3 and 1000 are the same number'],
  ['zero below zero', true, '{"n":-0}', '{"n":0}', 'n: -0 and 0 are the same number'],
  [
    'more digits than a number has',
    true,
    '[0.1]',
    '[0.10000000000000000001]',
    '[0]: 0.1 and 0.10000000000000000001 look the same: a number keeps about 16 digits',
  ],
  ['other numbers', false, '{"n":1}', '{"n":2}', 'n: 1 and 2 are different numbers'],
  [
    'composed and decomposed',
    false,
    '{"q":"café"}',
    '{"q":"cafe\u0301"}',
    'q: "café" composed, then decomposed: different texts',
  ],
  [
    'case',
    false,
    '{"q":"Paris"}',
    '{"q":"paris"}',
    'q: "Paris" and "paris" differ in upper and lower case: different texts',
  ],
  [
    'space at the end',
    false,
    '{"q":"a"}',
    '{"q":"a "}',
    'q: "a" and "a " differ in space at the ends: different texts',
  ],
  ['an escape', true, '{"q":"A"}', '{"q":"\\u0041"}', 'q: "A" and "\\u0041" are the same text, escaped differently'],
  [
    'an escaped key',
    true,
    '{"q":1}',
    '{"\\u0071":1}',
    '"q" and "\\u0071" are the same key, escaped differently: no matter',
  ],
  ['a number as a text', false, '{"n":1}', '{"n":"1"}', 'n: 1 and "1" are different: a number and a text'],
  ['null and absent', false, '{"n":null}', '{}', 'n: only in the first call: null is not the same as absent'],
  ['one more field', false, '{}', '{"n":1}', 'n: only in the second call'],
  ['list order', false, '{"l":[1,2]}', '{"l":[2,1]}', 'l: the same entries in another order: order counts in a list'],
  ['list length', false, '[1]', '[1,2]', 'arguments: lists of 1 and 2 entries are different'],
  ['space between the parts', true, '{"a":1}', '{ "a" : 1 }\n', 'only space differs: no matter'],
  ['the same text', true, '{"a":1}', '{"a":1}', 'the two are written in the same way'],
  [
    'big numbers that look alike',
    true,
    '{"id":9007199254740993}',
    '{"id":9007199254740992}',
    'first call: 9007199254740993 loses digits: may look like another, so the gateway refuses it. Send it as a text',
  ],
  ['keys of every object', false, '{"__proto__":1}', '{"constructor":1}', '__proto__: only in the first call'],
];

describe('reasons', () => {
  test.each(cases)('%s', (_, same, first, second, reason) => {
    const result = compared(first, second);
    expect(result.sameCall).toBe(same);
    expect(result.reasons).toContain(reason);
    expect(compared(second, first).sameCall).toBe(same);
  });

  test('an ignored field is said and does not count, at the top only', () => {
    const result = compared('{"q":"x","cursor":"p1"}', '{"q":"x","cursor":"p2"}', { ignored: ['cursor', 'cursor'] });
    expect(result).toMatchObject({ sameCall: true, reasons: ['field cursor is ignored'] });
    expect(result.first.canonical).toBe('{"args":{"q":"x"},"tool":"read"}');
    const nested = compared('{"o":{"cursor":1}}', '{"o":{"cursor":2}}', { ignored: ['cursor'] });
    expect(nested).toMatchObject({ sameCall: false, reasons: ['o.cursor: 1 and 2 are different numbers'] });
  });

  test('another tool is another call whatever the arguments', () => {
    const call = { args: '', result: null };
    const result = compareCalls(
      { first: { tool: 'read', ...call }, second: { tool: 'fetch', ...call }, ignoredFields: [] },
      sha256,
    );
    expect(result).toMatchObject({ sameCall: false, reasons: ['read and fetch are different tools'] });
  });

  test('fingerprint and state are those of the guards: the published forms', () => {
    const { first } = compared('{"b":1,"a":2}', '{}', { results: ['{"ok":1.0}', 'x'] });
    expect(first.fingerprint).toBe(sha256('{"args":{"a":2,"b":1},"tool":"read"}'));
    expect(first.stateHash).toBe(sha256('{"args":{"a":2,"b":1},"result":{"ok":1},"tool":"read"}'));
  });

  test('there is a bound to how much is said, and what is left out is counted', () => {
    const object = (from: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, from + index])));
    const { reasons } = compared(object(0), object(100));
    expect(reasons).toHaveLength(21);
    expect(reasons.at(-1)).toBe('and 10 more that are different');
    const long = compared(`{"q":"${'a'.repeat(5_000)}x"}`, `{"q":"${'a'.repeat(5_000)}y"}`);
    expect(long.reasons).toEqual(['q: "…aaaaaaaaaax" and "…aaaaaaaaaay" are different texts']);
  });
});

describe('faults', () => {
  test.each([
    ['{"a":1,"a":2}', 'duplicate key a at line 1, column 8'],
    ['{"a":1,\n "\\u0061":2}', 'duplicate key a at line 2, column 2'],
    ['{"a\\"b":1,"a\\"b":2}', 'duplicate key "a\\"b" at line 1, column 11'],
    ['{"a":"\\ud800"}', 'a text with half of a character pair at line 1, column 6'],
    ['[1e400]', 'a number too large to be read at line 1, column 2'],
    ['{"a":', 'no JSON: the text ends too early, at line 1, column 6'],
    ['{a:1}', 'no JSON at line 1, column 2'],
    [`${'['.repeat(600)}${']'.repeat(600)}`, 'nested more than 512 levels at line 1, column 514'],
  ])('%s', (text, fault) => {
    const result = compared(text, '{}');
    expect(result.first).toEqual({ canonical: null, fingerprint: null, stateHash: null, lossy: false, fault });
    expect(result).toMatchObject({ sameCall: null, sameState: null });
    expect(result.reasons).toEqual([`first call: ${fault}: refused, it never runs`]);
    expect(compared(text, text).reasons).toEqual([`both calls: ${fault}: refused, it never runs`]);
  });
});

describe('results', () => {
  test('the same call with another result is another state', () => {
    const result = compared('{}', '{}', { results: ['{"done":10}', '{"done":20}'] });
    expect(result).toMatchObject({ sameCall: true, sameState: false });
    expect(result.reasons).toEqual([
      'results differ: another state, same call',
      'in the results, done: 10 and 20 are different numbers',
    ]);
  });

  test('a result that is JSON counts as its value', () => {
    const result = compared('{}', '{}', { results: ['{"a":1,"b":2}', '{"b":2, "a":1.0}'] });
    expect(result).toMatchObject({ sameCall: true, sameState: true });
    expect(result.reasons).toEqual(['results are the same, written differently: no matter']);
  });

  test('one result alone says nothing about states', () => {
    const call = { tool: 'read', args: '{}' };
    const result = compareCalls(
      { first: { ...call, result: 'x' }, second: { ...call, result: null }, ignoredFields: [] },
      sha256,
    );
    expect(result).toMatchObject({ sameCall: true, sameState: null, similarity: null });
    expect(result.reasons).toEqual(['only the first call has a result: states cannot be compared']);
  });

  test('pages that are nearly the same are said to be', () => {
    const page = (word: string): string =>
      Array.from({ length: 600 }, (_, index) => (index === 300 ? word : `w${index}`)).join(' ');
    const result = compared('{"p":1}', '{"p":2}', { results: [page('left'), page('right')] });
    expect(result.similarity).toBeCloseTo(591 / 601, 6);
    expect(result.reasons).toContain('results are nearly the same, 98 % of their phrases: little new text');
    expect(compared('{}', '{}', { results: ['a b c', 'x y z'] }).similarity).toBe(0);
  });
});

describe('any two calls', () => {
  const name = fc.constantFrom('a', 'b', '10', '9', '__proto__', 'é', 'e\u0301', '');
  const { text: anyText } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(
        '"a\\"b"',
        '"\\\\"',
        '"]}"',
        'null',
        'true',
        '0',
        '-0',
        '1',
        '1.0',
        '10e-1',
        '1E2',
        '100',
        '"a"',
        '"\\u0061"',
        '"A"',
        '"é"',
      ),
      fc.constantFrom('9007199254740993', '9007199254740992', '0.1', '0.10', '1e23', '{}', '[]', '"e\u0301"', '""'),
      fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`),
      fc
        .uniqueArray(fc.tuple(name, tie('text')), { maxLength: 3, selector: ([key]) => key })
        .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`),
    ),
  }));

  test('something counts exactly where the fingerprints differ', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.uniqueArray(name, { maxLength: 2 }), (first, second, ignored) => {
        const result = compared(first, second, { ignored });
        const found = differencesOf(readRaw(first).root, readRaw(second).root, { root: 'arguments', ignored });
        expect(found.counting.length === 0).toBe(result.sameCall);
        expect(result.reasons.length).toBeGreaterThan(0);
      }),
      { numRuns: 3_000 },
    );
  });

  test('the raw reader sees the values that the parser sees', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseJson(text);
        expect(parsed.ok && parsed.value).toEqual(readRaw(text).root.json);
        expect(parsed.ok && parsed.lossy).toBe(readRaw(text).lossy.length > 0);
      }),
    );
  });

  test('no text breaks it: always an answer that the contract takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 40 }), (first, second) => {
        expect(() => compared(first, second, { results: [second, first] })).not.toThrow();
        expect(() => compared(`{"a":${first}`, `["${second}"]`)).not.toThrow();
      }),
    );
  });

  test('all golden vectors: same as, different from, refused', () => {
    const { vectors } = JSON.parse(readFileSync(new URL('../../golden/state_hash.json', import.meta.url), 'utf8')) as {
      vectors: { name: string; input: string; error?: string; sameAs?: string; differsFrom?: string }[];
    };
    let pairs = 0;
    for (const vector of vectors) {
      const other = vectors.find((each) => each.name === (vector.sameAs ?? vector.differsFrom));
      if (vector.error !== undefined) expect(compared(vector.input, '{}').first.fault).not.toBeNull();
      if (other === undefined) continue;
      expect(compared(vector.input, other.input).sameCall).toBe(vector.sameAs !== undefined);
      pairs += 1;
    }
    expect(pairs).toBeGreaterThan(5);
  });
});

test('the request answers what the contract says, also for a megabyte', () => {
  const big = `{"list":[${Array.from({ length: 100_000 }, (_, index) => index).join(',')}]}`;
  const params = requests['guard.compare'].params.parse({
    first: { tool: 'read', args: big, result: null },
    second: { tool: 'read', args: big.replace('[0,', '[ 0,'), result: null },
  });
  const answer = guardHandlers()['guard.compare'](params);
  expect(answer.ok && requests['guard.compare'].result.parse(answer.value).sameCall).toBe(true);
});

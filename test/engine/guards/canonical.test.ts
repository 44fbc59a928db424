import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, canonicalText, parseJson, plainOf } from '../../../shared/engine/guards/canonical.ts';
import { callFingerprint, canonicalCall, resultValue, stateHash } from '../../../shared/engine/guards/fingerprint.ts';
import { sha256 } from '../agent/harness.ts';

interface Vector {
  name: string;
  input: string;
  canonical?: string;
  sha256?: string;
  error?: string;
  sameAs?: string;
  differsFrom?: string;
  lossy?: boolean;
}
const golden = JSON.parse(readFileSync(new URL('../../golden/state_hash.json', import.meta.url), 'utf8')) as {
  numbers: { ieee754: string; text: string }[];
  vectors: Vector[];
};

const valueOf = (text: string): Json => {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`${parsed.fault} in ${text.slice(0, 200)}`);
  return parsed.value;
};

describe('golden', () => {
  test('all are there', () => {
    expect(golden.vectors).toHaveLength(42);
    expect(golden.numbers).toHaveLength(24);
  });

  test.each(golden.vectors)('$name', (vector) => {
    const parsed = parseJson(vector.input);
    if (!parsed.ok || vector.error !== undefined) {
      expect(parsed).toMatchObject({ ok: false, fault: vector.error });
      return;
    }
    expect(canonicalText(parsed.value)).toBe(vector.canonical);
    expect(sha256(canonicalText(parsed.value))).toBe(vector.sha256);
    expect(parsed.lossy).toBe(vector.lossy ?? false);
    const other = golden.vectors.find(({ name }) => name === (vector.sameAs ?? vector.differsFrom));
    if (vector.sameAs !== undefined) expect(vector.sha256).toBe(other?.sha256);
    if (vector.differsFrom !== undefined) expect(vector.sha256).not.toBe(other?.sha256);
  });

  test.each(golden.numbers)('$ieee754 is $text', ({ ieee754, text }) => {
    const number = Buffer.from(ieee754, 'hex').readDoubleBE();
    expect(canonicalText(number)).toBe(text);
    if (!Object.is(number, -0)) expect(valueOf(text)).toBe(number);
  });
});

describe('any value', () => {
  /** With the parts of a text that parsers get wrong: keys like numbers, like members of every object, escapes, emoji. */
  const key = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('__proto__', 'constructor', 'toString', '10', '9', '', '\u20ac', '\ufb33', '\u{1f600}', 'é', 'é'),
  );
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.array(tie('any'), { maxLength: 5 }),
      fc.array(fc.tuple(key, tie('any')), { maxLength: 5 }).map((entries) => {
        const object = Object.create(null) as Record<string, unknown>;
        for (const [name, item] of entries)
          Object.defineProperty(object, name, { value: item, enumerable: true, configurable: true, writable: true });
        return object;
      }),
    ),
  })).any;

  /** Written from the standard, by other means than the code: code units as padded hex, numbers by JSON.stringify. */
  function reference(any: unknown): string {
    if (Array.isArray(any)) return `[${any.map(reference).join()}]`;
    if (typeof any !== 'object' || any === null) return JSON.stringify(any);
    const unitsOf = (text: string): string =>
      text
        .split('')
        .map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
        .join('');
    const fields = Object.getOwnPropertyNames(any).map((name) => [unitsOf(name), name] as const);
    fields.sort(([a], [b]) => Number(a > b) - Number(a < b));
    return `{${fields
      .map(([, name]) => `${JSON.stringify(name)}:${reference(Object.getOwnPropertyDescriptor(any, name)?.value)}`)
      .join()}}`;
  }

  /** The same value in another writing: keys in another order, space between, escapes for letters, other forms of numbers. */
  function rewritten(any: unknown, random: () => number): string {
    const space = (): string => ['', ' ', '\n', '\t\r '][Math.floor(random() * 4)] ?? '';
    const text = (one: string): string =>
      `"${[...one]
        .map((character) => {
          if (random() < 0.5) return JSON.stringify(character).slice(1, -1);
          return character
            .split('')
            .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
            .join('');
        })
        .join('')}"`;
    if (typeof any === 'string') return text(any);
    if (typeof any === 'number') {
      const [digits = '', exponent] = any.toExponential().split('e');
      return random() < 0.5 ? JSON.stringify(any) : `${digits}${random() < 0.5 ? 'E' : 'e'}${exponent}`;
    }
    if (Array.isArray(any))
      return `[${space()}${any.map((one) => rewritten(one, random)).join(`${space()},${space()}`)}${space()}]`;
    if (typeof any !== 'object' || any === null) return String(any);
    const names = Object.getOwnPropertyNames(any).sort(() => random() - 0.5);
    return `{${space()}${names
      .map((name) => {
        const item: unknown = Object.getOwnPropertyDescriptor(any, name)?.value;
        return `${text(name)}${space()}:${space()}${rewritten(item, random)}`;
      })
      .join(`${space()},${space()}`)}}`;
  }

  test('is written as the standard says, however it was written before', () => {
    fc.assert(
      fc.property(value, fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (any, stream) => {
        const random = (): number => stream.next().value ?? 0;
        const want = reference(any);
        expect(canonicalText(valueOf(rewritten(any, random)))).toBe(want);
        // It is its own canonical form, and the same value as it was.
        expect(canonicalText(valueOf(want))).toBe(want);
        expect(reference(plainOf(valueOf(want)))).toBe(want);
      }),
      { numRuns: 300 },
    );
  });

  test('no text makes the reader throw, and what it takes JSON.parse takes as well', () => {
    const near = fc.tuple(value, fc.nat(), fc.string({ unit: 'binary', maxLength: 2 })).map(([any, at, put]) => {
      const text = JSON.stringify(any);
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + put + text.slice(cut + 1);
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: 'binary' })), (text) => {
        const parsed = parseJson(text);
        let theirs: unknown;
        try {
          theirs = { value: JSON.parse(text) as unknown };
        } catch {
          theirs = null;
        }
        if (parsed.ok) expect(theirs).not.toBeNull();
        else if (parsed.fault === 'NOT_JSON') expect(theirs).toBeNull();
      }),
      { numRuns: 500 },
    );
  });
});

test('long and deep texts are read, or refused, but never break the reader', () => {
  const long = 'a\\n'.repeat(2_000_000);
  expect(valueOf(`"${long}"`)).toHaveLength(4_000_000);
  expect(parseJson(`"${'x'.repeat(10_000_000)}`)).toMatchObject({ ok: false, fault: 'NOT_JSON' });
  expect(parseJson('['.repeat(100_000))).toMatchObject({ ok: false, fault: 'TOO_DEEP' });
  expect(parseJson(`${'['.repeat(500)}${']'.repeat(500)}`).ok).toBe(true);
});

describe('fingerprints', () => {
  const call = (text: string): { tool: string; args: Json } => ({ tool: 't', args: valueOf(text) });

  test('of a call and of a state are hashes of their canonical envelopes', () => {
    const one = call('{"b":1,"a":[2]}');
    expect(canonicalCall(one, [])).toBe('{"args":{"a":[2],"b":1},"tool":"t"}');
    expect(callFingerprint(one, [], sha256)).toBe(sha256('{"args":{"a":[2],"b":1},"tool":"t"}'));
    expect(stateHash(one, '{"z":1, "y":2}', [], sha256)).toBe(
      sha256('{"args":{"a":[2],"b":1},"result":{"y":2,"z":1},"tool":"t"}'),
    );
    expect(stateHash(one, 'no json', [], sha256)).toBe(
      sha256('{"args":{"a":[2],"b":1},"result":"no json","tool":"t"}'),
    );
  });

  test('ignored fields count at the top level only, and only for what is named', () => {
    const hash = (text: string): string => callFingerprint(call(text), ['cursor', 'timeout'], sha256);
    expect(hash('{"q":1,"cursor":"a","timeout":5}')).toBe(hash('{"q":1,"cursor":"b"}'));
    expect(hash('{"q":1,"cursor":"a"}')).not.toBe(hash('{"q":2,"cursor":"a"}'));
    expect(hash('{"q":{"cursor":"a"}}')).not.toBe(hash('{"q":{"cursor":"b"}}'));
    expect(hash('["cursor"]')).not.toBe(hash('["timeout"]'));
  });

  test('a result with half a character is hashed as its repaired text', () => {
    expect(resultValue('\ud800')).toBe('\ufffd');
    expect(resultValue('"\\ud800"')).toBe('"\\ud800"');
  });
});

test.each([
  ['9007199254740991', false],
  ['9007199254740992', false],
  ['9007199254740993', true],
  ['-9007199254740993', true],
  ['1000000000000000000000000', false],
  ['1000000000000000000000001', true],
  ['-1230000000000000000000000000', false],
  ['1e30', false],
  ['0.1', false],
])('whether digits of %s are lost: %s', (text, lossy) => {
  expect(parseJson(text)).toMatchObject({ ok: true, lossy });
  expect(parseJson(`{"a":[${text}, 1]}`)).toMatchObject({ ok: true, lossy });
});

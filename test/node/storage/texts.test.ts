import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { migrate } from '../../../shared/node/storage/migrations.ts';
import { createStatements } from '../../../shared/node/storage/statements.ts';
import { createTexts, piecesOf } from '../../../shared/node/storage/texts.ts';
import type { Texts } from '../../../shared/node/storage/texts.ts';

function fresh(): { texts: Texts; count(sql: string): number; run(sql: string): void } {
  const database = new BetterSqlite3(':memory:');
  migrate(database);
  return {
    texts: createTexts(createStatements(database)),
    count: (sql) => Number(database.prepare(sql).pluck().get()),
    run: (sql) => void database.exec(sql),
  };
}

/** Prose without a period, so that pieces end where the content says so. */
function prose(characters: number): string {
  let state = 7;
  let text = '';
  while (text.length < characters) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text +=
      ['policy ', 'refund ', 'window ', 'éclair ', 'the ', 'of ', 'two.\n', '漢字 '][state >>> 29]! +
      (state >>> 20) +
      ' ';
  }
  return text.slice(0, characters);
}

test('pieces join to the text, stay in their bounds, and never part a pair of surrogates', () => {
  const units = fc.string({ unit: fc.constantFrom('a', 'b ', '😀', '\ud83d', '\ude00', '漢', '\n'), maxLength: 200 });
  fc.assert(
    fc.property(fc.array(units, { maxLength: 20 }), fc.integer({ min: 1, max: 200 }), (parts, times) => {
      const text = parts.join('').repeat(times);
      const pieces = [...piecesOf(text)];
      expect(pieces.join('')).toBe(text);
      for (const [index, piece] of pieces.entries()) {
        if (index < pieces.length - 1) expect(piece.length).toBeGreaterThanOrEqual(2_000);
        expect(piece.length).toBeLessThanOrEqual(64_001);
        const parted = /[\ud800-\udbff]$/.test(piece) && /^[\udc00-\udfff]/.test(pieces[index + 1] ?? '');
        expect(parted).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});

test('a pair of surrogates on the longest boundary goes into one piece', () => {
  const [first] = piecesOf(`a${'😀'.repeat(40_000)}`);
  expect(first).toHaveLength(64_001);
});

test('500 prompts with a needle at different places cost little more than one document', () => {
  const { texts, count } = fresh();
  const document = prose(120_000);
  texts.put(document);
  const bytesOfOne = count('SELECT sum(length(bytes)) FROM pieces');
  const prompts = Array.from({ length: 500 }, (_, index) => {
    const at = Math.floor((document.length * index) / 500);
    return `${document.slice(0, at)}The code is KIWI-${index}.${document.slice(at)}`;
  });
  const ids = prompts.map((prompt) => texts.put(prompt));
  expect(texts.get(ids[250]!)).toBe(prompts[250]);
  // Each prompt adds the piece that holds its needle, at most two of about fifteen.
  expect(count('SELECT sum(length(bytes)) FROM pieces') / bytesOfOne).toBeLessThan(500 / 5);
  expect(count('SELECT count(*) FROM pieces')).toBeLessThan(500 * 2.5);
});

test('a repeated prompt costs nothing more', () => {
  const { texts, count } = fresh();
  const id = texts.put(prose(120_000));
  const pieces = count('SELECT count(*) FROM pieces');
  expect(texts.put(prose(120_000))).toBe(id);
  expect(count('SELECT count(*) FROM pieces')).toBe(pieces);
});

test('a text that nothing uses is removed with its own pieces only', () => {
  const { texts, count } = fresh();
  const kept = texts.put(prose(50_000));
  const extra = texts.put(`${prose(50_000)} and a different end`);
  const before = count('SELECT count(*) FROM pieces');
  texts.removeUnused([extra]);
  expect(count('SELECT count(*) FROM pieces')).toBeLessThan(before);
  expect(texts.get(kept)).toBe(prose(50_000));
  texts.removeUnused([kept]);
  expect(count('SELECT (SELECT count(*) FROM pieces) + (SELECT count(*) FROM texts)')).toBe(0);
});

test('bytes that changed on the disk are noticed, never handed out', () => {
  const { texts, run } = fresh();
  const id = texts.put(prose(5_000));
  const other = texts.put('short and sound');
  run('UPDATE text_pieces SET piece_id = (SELECT max(id) FROM pieces) WHERE position = 0');
  expect(() => texts.get(id)).toThrow('not what was stored');
  expect(texts.get(other)).toBe('short and sound');
  run("UPDATE pieces SET bytes = x'00112233'");
  expect(() => texts.get(other)).toThrow('not what was stored');
});

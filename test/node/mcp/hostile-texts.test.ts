/** Names, results and process tables from outside: whatever they are, what comes out has a known form. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBlobFolder } from '../../../shared/node/agent/blob-folder.ts';
import { createLines } from '../../../shared/node/mcp/lines.ts';
import { parsePs } from '../../../shared/node/mcp/process-family.ts';
import { resultText, storedText } from '../../../shared/node/mcp/results.ts';
import { lineOf } from '../../../shared/node/mcp/texts.ts';
import { gatewayName } from '../../../shared/node/mcp/tools.ts';
import { freshFolder } from './servers.ts';

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('\n', '\u202e', '\ud800', '.', '_', 'ß'), fc.string()),
  maxLength: 150,
});

test('a name has the letters that models take, one dot after the server, and no more than 64 of them', () => {
  fc.assert(
    fc.property(anyText, anyText, (server, tool) => {
      expect(gatewayName(server, tool)).toMatch(/^(?=.{1,64}$)[A-Za-z0-9_-]*\.[A-Za-z0-9_.-]*$/);
    }),
  );
  expect(gatewayName('my.files', 'admin.tools/list')).toBe('my_files.admin.tools_list');
});

test('a text in a sentence is one line without signs that are not seen', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, most) => {
      const line = lineOf(text, most);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
      expect(line.isWellFormed()).toBe(true);
      expect(line.length).toBeLessThanOrEqual(most);
    }),
  );
});

test('any result becomes a text', () => {
  const block = fc.oneof(
    fc.anything(),
    fc.record({ type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link'), text: fc.anything() }),
    fc.record({ type: fc.constant('resource'), resource: fc.anything() }),
  );
  const json = fc.record(
    { content: fc.oneof(fc.array(block), fc.anything()), isError: fc.anything(), structuredContent: fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(json, (result) => {
      expect(typeof resultText(result).text).toBe('string');
    }),
  );
});

test('a stored text is the same text, whatever its characters', async () => {
  const blobs = createBlobFolder(freshFolder());
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('a', 'ß', '世', '😀', 'a😀'),
      fc.integer({ min: 1, max: 3 }),
      async (piece, factor) => {
        const text = `x${piece.repeat(factor * 90_000)}`;
        const stored = await storedText(text, blobs);
        expect(stored.bytes).toBe(Buffer.byteLength(text));
        expect(text.startsWith(stored.head)).toBe(true);
        if (stored.handle === null) {
          expect(stored.head).toBe(text);
          return;
        }
        expect(text.endsWith(stored.tail)).toBe(true);
        expect(stored.digest).toHaveLength(64);
        expect((await blobs.read(stored.handle, 0, stored.bytes))?.text).toBe(text);
      },
    ),
    { numRuns: 20 },
  );
});

test('lines are the same however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'ß', '😀', '\r'), maxLength: 20 })),
      fc.integer({ min: 1, max: 7 }),
      (texts, size) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const lines: string[] = [];
        const reader = createLines(1_000, (line) => lines.push(line));
        for (let at = 0; at < bytes.length; at += size) expect(reader.add(bytes.subarray(at, at + size))).toBe(true);
        expect(lines).toEqual(texts.map((text) => text.replace(/\r$/, '')));
      },
    ),
  );
  const reader = createLines(3, () => expect.unreachable());
  expect([reader.add(Buffer.from('abc')), reader.add(Buffer.from('d'))]).toEqual([true, false]);
  expect(createLines(3, () => expect.unreachable()).add(Buffer.from('abcd\n'))).toBe(false);
});

test('a table of processes where there is no /proc', () => {
  expect(
    parsePs(
      '    1     0     1  12345 Mon Nov 30 00:00:01 2026\n  77     1    77   2048 Mon Nov 30 00:00:02 2026\nodd\n',
    ),
  ).toEqual([
    { pid: 1, parent: 0, group: 1, began: 'Mon Nov 30 00:00:01 2026', bytes: 12_641_280 },
    { pid: 77, parent: 1, group: 77, began: 'Mon Nov 30 00:00:02 2026', bytes: 2_097_152 },
  ]);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OUTPUT_HEAD_BYTES } from '../../../shared/engine/gateway/tool.ts';
import { type BlobFolder, createBlobFolder } from '../../../shared/node/agent/blob-folder.ts';

let folder = '';
let blobs: BlobFolder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blobs-'));
  blobs = createBlobFolder(join(folder, 'run'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const TAIL_BYTES = 32_768;

/** Pieces of any sizes: none, single bytes, some as long as the end that is kept, and longer. */
const sizes = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 40_000 }), fc.constantFrom(TAIL_BYTES, 65_536)),
  { minLength: 0, maxLength: 14 },
);

test('what came in pieces is what one piece would be: beginning, end and all of it behind the handle', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.constantFrom(0, 300_000), async (pieces, more) => {
      const lengths = [...pieces, more];
      const total = lengths.reduce((sum, length) => sum + length, 0);
      const whole = Buffer.from(Array.from({ length: total }, (_, at) => 33 + ((at * 31 + (at >> 8)) % 90)));
      const writer = await blobs.writer();
      let at = 0;
      for (const length of lengths) {
        // The source may use its piece again.
        const piece = Buffer.from(whole.subarray(at, at + length));
        expect(await writer.write(piece)).toBe(true);
        piece.fill(0);
        at += length;
      }
      const text = await writer.end();
      expect(text.bytes).toBe(total);
      expect(text.head).toBe(whole.toString('latin1', 0, Math.min(total, OUTPUT_HEAD_BYTES)));
      if (total <= OUTPUT_HEAD_BYTES) {
        expect(text).toMatchObject({ tail: '', handle: null });
        return;
      }
      expect(text.tail).toBe(whole.toString('latin1', total - TAIL_BYTES));
      const page = await blobs.read(text.handle ?? '', total - 100_000, 100_000);
      expect(page).toEqual({ text: whole.toString('latin1', total - 100_000), nextOffset: null, bytes: total });
    }),
    { numRuns: 60 },
  );
});

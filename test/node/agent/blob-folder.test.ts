/** Full outputs behind handles: whole characters, bounds, and handles that are names of nothing else. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../../shared/engine/gateway/tool.ts';
import { createBlobFolder } from '../../../shared/node/agent/blob-folder.ts';
import { freshFolder } from './agent-console.ts';

const fresh = (): string => join(freshFolder(), 'run');

describe('a text in memory', () => {
  test('comes back in pages of whole characters, whatever it is and however they are cut', async () => {
    const blobs = createBlobFolder(fresh());
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        fc.integer({ min: 1, max: 40 }),
        async (text, size) => {
          const whole = text.toWellFormed();
          const handle = await blobs.put(textOf(whole));
          let read = '';
          let offset: number | null = 0;
          for (let pages = 0; offset !== null; pages += 1) {
            expect(pages).toBeLessThanOrEqual(Buffer.byteLength(whole) + 1);
            const page: Awaited<ReturnType<typeof blobs.read>> = await blobs.read(handle, offset, Math.max(4, size));
            if (page === null) throw new Error('it is there');
            expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(Math.max(4, size));
            expect(page.bytes).toBe(Buffer.byteLength(whole));
            read += page.text;
            offset = page.nextOffset;
          }
          expect(read).toBe(whole);
        },
      ),
    );
  });

  test('offsets that are beyond it are its end', async () => {
    const blobs = createBlobFolder(fresh());
    const handle = await blobs.put(textOf('abc'));
    expect(await blobs.read(handle, 3, 10)).toEqual({ text: '', nextOffset: null, bytes: 3 });
    expect(await blobs.read(handle, 1e15, 10)).toEqual({ text: '', nextOffset: null, bytes: 3 });
  });
});

describe('handles', () => {
  test('are random, and good in their run alone', async () => {
    const [one, other] = [createBlobFolder(fresh()), createBlobFolder(fresh())];
    const handle = await one.put(textOf('secret'));
    expect(handle).toMatch(/^[0-9a-f]{24}$/);
    expect(await one.put(textOf('secret'))).not.toBe(handle);
    expect(await other.read(handle, 0, 10)).toBeNull();
  });

  test('are no paths', async () => {
    const folder = fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, '..', 'other.blob'), 'secret');
    const blobs = createBlobFolder(folder);
    for (const handle of ['../other', '..', '', '/etc/passwd', '__proto__', '\0', '../other.blob']) {
      expect([handle, await blobs.read(handle, 0, 10)]).toEqual([handle, null]);
    }
  });

  test('of a run that goes on after a crash are there still', async () => {
    const folder = fresh();
    const handle = await createBlobFolder(folder).put(textOf('kept'));
    expect(await createBlobFolder(folder).read(handle, 0, 10)).toMatchObject({ text: 'kept' });
  });

  test('and their files are gone with the run; nobody else may read them before', async () => {
    const folder = fresh();
    const blobs = createBlobFolder(folder);
    await blobs.put(textOf('kept'));
    const [file = ''] = readdirSync(folder);
    expect([statSync(folder).mode & 0o777, statSync(join(folder, file)).mode & 0o777]).toEqual([0o700, 0o600]);
    await blobs.remove();
    expect(() => readdirSync(folder)).toThrow();
  });
});

test('no run keeps more than its share, before and after a crash', async () => {
  const folder = fresh();
  const blobs = createBlobFolder(folder, undefined, 10);
  const first = await blobs.put(textOf('12345678'));
  const second = await blobs.put(textOf('12345678'));
  expect([(await blobs.read(first, 0, 99))?.bytes, (await blobs.read(second, 0, 99))?.text]).toEqual([8, '12']);
  const writer = await createBlobFolder(folder, undefined, 10).writer();
  expect(await writer.write(Buffer.from('x'))).toBe(false);
  expect(await writer.end()).toMatchObject({ bytes: 0, head: '' });
});

/**
 * Full tool outputs on disk, one folder for each run. A handle is random and good in its run alone; it never becomes part of a
 * path before it was found among the run's own.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../../engine/gateway/gateway.ts';
import { OUTPUT_HEAD_BYTES, type ToolText } from '../../engine/gateway/tool.ts';

/** A run that would store more than this has its outputs cut, and is told so. */
export const RUN_BLOB_BYTES_MAX = 4 * 1024 ** 3;

export interface BlobWriter {
  /** false: nothing more is kept; the source can stop. */
  write(chunk: Uint8Array): Promise<boolean>;
  /** What is looked at: the beginning and the end in memory, all of it behind the handle. */
  end(): Promise<ToolText>;
}

export interface BlobFolder extends Blobs {
  /** For outputs that come in pieces: they are stored as they come and never stand in memory whole. */
  writer(): Promise<BlobWriter>;
  remove(): Promise<void>;
}

export function createBlobFolder(
  folder: string,
  newHandle: (text: ToolText) => string = randomHandle,
  bytesMax = RUN_BLOB_BYTES_MAX,
): BlobFolder {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A run that goes on after a crash has its outputs still.
  const handles = new Set(readdirSync(folder).flatMap((name) => (name.endsWith('.blob') ? [name.slice(0, -5)] : [])));
  let storedBytes = [...handles].reduce((sum, handle) => sum + statSync(join(folder, `${handle}.blob`)).size, 0);

  const fileOf = (handle: string): string => join(folder, `${handle}.blob`);

  return {
    async put(text) {
      if (text.handle !== null) return text.handle;
      const handle = newHandle(text);
      if (!handles.has(handle)) {
        const whole = Buffer.from(text.head, 'utf8');
        const bytes = whole.subarray(0, Math.max(0, bytesMax - storedBytes));
        storedBytes += bytes.length;
        await writeFile(fileOf(handle), bytes, { mode: 0o600 });
        handles.add(handle);
      }
      return handle;
    },
    async read(handle, offset, pageBytesMax) {
      if (!handles.has(handle)) return null;
      const file = await open(fileOf(handle), 'r');
      try {
        const { size } = await file.stat();
        const buffer = Buffer.alloc(Math.max(0, Math.min(pageBytesMax, size - offset)));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.min(offset, size));
        const whole = wholeCharacters(buffer.subarray(0, bytesRead), offset + bytesRead >= size);
        const nextOffset = offset + whole.end;
        return { text: whole.text, nextOffset: nextOffset >= size ? null : nextOffset, bytes: size };
      } finally {
        await file.close();
      }
    },
    async writer() {
      const handle = randomHandle();
      const file = await open(fileOf(handle), 'w', 0o600);
      let bytes = 0;
      let head = Buffer.alloc(0);
      let tail = Buffer.alloc(0);
      return {
        async write(chunk) {
          const room = bytesMax - storedBytes;
          // Not copied: it is written before this returns, and what stays is taken out of it below.
          const part = chunk.subarray(0, Math.max(0, room));
          // One that writes all of it: a plain write may stop half way.
          await file.appendFile(part);
          storedBytes += part.length;
          bytes += part.length;
          if (head.length < OUTPUT_HEAD_BYTES) {
            head = Buffer.concat([head, part.subarray(0, OUTPUT_HEAD_BYTES - head.length)]);
          }
          const end = part.subarray(-TAIL_BYTES);
          tail = Buffer.concat([tail.subarray(Math.max(0, tail.length + end.length - TAIL_BYTES)), end]);
          return part.length === chunk.length;
        },
        async end() {
          await file.close();
          handles.add(handle);
          const isWhole = bytes <= OUTPUT_HEAD_BYTES;
          const text = wholeCharacters(head, isWhole).text;
          if (isWhole) {
            const whole = { bytes: Buffer.byteLength(text), head: text, tail: '', handle: null };
            // The file says the same; where it was no UTF-8, the text in memory is what is shown and measured.
            await rm(fileOf(handle), { force: true });
            handles.delete(handle);
            return whole;
          }
          return { bytes, head: text, tail: endText(tail), handle };
        },
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const TAIL_BYTES = 32_768;
const randomHandle = (): string => randomBytes(12).toString('hex');

/** Bytes that begin in the middle of a character are left out, as are those of one that goes on after the end. */
function wholeCharacters(bytes: Buffer, isLast: boolean): { readonly text: string; readonly end: number } {
  let end = bytes.length;
  if (!isLast) {
    let back = 1;
    while (back <= 3 && back <= end && ((bytes[end - back] ?? 0) & 0xc0) === 0x80) back += 1;
    const lead = bytes[end - back] ?? 0;
    const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (back <= end && size > back) end -= back;
  }
  return { text: bytes.toString('utf8', 0, end), end: end === 0 && bytes.length > 0 ? bytes.length : end };
}

function endText(bytes: Buffer): string {
  let start = 0;
  while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

/**
 * Bytes in, whole lines out. A line is handed on only with its end: half a line has half a number in it. Bytes are decoded a line
 * at a time, so a letter that was torn between two reads is whole again.
 */

/** Longer lines are dropped whole: those that matter have some 300 bytes. */
export const LINE_BYTES_MAX = 16_384;

export interface LineAssembler {
  /** `at`: place of the first of these bytes. */
  push(bytes: Uint8Array, at: number): void;
  /** The line that has begun: its bytes, and its place. */
  pending(): { readonly bytes: Buffer; readonly at: number } | null;
  /** Drops what has begun, up to the next line end. */
  skipLine(): void;
  /** Drops what has begun; the next byte begins a line. */
  reset(): void;
}

const NEWLINE = 10;

export function createLineAssembler(onLine: (text: string, at: number) => void): LineAssembler {
  let parts: Buffer[] = [];
  let length = 0;
  let startAt = 0;
  let isSkipping = false;

  function keep(bytes: Buffer, at: number): void {
    if (isSkipping || bytes.length === 0) return;
    if (length === 0) startAt = at;
    length += bytes.length;
    if (length > LINE_BYTES_MAX) {
      clear();
      isSkipping = true;
      return;
    }
    // A copy: the reader's buffer is used again.
    parts.push(Buffer.from(bytes));
  }

  function clear(): void {
    parts = [];
    length = 0;
  }

  function end(): void {
    if (!isSkipping && length > 0) {
      const text = Buffer.concat(parts, length).toString('utf8');
      const line = text.endsWith('\r') ? text.slice(0, -1) : text;
      if (line !== '') onLine(line, startAt);
    }
    clear();
    isSkipping = false;
  }

  return {
    push(bytes, at) {
      const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      let from = 0;
      while (from < all.length) {
        const newline = all.indexOf(NEWLINE, from);
        const to = newline < 0 ? all.length : newline;
        keep(withoutNuls(all.subarray(from, to)), at + from);
        if (newline >= 0) end();
        from = to + 1;
      }
    },
    pending: () => (length === 0 || isSkipping ? null : { bytes: Buffer.concat(parts, length), at: startAt }),
    skipLine() {
      clear();
      isSkipping = true;
    },
    reset() {
      clear();
      isSkipping = false;
    },
  };
}

/** A writer that goes on at its old place in a file that was cut to nothing leaves a hole of zeros. */
function withoutNuls(bytes: Buffer): Buffer {
  return bytes.includes(0) ? Buffer.from(bytes.filter((byte) => byte !== 0)) : bytes;
}

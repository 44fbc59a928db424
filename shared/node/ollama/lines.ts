/** Cuts bytes into lines. The cut is at the byte 0x0A, which is never part of a longer UTF-8 character. */

const newline = 0x0a;
const nothing = Buffer.alloc(0);

export interface LineSplitter {
  /** The next whole line with its newline, or null when more bytes are needed. */
  next(): Buffer | null;
  push(bytes: Uint8Array): void;
  /** What stands behind the last newline; empty when nothing does. */
  rest(): Buffer;
  /** Bytes of the line that is not finished. */
  readonly pendingBytes: number;
}

export function createLineSplitter(): LineSplitter {
  // Pieces of the open line; joined once, when it is whole, so that a 16 MB line in 4 KB pieces costs one copy.
  let pieces: Buffer[] = [];
  let piecesBytes = 0;
  let unread: Buffer = nothing;
  let at = 0;
  const keep = (from: number, to: number): void => {
    if (to === from) return;
    pieces.push(unread.subarray(from, to));
    piecesBytes += to - from;
  };
  const join = (): Buffer => {
    const whole = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    piecesBytes = 0;
    return whole;
  };
  const keepRest = (): void => {
    keep(at, unread.byteLength);
    unread = nothing;
    at = 0;
  };
  return {
    push(bytes) {
      keepRest();
      unread = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    next() {
      const end = unread.indexOf(newline, at) + 1;
      if (end === 0) {
        keepRest();
        return null;
      }
      const from = at;
      at = end;
      if (pieces.length === 0) return unread.subarray(from, end);
      keep(from, end);
      return join();
    },
    rest() {
      keepRest();
      return join();
    },
    get pendingBytes() {
      return piecesBytes + unread.byteLength - at;
    },
  };
}

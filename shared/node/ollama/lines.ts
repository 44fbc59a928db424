/** Cuts bytes into lines. The cut is at the byte 0x0A, which is never part of a longer UTF-8 character. */

const newline = 0x0a;

export interface LineSplitter {
  /** The next whole line with its newline, or null when more bytes are needed. */
  next(): Uint8Array | null;
  push(bytes: Uint8Array): void;
  /** What stands behind the last newline; empty when nothing does. */
  rest(): Uint8Array;
  /** Bytes of the line that is not finished. */
  readonly pendingBytes: number;
}

export function createLineSplitter(): LineSplitter {
  // Pieces of the open line; joined once, when it is whole, so that a 16 MB line in 4 KB pieces costs one copy.
  let pieces: Uint8Array[] = [];
  let piecesBytes = 0;
  let unread: Uint8Array = new Uint8Array(0);
  const join = (): Uint8Array => {
    const whole = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    piecesBytes = 0;
    return whole;
  };
  const keep = (piece: Uint8Array): void => {
    if (piece.byteLength === 0) return;
    pieces.push(piece);
    piecesBytes += piece.byteLength;
  };
  return {
    push(bytes) {
      keep(unread);
      unread = bytes;
    },
    next() {
      const at = unread.indexOf(newline);
      if (at < 0) {
        keep(unread);
        unread = new Uint8Array(0);
        return null;
      }
      keep(unread.subarray(0, at + 1));
      unread = unread.subarray(at + 1);
      return join();
    },
    rest() {
      keep(unread);
      unread = new Uint8Array(0);
      return join();
    },
    get pendingBytes() {
      return piecesBytes + unread.byteLength;
    },
  };
}

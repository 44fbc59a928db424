/** Cuts bytes into whole lines. The cut is at the byte 0x0A, which is never part of a longer UTF-8 character. */

const newline = 0x0a;
const nothing = Buffer.alloc(0);

export interface LineSplitter {
  /** All lines that are whole with these bytes, in one piece with their newlines; empty when more bytes are needed. */
  push(bytes: Uint8Array): Buffer;
  /** What stands behind the last newline; empty when nothing does. */
  rest(): Buffer;
  /** Bytes of the line that is not finished. */
  readonly pendingBytes: number;
}

export function createLineSplitter(): LineSplitter {
  // Pieces of the open line; joined once, when it is whole, so that a 16 MB line in 4 KB pieces costs one copy.
  let pieces: Buffer[] = [];
  let piecesBytes = 0;
  const keep = (piece: Buffer): void => {
    if (piece.byteLength === 0) return;
    pieces.push(piece);
    piecesBytes += piece.byteLength;
  };
  const join = (): Buffer => {
    const whole = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    piecesBytes = 0;
    return whole;
  };
  return {
    push(bytes) {
      const part = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const end = part.lastIndexOf(newline) + 1;
      if (end === 0) {
        keep(part);
        return nothing;
      }
      keep(part.subarray(0, end));
      const lines = join();
      keep(part.subarray(end));
      return lines;
    },
    rest: join,
    get pendingBytes() {
      return piecesBytes;
    },
  };
}

/** The first so many lines of a piece that ends with a newline. */
export function firstLines(lines: Buffer, count: number): Buffer {
  let end = 0;
  for (let seen = 0; seen < count; seen += 1) end = lines.indexOf(newline, end) + 1;
  return lines.subarray(0, end);
}

/** The lines in front of the first one that is longer than `limit` bytes; all of them where none is. */
export function linesWithin(lines: Buffer, limit: number): Buffer {
  if (lines.byteLength <= limit) return lines;
  let at = 0;
  while (at < lines.byteLength) {
    const end = lines.indexOf(newline, at) + 1;
    if (end - at > limit) return lines.subarray(0, at);
    at = end;
  }
  return lines;
}

/** Breaks long text into rows of a fixed number of columns, and finds the shaded pieces of a row. Pure and fast. */
export interface Range {
  /** Half-open, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
}

const WORD_LOOK_BACK = 24;

/**
 * Offsets at which rows start, in order; the first is 0 and an empty text has one row. A row ends after a newline, else at
 * the last space within reach, else at the column, never inside a surrogate pair. Wide characters take two columns.
 */
export function rowsOfText(text: string, columns: number): Uint32Array {
  let starts = new Uint32Array(Math.max(16, Math.ceil(text.length / columns) + 64));
  let rowCount = 1;
  const push = (offset: number): void => {
    if (rowCount === starts.length) {
      const larger = new Uint32Array(starts.length * 2);
      larger.set(starts);
      starts = larger;
    }
    starts[rowCount] = offset;
    rowCount += 1;
  };
  let width = 0;
  let rowStart = 0;
  let lastSpace = -1;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 10) {
      if (at + 1 < text.length) push(at + 1);
      rowStart = at + 1;
      width = 0;
      lastSpace = -1;
      continue;
    }
    const unitWidth = columnsOf(unit);
    if (width + unitWidth > columns && at > rowStart && !isTrailing(unit)) {
      const breakAt = lastSpace > rowStart && at - lastSpace <= WORD_LOOK_BACK ? lastSpace + 1 : at;
      push(breakAt);
      rowStart = breakAt;
      width = 0;
      for (let back = breakAt; back < at; back += 1) width += columnsOf(text.charCodeAt(back));
      lastSpace = -1;
    }
    width += unitWidth;
    if (unit === 32) lastSpace = at;
  }
  return starts.slice(0, rowCount);
}

function columnsOf(unit: number): number {
  if (unit < 0x1100) return unit === 9 ? 8 : 1;
  // A pair is two units and two columns wide.
  if (unit >= 0xd800 && unit <= 0xdfff) return 1;
  return unit <= 0x115f || (unit >= 0x2e80 && unit <= 0xfffd) ? 2 : 1;
}

function isTrailing(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

export interface Piece extends Range {
  readonly text: string;
  readonly shaded: boolean;
}

/** The row [from, to) in pieces that are shaded as a whole or not at all; its newline is left out. */
export function shadedPieces(text: string, from: number, to: number, shaded: readonly Range[]): readonly Piece[] {
  const end = to > from && text.charCodeAt(to - 1) === 10 ? to - 1 : to;
  const edges = new Set([from, end]);
  for (const range of shaded) {
    if (range.from > from && range.from < end) edges.add(range.from);
    if (range.to > from && range.to < end) edges.add(range.to);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((start, index) => {
    const stop = sorted[index + 1] ?? end;
    return {
      from: start,
      to: stop,
      text: text.slice(start, stop),
      shaded: shaded.some((range) => range.from <= start && range.to >= stop),
    };
  });
}

import { item } from '../../engine/context-lab/item.ts';

/** The known word that a mistyped one probably meant, or null when none is near. */
export function nearest(written: string, known: readonly string[]): string | null {
  const plain = (word: string): string => word.toLowerCase().replace(/[_-]/g, '');
  const wanted = plain(written).slice(0, WORD_CHARACTERS_MAX);
  let best: { word: string; distance: number } | null = null;
  for (const word of known) {
    const distance = editDistance(wanted, plain(word));
    if (best === null || distance < best.distance) best = { word, distance };
  }
  if (best === null) return null;
  return best.distance <= Math.max(2, Math.floor(best.word.length / 3)) ? best.word : null;
}

const WORD_CHARACTERS_MAX = 60;

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(from: string, to: string): number {
  const width = to.length + 1;
  const table = new Uint16Array((from.length + 1) * width);
  for (let column = 0; column < width; column++) table[column] = column;
  for (let row = 1; row <= from.length; row++) {
    table[row * width] = row;
    for (let column = 1; column < width; column++) {
      const replaced = item(table, (row - 1) * width + column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let least = Math.min(
        replaced,
        item(table, (row - 1) * width + column) + 1,
        item(table, row * width + column - 1) + 1,
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        least = Math.min(least, item(table, (row - 2) * width + column - 2) + 1);
      }
      table[row * width + column] = least;
    }
  }
  return item(table, from.length * width + to.length);
}

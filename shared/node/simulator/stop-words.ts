/** What ends a text before the model does: stop words, and the guard against one token repeated. */

/** Says true when the same piece came more than 30 times in a row; blank pieces at the start count. */
export function repeatGuard(isOn: boolean): (piece: string) => boolean {
  let previous = '';
  let repeats = 0;
  return (piece) => {
    const trimmed = piece.trim();
    repeats = trimmed === previous ? repeats + 1 : 0;
    previous = trimmed;
    return isOn && repeats > repeatsMax;
  };
}

export interface Stopper {
  push(piece: string): { text: string; isStopped: boolean };
  rest(): string;
  isStopped(): boolean;
}

/** Holds back what could become a stop word; the stop word itself is never passed on. */
export function stopWords(words: readonly string[]): Stopper {
  const stops = words.filter((word) => word !== '');
  let held = '';
  let stopped = false;
  return {
    push(piece) {
      if (stops.length === 0) return { text: piece, isStopped: false };
      const text = held + piece;
      const hit = Math.min(
        ...stops.map((word) => text.indexOf(word)).map((at) => (at < 0 ? Number.POSITIVE_INFINITY : at)),
      );
      if (hit !== Number.POSITIVE_INFINITY) {
        stopped = true;
        held = '';
        return { text: text.slice(0, hit), isStopped: true };
      }
      const keep = Math.max(0, ...stops.map((word) => overlap(text, word)));
      held = text.slice(text.length - keep);
      return { text: text.slice(0, text.length - keep), isStopped: false };
    },
    rest: () => held,
    isStopped: () => stopped,
  };
}

/** Length of the longest end of `text` that begins `word`. */
function overlap(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(word.slice(0, length))) return length;
  }
  return 0;
}

const repeatsMax = 30;

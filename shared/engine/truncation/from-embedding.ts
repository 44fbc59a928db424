/** Embeddings: a text over the window loses its end without a word, and several texts are counted as one sum. */
import { type PromptReading, cannotTell, evidence, intact, nothingKnown } from './prompt-reading.ts';
import type { Situation } from './situation.ts';
import { number } from './wording.ts';

export function readEmbedding(situation: Situation): PromptReading {
  const { input, window } = situation;
  const counted = input.reply.promptEvalCount;
  if (counted === null)
    return cannotTell(
      null,
      'none',
      evidence('none', 'limits', 'The reply has no count, so nothing can be said about the text.'),
    );
  if (situation.refusesInstead)
    return intact(
      counted,
      'certain',
      evidence('certain', 'limits', 'truncate was off: a text over the window would have been refused, not cut.'),
    );
  if (window === null)
    return cannotTell(counted, 'none', evidence('none', 'limits', 'The window is not known, so a cut cannot be told.'));
  return input.messages.length === 1 ? readOne(situation, counted, window) : readSeveral(situation, counted, window);
}

/** A cut leaves the window exactly, with its begin and end tokens. */
function readOne(situation: Situation, counted: number, window: number): PromptReading {
  const { low, likely, high } = situation;
  if (counted < window || high <= window) {
    return intact(
      counted,
      'certain',
      evidence('certain', 'cut-size', `A cut would leave ${number(window)} tokens: ${number(counted)} went in whole.`),
    );
  }
  const text = `${number(window)} is the whole window, and about ${number(likely)} tokens were sent: the end of the text was left out.`;
  if (low > counted || likely >= 1.5 * window) return cutToWindow(counted, 'certain', text);
  if (likely >= 1.2 * window) return cutToWindow(counted, 'likely', text);
  return cannotTell(
    counted,
    'possible',
    evidence('possible', 'cut-size', `${number(window)} is the whole window: a longer text would have the same count.`),
  );
}

/** Only the sum is told, so each text is judged by its size. */
function readSeveral(situation: Situation, counted: number, window: number): PromptReading {
  const { messages } = situation.input;
  const over = messages.filter((message) => message.estimate.low > window).length;
  if (over > 0)
    return {
      ...cutToWindow(
        counted,
        'certain',
        `${number(over)} of ${number(messages.length)} texts are over the window of ${number(window)}: their ends were left out.`,
      ),
      headKept: null,
      tailKept: null,
    };
  if (messages.length > 0 && messages.every((message) => message.estimate.high + SPECIAL_TOKENS <= window)) {
    return intact(
      counted,
      'certain',
      evidence('certain', 'estimate', `Each of ${number(messages.length)} texts fits the window of ${number(window)}.`),
    );
  }
  return cannotTell(
    counted,
    'possible',
    evidence('possible', 'estimate', 'Only the sum of all texts is counted: one of them may have been cut.'),
  );
}

/** One at the begin and one at the end of each text. */
const SPECIAL_TOKENS = 2;

function cutToWindow(counted: number, confidence: 'certain' | 'likely', text: string): PromptReading {
  return {
    ...nothingKnown,
    kinds: ['cut-to-window'],
    confidence,
    kept: counted,
    headKept: counted,
    tailKept: 0,
    evidence: [evidence(confidence, 'cut-size', text)],
  };
}

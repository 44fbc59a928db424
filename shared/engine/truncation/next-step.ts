/** The next step after a verdict, in one sentence. */
import type { TruncationKind } from '../../contract/verdicts.ts';
import type { Situation } from './situation.ts';
import { number } from './wording.ts';

export function nextStep(situation: Situation, kinds: readonly TruncationKind[], fits: number | null): string | null {
  const has = (kind: TruncationKind): boolean => kinds.includes(kind);
  if (situation.input.route === 'embed')
    return has('cut-to-window') ? 'Split the text: only its start is in the embedding.' : null;
  const losesPrompt = has('messages-dropped') || has('halved') || has('cut-to-window');
  if (has('refused'))
    return fits === null ? tooLong(situation) : `${withWindow(situation, fits)}: the prompt fits there.`;
  if (losesPrompt) return fits === null ? tooLong(situation) : `${withWindow(situation, fits)}: nothing is lost.`;
  if (has('shifted')) {
    const lower = 'Lower num_predict: the start of the text vanished while the answer was written';
    return fits === null ? `${lower}.` : `${lower}. Or ${lowerFirst(withWindow(situation, fits))}.`;
  }
  if (has('window-full'))
    return fits === null
      ? 'Raise num_ctx, or shorten the prompt: the answer had no room left.'
      : `${withWindow(situation, fits)}: the answer had no room left.`;
  if (situation.input.reply.promptEvalCount === null || !has('unknown')) return null;
  return situation.window === null
    ? 'Set num_ctx, or give the running window: then it can be told.'
    : 'Open the server log, or send it once with truncate off: then it can be told.';
}

/** The OpenAI routes ignore num_ctx wherever it is put. */
function withWindow(situation: Situation, fits: number): string {
  const { route } = situation.input;
  if (route === 'v1-chat' || route === 'v1-other')
    return `Send it to /api/chat with num_ctx ${number(fits)} (this route ignores num_ctx)`;
  return `Send again with num_ctx ${number(fits)}`;
}

function tooLong(situation: Situation): string {
  const { trainedContext, messages, hasUncountedParts, reply } = situation.input;
  // Where the size of the whole is not known, no window was found to be too small for the model.
  const isSizeKnown = reply.needs !== null || (messages.length > 0 && !hasUncountedParts);
  const isAtMost = trainedContext !== null && situation.window !== null && situation.window >= trainedContext;
  return trainedContext === null || !(isSizeKnown || isAtMost)
    ? 'Shorten the text, or raise num_ctx.'
    : `Shorten the text: the model was trained for ${number(trainedContext)} tokens.`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

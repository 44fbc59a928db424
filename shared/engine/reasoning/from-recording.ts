/** The reasoning verdict of a reply that was recorded elsewhere. */
import type { ReasoningVerdict } from '../../contract/verdicts.ts';
import type { Recording } from '../explain/recording.ts';
import type { TruncationInput } from '../truncation/types.ts';
import { createReasoningReader } from './reader.ts';
import { recordedPieces, recordedStructured, recordedThink } from './recorded.ts';

/** question: what was read from request and reply for the truncation verdict; shifts: what that verdict found. */
export function classifyRecorded(
  recording: Pick<Recording, 'requestBody' | 'replyBody'>,
  question: Pick<TruncationInput, 'numPredict' | 'windowRunning' | 'numCtxRequested' | 'shift' | 'reply'>,
  shifts: number | null,
): ReasoningVerdict {
  const body = recording.requestBody ?? {};
  const { pieces } = recordedPieces(recording.replyBody);
  const reader = createReasoningReader({
    think: recordedThink(body),
    numPredict: question.numPredict,
    window: question.windowRunning,
    numCtx: question.numCtxRequested,
    shift: question.shift,
    structured: recordedStructured(body),
  });
  for (const piece of pieces) reader.push(piece);
  return reader.finish(question.reply, shifts);
}

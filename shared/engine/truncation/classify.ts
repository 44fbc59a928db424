/** Says what happened to a prompt, from everything that is known about one call (design, section 4.1). Pure. */
import type { TruncationVerdict } from '../../contract/verdicts.ts';
import type { TruncationInput } from './types.ts';

export function classifyTruncation(input: TruncationInput): TruncationVerdict {
  return {
    kinds: ['unknown'],
    confidence: 'none',
    sent: null,
    kept: input.reply.promptEvalCount as TruncationVerdict['kept'],
    lost: null,
    lostAtLeast: false,
    headKept: null,
    tailKept: null,
    shifts: null,
    needs: null,
    has: null,
    evidence: [],
    next: null,
    fitsNumCtx: null,
  };
}

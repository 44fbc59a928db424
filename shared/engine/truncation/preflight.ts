/** What would happen to a prompt in a window, before it is sent (design, section 4, step 2). */
import type { Message, Policy } from '../../contract/calls.ts';
import type { Estimate, Preflight } from '../../contract/estimates.ts';
import { tokens } from '../../contract/units.ts';
import { type LearnedRatio, type MessagesEstimate, estimateMessages } from '../estimate/estimate.ts';

/**
 * Everything optional or null may be missing: then less is said. sizes: what `estimateMessages` said of these messages, to spare
 * a second pass. counted: prompt tokens the server counted in an earlier, uncut call of the same text.
 */
export interface PreflightInput {
  readonly messages: readonly Message[];
  readonly sizes?: MessagesEstimate | null;
  readonly learned?: LearnedRatio | null;
  readonly counted?: number | null;
  readonly route: 'chat' | 'generate';
  readonly promptPath: 'rendered' | 'native' | 'unknown';
  readonly serverVersion: string | null;
  readonly addsBos: boolean | null;
  readonly window: number | null;
  readonly windowSource: Preflight['windowSource'];
  readonly trained: number | null;
  readonly numPredict: number;
  readonly numKeep: number | null;
  readonly policy: Policy;
  /** Bytes the model took at windows it was seen running in, for the likely memory at the window that fits. */
  readonly memorySeen?: readonly { readonly window: number; readonly bytes: number }[];
}

export function preflight(input: PreflightInput): Preflight {
  const sizes = input.sizes ?? estimateMessages(input.messages, input.learned);
  const estimate: Estimate = sizes.total;
  return {
    estimate,
    parts: { system: tokens(0), history: tokens(0), prompt: estimate.likely },
    window: input.window === null ? null : tokens(input.window),
    windowSource: input.windowSource,
    trained: input.trained === null ? null : tokens(input.trained),
    replyReserve: tokens(input.numPredict),
    outcome: 'unknown',
    expected: 'unknown',
    kept: null,
    lost: null,
    headKept: null,
    tailKept: null,
    lostRanges: [],
    fitsNumCtx: null,
    fitsMemoryBytes: null,
    sentence: 'The window is not known.',
  };
}

/**
 * What a call that has ended is charged (design, section 4, step 7): the server's counts, else what was seen of the reply, else
 * the whole reservation. Nothing is charged for work that was not done, and nothing unknown counts as 0.
 */
import type { Reply } from '../../contract/calls.ts';
import type { Plan } from '../../contract/plans.ts';
import type { Settlement } from './ledger.ts';

export interface EndedCall {
  readonly reply: Pick<Reply, 'ending' | 'abortedBy' | 'status' | 'promptEvalCount' | 'evalCount'>;
  /** The request went out whole; false where the server cannot have worked on it. */
  readonly wasSent: boolean;
  /** Tokens that arrived here: logprob entries where there are any, else chunks. */
  readonly outputTokensSeen: number;
  readonly reservedInputTokens: number;
  readonly reservedOutputTokens: number;
  /** What the prompt is likely to have. */
  readonly inputTokensLikely: number;
  readonly onCancel: Plan['onCancel'];
}

export function settlementOf(call: EndedCall): Settlement {
  const { reply } = call;
  if (reply.ending === 'not-sent') return nothing('void', 'it was never sent');
  // Stopped while it was still on its way out is the same as never reached.
  const mayBeLost = reply.ending === 'unreachable' || reply.ending === 'aborted';
  if (mayBeLost && !call.wasSent && reply.status === null) return nothing('void', 'it never reached the server');
  if (reply.ending === 'refused') return refused(call);
  if (reply.ending === 'done') return used(call, '');
  if (reply.abortedBy === 'thinking-cap') return used(call, 'its thinking was stopped');
  const reason = reasonOf(reply);
  return call.onCancel === 'observed' ? used(call, reason) : forfeited(call, reason);
}

/** A server that says no before it works has used nothing; one that fails may have. */
function refused(call: EndedCall): Settlement {
  const { status } = call.reply;
  if (status === null || (status >= 500 && status !== 503)) {
    const reason = `the server failed${status === null ? '' : ` with status ${status}`}`;
    return call.onCancel === 'observed' ? used(call, reason) : forfeited(call, reason);
  }
  return nothing('settle', `the server refused it with status ${status}`);
}

/**
 * A count of the server stands for itself. Without it the prompt is charged as estimated, and the output as seen; of a reply in
 * which nothing was seen, the whole output allowance, since hidden tokens may have been made.
 */
function used(call: EndedCall, reason: string): Settlement {
  const { promptEvalCount, evalCount, ending } = call.reply;
  const isWhole = ending === 'done';
  const seen = call.outputTokensSeen > 0 || !isWhole ? call.outputTokensSeen : call.reservedOutputTokens;
  return {
    operation: 'settle',
    inputTokens: promptEvalCount ?? (isWhole ? call.reservedInputTokens : call.inputTokensLikely),
    outputTokens: evalCount ?? seen,
    source: promptEvalCount !== null && evalCount !== null ? 'reported' : 'observed',
    reason,
  };
}

function forfeited(call: EndedCall, reason: string): Settlement {
  return {
    operation: 'forfeit',
    inputTokens: call.reservedInputTokens,
    outputTokens: call.reservedOutputTokens,
    source: 'reserved',
    reason,
  };
}

function nothing(operation: 'void' | 'settle', reason: string): Settlement {
  return { operation, inputTokens: 0, outputTokens: 0, source: 'none', reason };
}

function reasonOf({ ending, abortedBy }: EndedCall['reply']): string {
  if (abortedBy === 'timeout') return 'its time was over';
  if (abortedBy === 'shutdown') return 'the console was closed';
  if (ending === 'aborted') return abortedBy === null ? 'the connection broke' : 'it was stopped';
  if (ending === 'unreachable') return 'no answer came';
  if (ending === 'error-line') return 'the server failed in the middle';
  return 'the reply ended without its last line';
}

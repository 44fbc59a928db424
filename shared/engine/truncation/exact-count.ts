/** How a prompt is counted by the server without ever counting one that was cut. */
import type { CallRequest } from '../../contract/calls.ts';
import type { Estimate } from '../../contract/estimates.ts';
import type { TruncationVerdict } from '../../contract/verdicts.ts';
import type { Subject } from '../ports.ts';
import { findRunning } from '../running.ts';
import { atLeast, heedsFlags, parseVersion } from './cut-size.ts';
import { fittingNumCtx } from './fits.ts';

/**
 * The windows to ask in, the cheapest first, each with truncation off; the next one only where the one before told no count. null =
 * num_ctx left out. Empty: no window that is known to hold the prompt, on a server that cuts whatever it is told.
 *
 * A long prompt goes into a window that is too small for it: a server that says the size in its refusal evaluates nothing. A short
 * one goes into the window of the call: it stays loaded, and what was evaluated is found in the cache by the call.
 */
export function countWindows(request: CallRequest, subject: Subject, estimate: Estimate): readonly (number | null)[] {
  const trained = subject.facts?.trainedContext ?? null;
  const fits = fittingNumCtx(estimate.high, 1, trained);
  if (!heedsFlags(subject.serverVersion)) {
    if (request.numCtx !== null && request.numCtx > estimate.high) return [request.numCtx];
    return fits === null ? [] : [fits];
  }
  const small = smallWindow(request, subject, estimate);
  const windows = [...(small === null ? [] : [small]), request.numCtx, ...(fits === null ? [] : [fits])];
  return windows.filter((window, at) => windows.indexOf(window) === at);
}

/** Only a prompt that the server evaluated whole, for certain, was counted. */
export function isCounted(verdict: TruncationVerdict): boolean {
  return (
    verdict.kinds.every((kind) => kind === 'intact' || kind === 'window-full' || kind === 'shifted') &&
    verdict.kinds.includes('intact') &&
    (verdict.confidence === 'exact' || verdict.confidence === 'certain')
  );
}

/** Evaluating fewer tokens than this is sooner done than loading a model again. */
const EVALUATED_MAX = 4_096;
const SMALL = 2_048;

function smallWindow(request: CallRequest, subject: Subject, { low }: Estimate): number | null {
  if (low <= EVALUATED_MAX || !saysSize(subject)) return null;
  if (request.numCtx !== null && request.numCtx < low) return request.numCtx;
  const running = findRunning(subject.running, request.model, subject.digest)?.contextLength ?? null;
  return running !== null && running < low ? running : SMALL;
}

/** The size stands in the refusal since the runner is a server of its own. */
function saysSize({ serverVersion, facts }: Subject): boolean {
  const version = parseVersion(serverVersion);
  const path = facts?.promptPath ?? 'unknown';
  return version !== null && atLeast(version, 0, 30, 0) && path !== 'unknown';
}

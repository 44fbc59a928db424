/** What a run makes of refusals by budgets: some pass by themselves, and some end it. */
import type { Denial } from '../../contract/denials.ts';

/** So many cells in a row for which a period is used up end the run: it can be resumed when there is more. */
export const EXHAUSTED_MAX = 5;
/** Tries of one cell while others hold what it needs. */
export const HELD_ATTEMPTS_MAX = 30;

/** How long to wait before a refusal has passed by itself; null where it does not, or not within about a minute. */
export function passesAfterMs(denial: Denial | null): number | null {
  const budget = denial?.budget;
  if (budget === undefined || budget.kind === 'too-small') return null;
  const retryMs = denial?.retryAfterMs ?? HELD_WAIT_MS;
  if (budget.account.window === 'minute') return retryMs;
  return budget.kind === 'held' ? Math.min(retryMs, HELD_WAIT_MS) : null;
}

export const isExhausted = (denial: Denial | null): boolean =>
  denial?.budget?.kind === 'reached' && denial.budget.account.window !== 'minute';

export function exhaustedDenial({ code, message, budget }: Denial): Denial {
  const hasEnd = budget !== undefined && budget.endsAt !== null;
  const wait = hasEnd ? 'Raise the limit or wait for the period to end' : 'Raise the limit';
  return {
    code,
    message: `${EXHAUSTED_MAX} cells in a row were refused: ${message}`,
    next: `${wait}, then resume the run.`,
  };
}

/** Others give back what they hold when their calls end, mostly long before their holds expire. */
const HELD_WAIT_MS = 2_000;

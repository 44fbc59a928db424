/** The verdicts that --fail-on takes. */
import type { CallSummary } from '../../contract/calls.ts';
import { needleOutcomes, outcomes, truncationKinds } from '../../contract/verdicts.ts';

/** What happened to the prompt, what became of needle and reply, whether think off was obeyed. `none` would be every call without an answer. */
export const failOnNames: readonly string[] = [
  ...new Set([
    ...truncationKinds,
    ...needleOutcomes.filter((name) => name !== 'none'),
    ...outcomes,
    'not-obeyed',
    'suspect',
  ]),
];

/** All verdicts of a call that --fail-on can name. */
export function verdictsOf({ truncation, needle, reasoning }: CallSummary): readonly string[] {
  return [...truncation.kinds, needle, ...(reasoning ? [reasoning.outcome, reasoning.obedience] : [])];
}

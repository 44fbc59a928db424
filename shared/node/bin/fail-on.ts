/** The verdicts that --fail-on takes. */
import { needleOutcomes, truncationKinds } from '../../contract/verdicts.ts';

/** What happened to the prompt, and what became of the needle. `none` would be every call without an answer. */
export const failOnNames: readonly string[] = [...truncationKinds, ...needleOutcomes.filter((name) => name !== 'none')];

/** For the impossible: a broken rule of our own is a bug and stops the call, it is never returned as a refusal. */
export function must(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`Broken rule: ${rule}`);
}

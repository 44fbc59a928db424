/** Dollars as they are typed, kept as whole nano-dollars. Digits are read one by one: nothing is rounded on the way. */

/** `2`, `2.50`, `0.000000001`, `1,000.5`, `$3`. null = empty, NaN = no sum, or one finer than a nano-dollar. */
export function readDollars(text: string): number | null {
  const bare = text.trim().replace(/^\$\s*/u, '');
  if (bare === '') return null;
  const match = /^(\d{1,3}(?:,\d{3})+|\d{0,12})(?:\.(\d*))?$/u.exec(bare);
  if (match === null) return Number.NaN;
  const whole = (match[1] ?? '').replaceAll(',', '');
  const fraction = (match[2] ?? '').replace(/0+$/u, '');
  if ((whole === '' && (match[2] ?? '') === '') || fraction.length > 9) return Number.NaN;
  const value = BigInt(whole === '' ? '0' : whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.NaN : Number(value);
}

/** `0.33.0-rc2` against 0.30.0. A version that cannot be read is null. */
export function isAtLeast(version: string | null, major: number, minor: number, patch: number): boolean | null {
  const match = /^\s*v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(version ?? '');
  if (match === null) return null;
  const parts = [Number(match[1]) - major, Number(match[2]) - minor, Number(match[3] ?? 0) - patch];
  return (parts.find((difference) => difference !== 0) ?? 0) >= 0;
}

/** Numbers as people type them. What cannot be read is a Problem with words for its field; nothing throws. */

/** What could not be read, in words that begin with the field. */
export class Problem {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function readWhole(name: string, text: string): number | Problem {
  const value = readCount(text.trim(), 1_000);
  return value ?? new Problem(`${name}: ${shown(text)} is not a whole number.`);
}

export function readDecimal(name: string, text: string): number | Problem {
  const value = /^\s*\d+([.,]\d+)?(e[+-]?\d+)?\s*$/iu.test(text) ? Number(text.replace(',', '.')) : NaN;
  return Number.isNaN(value) ? new Problem(`${name}: ${shown(text)} is not a number.`) : value;
}

/** 40960, 40,960, 40k, 1.5M; null for anything else. `kilo`: what k stands for. */
export function readCount(text: string, kilo: number): number | null {
  const match = /^(-?\d+(?:,\d{3})*(?:\.\d+)?)([km]?)$/iu.exec(text);
  if (match === null) return null;
  const unit = (match[2] ?? '').toLowerCase();
  const value = Number((match[1] ?? '').replaceAll(',', '')) * (unit === 'k' ? kilo : unit === 'm' ? kilo * kilo : 1);
  return Number.isSafeInteger(Math.round(value)) && Math.abs(value - Math.round(value)) < 1e-6
    ? Math.round(value)
    : null;
}

export function shown(text: string): string {
  const trimmed = text.trim();
  return trimmed === '' ? 'an empty value' : `"${trimmed.length > 24 ? `${trimmed.slice(0, 24)}…` : trimmed}"`;
}

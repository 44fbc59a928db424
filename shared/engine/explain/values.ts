/** Reads fields of JSON from anywhere: each answers with the value or with nothing, never throws, never converts. */

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A count as servers send it: whole, not negative, of a size that sums keep exact. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000 ? value : null;
}

/** An option as servers read it: a fraction is cut off. */
export function wholeOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 1_000_000_000
    ? Math.trunc(value)
    : null;
}

export function yesNoOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** undefined where the text is no JSON, since null is JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

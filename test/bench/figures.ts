/** One measured figure and its limit, taken in the same run. A limit that is passed is shown, it never fails anything. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Upper bound, null = none stated. */
  readonly limit: number | null;
  /** What it was measured beside. */
  readonly beside: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

export function print(figures: readonly Figure[]): void {
  for (const figure of figures) {
    const limit =
      figure.limit === null
        ? ''
        : `  limit ${figure.limit} ${figure.unit}${figure.value > figure.limit ? '  OVER' : ''}`;
    process.stdout.write(
      `${figure.name.padEnd(44)} ${round(figure.value).padStart(10)} ${figure.unit}${limit}  (${figure.beside})\n`,
    );
  }
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

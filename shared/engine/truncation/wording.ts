/** Numbers as sentences show them: 4,096 and 37 %. The same in every locale, since rows and tests compare the text. */
export function number(value: number): string {
  const [whole = '0', part] = String(Math.abs(value)).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${value < 0 ? '−' : ''}${grouped}${part === undefined ? '' : `.${part}`}`;
}

/** Whole per cent of a share, never rounded up to 100 or down to 0 unless it is that. */
export function percentOf(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const share = (part / whole) * 100;
  const rounded = Math.round(share);
  if (rounded === 0 && share > 0) return 'under 1 %';
  if (rounded === 100 && share < 100) return 'over 99 %';
  return `${number(rounded)} %`;
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

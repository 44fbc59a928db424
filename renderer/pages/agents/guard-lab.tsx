import type { ReactElement } from 'react';

/** Two calls beside each other, as the guards see them. */
export function GuardLab(): ReactElement {
  return <section aria-label="Guard lab" />;
}

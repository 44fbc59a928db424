import type { ReactElement } from 'react';

/** The six shapes and the link farm, each without and with the ledger. */
export function BombLab({ onOpenRun }: { onOpenRun(runId: string): void }): ReactElement {
  return <section aria-label="Tool bombs" data-open={typeof onOpenRun} />;
}

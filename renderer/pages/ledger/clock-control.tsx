/** The time the ledger goes by, and for the simulated book the means to move it. A line in the head of the page. */
import type { LedgerState } from '../../../shared/contract/ledger.ts';

export interface ClockControlProps {
  /** As the ledger last said; the control goes on counting from there. */
  readonly state: LedgerState | null;
  /** Zone the time is shown in, such as that of the plan most users have. */
  readonly timeZone?: string;
}

export function ClockControl({ state }: ClockControlProps) {
  return <span>{state?.now ?? '–'}</span>;
}

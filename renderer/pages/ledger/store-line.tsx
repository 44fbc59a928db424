/** Which book, which store and whether it works, and what time the ledger goes by. */
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import { SimulatedTag } from '../../components/chip.tsx';
import { ClockControl } from './clock-control.tsx';
import { storeText } from './words.ts';

export function StoreLine({ ledger }: { readonly ledger: LedgerSlice }) {
  const { state } = ledger;
  if (state === null) return null;
  const works = state.state === 'ready';
  return (
    <div className="flex min-w-0 flex-none items-center gap-3 text-table">
      {state.book === 'simulated' ? (
        <SimulatedTag />
      ) : (
        <span className="text-ink-3 max-[1000px]:hidden">real book</span>
      )}
      <span className="flex items-center gap-1.5 whitespace-nowrap" title={state.problem ?? undefined}>
        <i className={`size-2 flex-none rounded-full ${works ? 'bg-ink-2' : 'border-[1.5px] border-ink-2'}`} />
        {storeText(state)}
      </span>
      <ClockControl state={state} timeZone={mostUsedZone(ledger)} />
    </div>
  );
}

/** What is wrong with the store, over everything else: nothing below is sure while it lasts. */
export function StoreProblem({ ledger }: { readonly ledger: LedgerSlice }) {
  const { state, denial } = ledger;
  const said =
    state !== null && state.state !== 'ready'
      ? { text: state.problem ?? storeText(state), next: state.next }
      : denial !== null
        ? { text: denial.message, next: denial.next ?? null }
        : null;
  if (said === null) return null;
  return (
    <div role="alert" className="flex-none border-b bg-sunk px-6 py-2 shadow-[inset_4px_0_0_var(--ink)] wrap-anywhere">
      <b>{said.text}</b> {said.next}
    </div>
  );
}

/** The zone of most accounts that have one; UTC where there is none. */
function mostUsedZone({ balances }: LedgerSlice): string {
  const counts = new Map<string, number>();
  for (const { timeZone } of balances.values()) counts.set(timeZone, (counts.get(timeZone) ?? 0) + 1);
  let best = 'UTC';
  for (const [zone, times] of counts) if (times > (counts.get(best) ?? 0)) best = zone;
  return best;
}

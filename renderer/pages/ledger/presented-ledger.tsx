/** Presenter mode: the fullest tanks and one sentence, readable from the back of a room. */
import { SimulatedTag } from '../../components/chip.tsx';
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import type { Balance, RefusalLine } from '../../../shared/contract/ledger.ts';
import { useLedgerNow } from './ledger-clock.tsx';
import { outlookOf } from './outlook.ts';
import { Tank } from './tank.tsx';
import { countdown, needSentence } from './words.ts';

const TANKS_PRESENTED_MAX = 3;

export function PresentedLedger({ ledger }: { readonly ledger: LedgerSlice }) {
  const nowMs = useLedgerNow();
  const { balances, reservations } = ledger;
  const line = [...ledger.refusals.values()].at(-1);
  return (
    <main aria-label="Ledger" className="flex h-full min-h-0 min-w-0 flex-col pt-4 pb-2">
      <p className="px-6 text-figure wrap-anywhere text-ink">
        {refusedSentence(line, nowMs) ?? outlookOf(balances, reservations.values()).text}{' '}
        {ledger.state?.book === 'simulated' ? <SimulatedTag /> : null}
      </p>
      <ul aria-label="Budgets" className="@container min-h-0 flex-1 overflow-hidden pt-2">
        {fullest(balances.values()).map((balance) => (
          <Tank
            key={balance.key}
            balance={balance}
            picked={false}
            onPick={() => undefined}
            onGrant={() => undefined}
            presented
          />
        ))}
      </ul>
    </main>
  );
}

/** Those with a limit come first, in a steady order: by how much of it is used. */
export function fullest(balances: Iterable<Balance>): readonly Balance[] {
  const share = ({ limit, spent, held }: Balance): number =>
    limit === null ? -1 : (spent + held) / Math.max(1, limit);
  return [...balances].sort((a, b) => share(b) - share(a)).slice(0, TANKS_PRESENTED_MAX);
}

/** While it counts; null when there is none. */
export function refusedSentence(line: RefusalLine | undefined, nowMs: number | null): string | null {
  const seconds = line?.refusal?.retryAfterSeconds ?? null;
  if (line === undefined || line.refusal === null || nowMs === null || seconds === null) return null;
  const leftMs = Date.parse(line.lastAt) + seconds * 1_000 - nowMs;
  if (leftMs <= 0) return null;
  return `${line.user} is refused for ${countdown(leftMs)}. ${needSentence(line.refusal)}`;
}

/** A call that the ledger or its plan refused: why, by how much, when it can pass, and what to do. */
import type { Denial } from '../../../shared/contract/denials.ts';
import { Badge } from '../../components/badge.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { amountOf } from './payer-left.ts';
import { useLedgerNow } from '../ledger/ledger-clock.tsx';
import { codeText, countdown, needSentence } from '../ledger/words.ts';
import { count } from '../../format/numbers.ts';
import { useEngine } from '../../stores/engine-context.ts';
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import { useNow } from './use-live.ts';

export interface RefusedCallProps {
  readonly denial: Denial;
  readonly model: string;
  /** When it was refused, on the clock of this machine. */
  readonly refusedAtMs: number;
  readonly simulated: boolean;
}

export function RefusedCall({ denial, model, refusedAtMs, simulated }: RefusedCallProps) {
  const { budget } = denial;
  const retryAfterMs =
    budget?.retryAfterSeconds === undefined || budget.retryAfterSeconds === null
      ? (denial.retryAfterMs ?? null)
      : budget.retryAfterSeconds * 1_000;
  return (
    <section
      aria-label="Refused"
      className="c-budget relative flex flex-none flex-col gap-1 bg-sunk py-3 pr-4 pl-5 before:absolute before:inset-y-0 before:left-0 before:w-1 before:bg-(--c)"
    >
      <div className="flex min-w-0 flex-wrap items-center gap-x-2">
        <Badge meaning="budget" severity="stopped" />
        <b className="min-w-0 wrap-anywhere">{titleOf(denial)}</b>
        {simulated ? <SimulatedTag /> : null}
        <span className="mono ml-auto min-w-0 wrap-anywhere">{codeText(denial.code)}</span>
      </div>
      {retryAfterMs === null ? null : (
        <Countdown denial={denial} untilMs={refusedAtMs + retryAfterMs} retryAfterMs={retryAfterMs} />
      )}
      <p role="alert" className="text-ink wrap-anywhere">
        {budget === undefined ? denial.message : needSentence(budget)}
      </p>
      {budget === undefined ? null : (
        <dl className="flex flex-wrap gap-x-5 text-table">
          {(['limit', 'spent', 'held', 'free', 'needed'] as const).map((name) => (
            <div key={name} className="flex items-baseline gap-1.5">
              <dt className="lab">{name}</dt>
              <dd className="font-semibold text-ink">{amountOf(budget[name], budget.account.unit)}</dd>
            </div>
          ))}
        </dl>
      )}
      <p className="wrap-anywhere">
        {denial.next ?? 'Choose another payer, or send less.'}{' '}
        <span className="text-ink-3">Nothing was sent to {model}, nothing is charged.</span>
      </p>
    </section>
  );
}

function titleOf({ budget, code }: Denial): string {
  if (budget !== undefined) return whose(budget.account);
  return code === 'ledger-unavailable' ? 'Refused: the ledger cannot be reached' : 'Refused by the plan';
}

function whose({ scope, name, window }: NonNullable<Denial['budget']>['account']): string {
  return `Refused: ${scope} ${name}, ${window === 'run' ? 'in all' : window}`;
}

interface CountdownProps {
  readonly denial: Denial;
  /** On the clock of this machine, where the ledger's own is not known. */
  readonly untilMs: number;
  readonly retryAfterMs: number;
}

function Countdown({ denial, untilMs, retryAfterMs }: CountdownProps) {
  const nowMs = useNow(true, 500);
  const clockMs = useLedgerNow();
  const ledger = useEngine((state) => state.ledger);
  const ownLeftMs = clockMs === null ? null : leftInLedger(ledger, denial, retryAfterMs, clockMs);
  const leftMs = ownLeftMs ?? untilMs - nowMs;
  const seconds = count(Math.ceil(retryAfterMs / 1_000));
  return (
    <div className="flex flex-wrap items-baseline gap-x-3">
      <span role="timer" className="headline">
        {countdown(leftMs)}
      </span>
      <span className="text-ink">
        {leftMs > 0 ? 'until it can pass.' : 'It can pass now. Send it again.'}{' '}
        <span className="text-ink-2">Retry-After {seconds} s</span>
      </span>
    </div>
  );
}

/** By the ledger's clock, which may be moved: counted from the line the ledger keeps of this very refusal; null without one. */
function leftInLedger(
  ledger: LedgerSlice,
  { code, budget }: Denial,
  retryAfterMs: number,
  clockMs: number,
): number | null {
  if (budget === undefined || ledger.state?.book !== budget.account.book) return null;
  const same = JSON.stringify(budget);
  for (const line of ledger.refusals.values())
    if (line.code === code && line.refusal !== null && JSON.stringify(line.refusal) === same)
      return Date.parse(line.lastAt) + retryAfterMs - clockMs;
  return null;
}

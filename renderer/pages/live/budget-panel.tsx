/** The budget chip of the verdict strip, from held to charged or refused, and the evidence it opens. */
import { Button } from '../../components/button.tsx';
import { BudgetView } from '../../components/budget-view.tsx';
import { Chip } from '../../components/chip.tsx';
import {
  budgetFigure,
  budgetHeadline,
  budgetLabel,
  budgetSeverity,
  isLedgerDenial,
  refusedHeadline,
} from '../../format/budgets.ts';
import { count } from '../../format/numbers.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { Reservation } from '../../../shared/contract/ledger.ts';
import { useEngine } from '../../stores/engine-context.ts';
import { go } from '../../stores/screen-store.ts';
import type { CallView } from './call-view.ts';
import { needSentence } from '../ledger/words.ts';

export interface BudgetChipProps {
  readonly call: CallView;
  readonly on: boolean;
  readonly onPick: () => void;
}

export function BudgetChip({ call, on, onPick }: BudgetChipProps) {
  const hold = useHold(call);
  const { budget, denial } = call;
  const refusal = denial !== null && isLedgerDenial(denial) ? denial : null;
  const chip =
    refusal !== null
      ? ({ severity: 'stopped', label: 'budget · refused', text: refusedHeadline(refusal) } as const)
      : budget !== null
        ? { severity: budgetSeverity(budget), label: `budget · ${budgetLabel(budget)}`, text: budgetFigure(budget) }
        : hold !== null
          ? ({ severity: 'informed', label: 'budget · held', text: `${count(heldTokens(hold))} held` } as const)
          : ({
              severity: 'informed',
              label: 'budget',
              text: call.open ? 'before it is sent' : 'nothing was held',
            } as const);
  return (
    <Chip
      meaning="budget"
      severity={chip.severity}
      label={chip.label}
      text={chip.text}
      waiting={refusal === null && budget === null}
      on={on}
      onPick={onPick}
    />
  );
}

export function BudgetPanel({ call }: { readonly call: CallView }) {
  const hold = useHold(call);
  const { budget, denial } = call;
  if (denial !== null && isLedgerDenial(denial))
    return (
      <>
        <p className="lead">{denial.message}</p>
        {denial.budget === undefined ? null : <p className="text-ink">{needSentence(denial.budget)}</p>}
        <p>{refusedHow(denial)}</p>
        <LedgerLink />
      </>
    );
  if (budget !== null)
    return (
      <div className="flex flex-col gap-2">
        <p className="lead">{budgetHeadline(budget)}</p>
        <BudgetView budget={budget} />
        <LedgerLink />
      </div>
    );
  if (hold !== null)
    return (
      <>
        <p className="lead">{count(heldTokens(hold))} tokens are held until the call ends.</p>
        <p>
          {count(hold.detail.inputTokens)} for the prompt at its pessimistic size, {count(hold.detail.outputTokens)} for
          the answer, in the name of {hold.detail.user}, {hold.detail.tenant}. What is not used is given back.
        </p>
        <LedgerLink />
      </>
    );
  return (
    <p>
      {call.open
        ? 'The worst case is held before the call leaves.'
        : 'Nothing was held: the call never left, or it is older than the ledger.'}
    </p>
  );
}

function refusedHow({ budget, code }: Denial): string {
  if (budget !== undefined) return 'Checked and refused in one step, before anything was sent.';
  return code === 'ledger-unavailable'
    ? 'What may be spent is not known, so nothing leaves. Settings say what happens then.'
    : 'Checked before any budget was touched. Nothing was sent.';
}

function LedgerLink() {
  return (
    <div>
      <Button
        onClick={() => {
          go('ledger');
        }}
      >
        Open the ledger
      </Button>
    </div>
  );
}

const heldTokens = ({ detail }: Reservation): number => detail.inputTokens + detail.outputTokens;

/** The open hold of a call that runs. */
function useHold(call: CallView): Reservation | null {
  return useEngine((state) => {
    if (!call.open) return null;
    for (const hold of state.ledger.reservations.values())
      if (hold.detail.callId === call.id && hold.state === 'open') return hold;
    return null;
  });
}

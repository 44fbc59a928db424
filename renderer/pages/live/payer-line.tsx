/** Who pays, and what is left: one line over the send button. */
import type { Preflight } from '../../../shared/contract/estimates.ts';
import { Badge } from '../../components/badge.tsx';
import { Hint } from '../../components/hint.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import { useDirectoryActions, usePlans } from '../ledger/plans-store.ts';
import { useEffect, useMemo } from 'react';
import { draft, useDraft } from './draft-store.ts';
import { amountOf, leftSentence, payerView, shortBy } from './payer-left.ts';
import type { PayerView } from './payer-left.ts';
import { PayerPicker } from './payer-picker.tsx';

export interface PayerLineProps {
  readonly model: string;
  readonly preflight: Preflight | null;
}

export function PayerLine({ model, preflight }: PayerLineProps) {
  const own = useEngine((state) => state.settings?.payer ?? null);
  const chosen = useDraft((state) => state.payer);
  const payer = chosen ?? own;
  const balances = useEngine((state) => state.ledger.balances);
  const directory = useDirectoryOnce();
  const away = useEngine((state) => awayText(state.ledger));
  const admission = preflight?.admission ?? null;
  const tokens = admission === null ? null : admission.inputTokens + admission.outputTokens;
  const view = useMemo(
    () => (payer === null ? null : payerView(payer, directory, balances.values(), { tokens, model })),
    [payer, directory, balances, tokens, model],
  );
  if (payer === null || view === null) return null;
  return (
    <div className="mb-2 flex min-w-0 items-center gap-2">
      <PayerPicker
        payer={payer}
        own={own ?? payer}
        name={view.name}
        onPayer={(next) => {
          draft.set({ payer: next });
        }}
      />
      <WhatIsLeft view={view} tokens={tokens} denial={admission?.denial ?? null} away={away} />
    </div>
  );
}

interface WhatIsLeftProps {
  readonly view: PayerView;
  readonly tokens: number | null;
  readonly denial: NonNullable<Preflight['admission']>['denial'];
  readonly away: string | null;
}

function WhatIsLeft({ view, tokens, denial, away }: WhatIsLeftProps) {
  const [tightest] = view.left;
  const short = tightest === undefined ? null : shortBy(tightest);
  const warns = away !== null || denial !== null || short !== null;
  const text =
    away !== null
      ? `${away} It would be refused.`
      : denial !== null
        ? [denial.message, denial.next].filter(Boolean).join(' ')
        : tightest === undefined
          ? tokens === null
            ? 'nothing limits this payer'
            : `this call would hold ${amountOf(tokens, 'tokens')}; nothing limits it`
          : `${leftSentence(tightest)}${short === null ? '' : `, ${amountOf(short, tightest.unit)} short: it would be refused`}`;
  const others = view.left.slice(1).map(leftSentence);
  return (
    <Hint text={[text, ...others].join('\n')}>
      <p
        role="status"
        aria-label="What is left"
        tabIndex={0}
        className={`lab flex min-w-0 flex-1 items-center gap-1.5 ${warns ? 'text-ink!' : ''}`}
      >
        {warns ? <Badge meaning="budget" severity="stopped" size="small" /> : null}
        <span className="line-clamp-2 wrap-anywhere">{text}</span>
      </p>
    </Hint>
  );
}

/** Why no call may leave, where the ledger cannot be reached; null where it can. */
function awayText({ state, denial }: LedgerSlice): string | null {
  if (denial?.code === 'ledger-unavailable') return denial.message;
  return state?.state === 'unavailable' ? (state.problem ?? 'The ledger cannot be reached.') : null;
}

/** Read when the page opens, unless it is there; the picker reads it again. */
function useDirectoryOnce() {
  const { load } = useDirectoryActions();
  const loaded = useEngine((state) => state.loaded);
  const wanted = useEngine((state) => state.ledger.viewsWanted);
  useEffect(() => {
    if (loaded) void load();
    // A change of plans makes the ledger's view wanted; the limits here are then to be read again.
  }, [loaded, load, wanted]);
  return usePlans((state) => state.view?.directory ?? null);
}

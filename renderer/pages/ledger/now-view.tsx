/** What is spent, held and free right now; under it the storm. */
import { useCallback, useMemo, useState } from 'react';
import type { Balance } from '../../../shared/contract/ledger.ts';
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import { accountKey } from '../../../shared/contract/ledger.ts';
import { go } from '../../stores/screen-store.ts';
import { AlertList } from './alert-list.tsx';
import { BalancePane } from './balance-pane.tsx';
import { FirstSteps } from './first-steps.tsx';
import { HoldList, useHoldRows } from './hold-list.tsx';
import { HoldPane, RefusalPane } from './hold-pane.tsx';
import { useLedgerNow } from './ledger-clock.tsx';
import { outlookOf } from './outlook.ts';
import { RefusalCard } from './refusal-card.tsx';
import { StormPanel } from './storm-panel.tsx';
import { TankList } from './tank-list.tsx';
import { conservationText, isUntouched, tankGroups } from './tank-model.ts';
import { useFoundAccounts } from './use-found-accounts.ts';
import { journalFilter } from './use-journal.ts';

export interface NowViewProps {
  readonly ledger: LedgerSlice;
  readonly onGrant: (balance: Balance) => void;
}

type Pick = { readonly what: 'balance' | 'row'; readonly key: string };

export function NowView({ ledger, onGrant }: NowViewProps) {
  const [search, setSearch] = useState('');
  const { balances, isAsking } = useFoundAccounts(ledger.balances, search);
  const [pick, setPick] = useState<Pick | null>(null);
  const holds = useHoldRows(ledger);
  const pickBalance = useCallback((key: string) => setPick({ what: 'balance', key }), []);
  const pickRow = useCallback((key: string) => setPick({ what: 'row', key }), []);
  const fresh = ledger.reservations.size + ledger.refusals.size === 0 && [...balances.values()].every(isUntouched);
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <div className="@container flex min-h-0 min-w-0 flex-1 flex-col overflow-auto">
        <div className="grid min-h-[440px] min-w-0 flex-1 grid-cols-1 @min-[680px]:grid-cols-[minmax(0,1fr)_minmax(368px,min(40%,560px))] @min-[680px]:grid-rows-[minmax(0,1fr)]">
          <section
            aria-label="Budgets"
            className="@container flex min-h-0 min-w-0 flex-col pt-2 @max-[680px]:h-[420px]"
          >
            <h2 className="flex-none px-6 pb-1 font-semibold text-ink">
              Budgets <span className="lab font-normal">free = limit − spent − held</span>
            </h2>
            <TankList
              balances={balances}
              isKnown={ledger.loaded}
              search={search}
              isAsking={isAsking}
              onSearch={setSearch}
              picked={pick?.what === 'balance' ? pick.key : null}
              onPick={pickBalance}
              onGrant={onGrant}
            />
            <OutlookLine ledger={ledger} />
          </section>
          <div className="flex min-h-0 min-w-0 flex-col border-l @max-[680px]:h-[420px] @max-[680px]:border-t @max-[680px]:border-l-0">
            <NewestRefusal ledger={ledger} onPick={pickRow} />
            {fresh && ledger.loaded ? (
              <FirstSteps />
            ) : (
              <HoldList
                rows={holds.rows}
                filter={holds.filter}
                onFilter={holds.setFilter}
                picked={pick?.what === 'row' ? pick.key : null}
                onPick={pickRow}
              />
            )}
            <AlertList balances={ledger.balances} alerts={ledger.alerts} onPick={pickBalance} />
          </div>
        </div>
        <div className="flex-none border-t">
          <StormPanel />
        </div>
      </div>
      <PickPane ledger={ledger} balances={balances} pick={pick} rows={holds.rows} onPick={setPick} onGrant={onGrant} />
    </div>
  );
}

function OutlookLine({ ledger: { balances, reservations } }: { ledger: LedgerSlice }) {
  const { text, key } = useMemo(() => outlookOf(balances, reservations.values()), [balances, reservations]);
  const about = key === null ? undefined : balances.get(key);
  const sum = about === undefined ? null : conservationText(about);
  return (
    <p className="flex min-h-9 flex-none flex-wrap items-center gap-x-4 border-t px-6 py-1">
      <span className="min-w-0 flex-1 wrap-anywhere text-ink">{text}</span>
      {sum === null ? null : (
        <span className="lab flex-none" title="limit = spent + held + free">
          {sum}
        </span>
      )}
    </p>
  );
}

const CLOCK_SLACK_MS = 5_000;

/** Stays while it counts, or for a minute; until it is put away, or another comes. */
function NewestRefusal({ ledger, onPick }: { ledger: LedgerSlice; onPick: (key: string) => void }) {
  const [away, setAway] = useState<string | null>(null);
  const nowMs = useLedgerNow();
  const line = [...ledger.refusals.values()].at(-1);
  if (line === undefined || nowMs === null) return null;
  const id = `${line.id} ${line.count}`;
  const untilMs = Date.parse(line.lastAt) + Math.max(60, line.refusal?.retryAfterSeconds ?? 0) * 1_000;
  // The clock of a simulated book may have been moved, to either side.
  if (away === id || nowMs > untilMs || nowMs < Date.parse(line.lastAt) - CLOCK_SLACK_MS) return null;
  const timeZone =
    line.refusal === null ? null : (ledger.balances.get(accountKey(line.refusal.account))?.timeZone ?? null);
  return (
    <RefusalCard
      key={id}
      line={line}
      timeZone={timeZone}
      onPick={() => onPick(`refused ${line.id}`)}
      onClose={() => setAway(id)}
    />
  );
}

interface PickPaneProps {
  readonly ledger: LedgerSlice;
  /** With those that were found. */
  readonly balances: ReadonlyMap<string, Balance>;
  readonly pick: Pick | null;
  readonly rows: ReturnType<typeof useHoldRows>['rows'];
  readonly onPick: (pick: Pick | null) => void;
  readonly onGrant: (balance: Balance) => void;
}

function PickPane({ ledger, balances, pick, rows, onPick, onGrant }: PickPaneProps) {
  const { reservations, refusals } = ledger;
  if (pick === null) return null;
  const keys =
    pick.what === 'row'
      ? rows.map(({ key }) => key)
      : tankGroups(balances.values(), '').flatMap((group) => group.balances.map(({ key }) => key));
  const pane = {
    onClose: () => onPick(null),
    onMove: (step: 1 | -1) => {
      const next = keys[keys.indexOf(pick.key) + step];
      if (next !== undefined) onPick({ what: pick.what, key: next });
    },
  };
  if (pick.what === 'balance') {
    const balance = balances.get(pick.key);
    if (balance === undefined) return null;
    return (
      <BalancePane
        {...pane}
        balance={balance}
        onGrant={onGrant}
        onJournal={(account) => {
          journalFilter.clear();
          journalFilter.set({ account });
          go('ledger', 'journal');
        }}
      />
    );
  }
  const hold = reservations.get(pick.key);
  if (hold !== undefined) return <HoldPane {...pane} hold={hold} />;
  const line = refusals.get(pick.key.replace(/^refused /u, ''));
  if (line === undefined) return null;
  const balance = line.refusal === null ? undefined : balances.get(accountKey(line.refusal.account));
  return <RefusalPane {...pane} line={line} balance={balance ?? null} onGrant={onGrant} />;
}

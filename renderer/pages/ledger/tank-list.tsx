/** The accounts: a few as tanks, many as lines under their tenants, found by word. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { Search } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { count } from '../../format/numbers.ts';
import { steadyGroups } from './steady.ts';
import { Tank, TankLine } from './tank.tsx';
import { VIEW_FULL } from './use-found-accounts.ts';
import { tankGroups } from './tank-model.ts';
import type { TankGroup } from './tank-model.ts';

export interface TankListProps {
  readonly balances: ReadonlyMap<string, Balance>;
  /** The ledger has answered; without it no budget is no answer. */
  readonly isKnown: boolean;
  readonly search: string;
  /** The ledger looks for accounts that are not here. */
  readonly isAsking: boolean;
  readonly onSearch: (search: string) => void;
  readonly picked: string | null;
  readonly onPick: (key: string) => void;
  readonly onGrant: (balance: Balance) => void;
}

/** More than so many stand as lines. */
export const TANKS_MAX = 6;
const LINE_HEIGHT = 44;
const GROUP_HEIGHT = 28;

export function TankList({ balances, isKnown, search, isAsking, onSearch, picked, onPick, onGrant }: TankListProps) {
  const [held, setHeld] = useState<readonly TankGroup[] | null>(null);
  const groups = useMemo(() => steadyGroups(tankGroups(balances.values(), search), held), [balances, search, held]);
  const found = groups.reduce((sum, group) => sum + group.balances.length, 0);
  const many = balances.size > TANKS_MAX;
  return (
    <div
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      onPointerEnter={() => setHeld(groups)}
      onPointerLeave={() => setHeld(null)}
    >
      {many ? <SearchLine search={search} found={found} of={balances.size} onSearch={onSearch} /> : null}
      {found === 0 ? (
        <EmptyState {...emptyWords(isKnown, balances.size, isAsking)} />
      ) : many ? (
        <Lines groups={groups} picked={picked} onPick={onPick} />
      ) : (
        <ul aria-label="Budgets" className="min-h-0 flex-1 overflow-auto">
          {groups.flatMap((group) =>
            group.balances.map((balance) => (
              <Tank
                key={balance.key}
                balance={balance}
                picked={balance.key === picked}
                onPick={onPick}
                onGrant={onGrant}
              />
            )),
          )}
        </ul>
      )}
    </div>
  );
}

function emptyWords(isKnown: boolean, budgets: number, isAsking: boolean): { title: string; text: string } {
  if (!isKnown) return { title: 'Budgets are not known', text: 'The ledger has not answered yet.' };
  if (isAsking) return { title: 'None of these', text: 'The ledger looks through the older accounts.' };
  return budgets === 0
    ? { title: 'No budget yet', text: 'Give a user or a tenant a plan with a budget, and it stands here.' }
    : { title: 'Nothing matches.', text: 'Change the search.' };
}

interface SearchLineProps {
  readonly search: string;
  readonly found: number;
  readonly of: number;
  readonly onSearch: (search: string) => void;
}

function SearchLine({ search, found, of, onSearch }: SearchLineProps) {
  return (
    <div className="flex flex-none items-center gap-3 border-b px-6 pb-2">
      <label className="field flex max-w-xs items-center gap-2">
        <Search size={14} strokeWidth={1.75} aria-hidden="true" className="flex-none text-ink-3" />
        <span className="sr-only">Search accounts</span>
        <input
          data-search="yes"
          value={search}
          maxLength={200}
          placeholder="User, tenant, day, tokens"
          onChange={(event) => onSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onSearch('');
            event.currentTarget.blur();
          }}
          className="min-w-0 flex-1 outline-none!"
        />
        <span className="kbd">/</span>
      </label>
      <span className="flex-1" />
      <span className="lab flex-none">
        {found === of ? `${count(of)} accounts` : `${count(found)} of ${count(of)} accounts`}, touched last first
        {of >= VIEW_FULL ? '; a search finds older ones' : ''}
      </span>
    </div>
  );
}

type Line = { readonly key: string } & (
  { readonly group: TankGroup } | { readonly balance: Balance; readonly group: null }
);

function Lines({
  groups,
  picked,
  onPick,
}: Pick<TankListProps, 'picked' | 'onPick'> & { groups: readonly TankGroup[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => linesOf(groups), [groups]);
  // eslint-disable-next-line react-hooks/incompatible-library -- this component is not compiled; it draws anew on every scroll
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.group === null ? LINE_HEIGHT : GROUP_HEIGHT),
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 8,
    initialRect: { width: 600, height: 600 },
  });
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto">
      <ul aria-label="Budgets" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (line === undefined) return null;
          const style = { height: item.size, transform: `translateY(${item.start}px)` };
          if (line.group === null)
            return (
              <TankLine
                key={line.key}
                balance={line.balance}
                picked={line.key === picked}
                onPick={onPick}
                style={style}
              />
            );
          return (
            <li
              key={line.key}
              style={style}
              className="absolute inset-x-0 flex items-center gap-2 border-b bg-sunk px-6 text-table"
            >
              <b className="truncate" title={line.group.tenant}>
                {line.group.tenant}
              </b>
              <span className="lab flex-none">{count(line.group.balances.length)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function linesOf(groups: readonly TankGroup[]): readonly Line[] {
  return groups.flatMap((group): Line[] => {
    // Under its name a tenant's own budgets come first: they are the roof over all the others.
    const own = group.balances.filter(({ account }) => account.scope === 'tenant');
    const others = group.balances.filter(({ account }) => account.scope !== 'tenant');
    return [
      { key: `tenant ${group.tenant}`, group },
      ...[...own, ...others].map((balance) => ({ key: balance.key, balance, group: null })),
    ];
  });
}

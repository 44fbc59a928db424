/** The journal: every entry that was ever written, newest first, with filters and pages. */
import { X } from 'lucide-react';
import { useState } from 'react';
import { ledgerOperations } from '../../../shared/contract/ledger.ts';
import type { LedgerEntry } from '../../../shared/contract/ledger.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Choice, TextBox } from '../../components/field.tsx';
import { count, counted, DASH } from '../../format/numbers.ts';
import { Lines } from './hold-pane.tsx';
import { journalColumns } from './journal-columns.tsx';
import { Pane, PaneHead, PaneText } from './pane.tsx';
import { journalFilter, useJournal, useJournalFilter } from './use-journal.ts';
import type { Journal } from './use-journal.ts';
import { accountName, accountOfKey, operationHelp, sourceWord, stampText } from './words.ts';

export function JournalView() {
  const journal = useJournal();
  const [picked, setPicked] = useState<string | null>(null);
  const entries = journal.pages?.entries ?? noEntries;
  const index = entries.findIndex((entry) => keyOf(entry) === picked);
  const entry = entries[index];
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Filters />
        <div className="min-h-0 flex-1">
          <DataTable
            label="Journal"
            rows={entries}
            columns={journalColumns}
            rowKey={keyOf}
            picked={picked}
            onPick={setPicked}
            empty={<Nothing journal={journal} />}
          />
        </div>
        <Foot journal={journal} />
      </div>
      {entry === undefined ? null : (
        <EntryPane
          entry={entry}
          onClose={() => setPicked(null)}
          onMove={(step) => {
            const next = entries[index + step];
            if (next !== undefined) setPicked(keyOf(next));
          }}
        />
      )}
    </div>
  );
}

const noEntries: readonly LedgerEntry[] = [];
const keyOf = ({ book, seq }: LedgerEntry): string => `${book} ${seq}`;

function Filters() {
  const filter = useJournalFilter();
  const { operations, tenant, user, account, book } = filter;
  const about = account === '' ? null : accountOfKey(account);
  return (
    <div className="flex flex-none flex-wrap items-center gap-2 border-b px-6 py-2">
      <div role="group" aria-label="Operations" className="flex flex-none flex-wrap gap-1">
        {ledgerOperations.map((one) => {
          const on = operations.includes(one);
          return (
            <button
              key={one}
              type="button"
              aria-pressed={on}
              title={`${one}: ${operationHelp[one]}`}
              onClick={() =>
                journalFilter.set({
                  operations: on ? operations.filter((other) => other !== one) : [...operations, one],
                })
              }
              className={`h-6 flex-none rounded border px-1.5 text-table ${on ? 'border-ink bg-pick font-semibold text-ink' : 'border-line text-ink-2 hover:bg-pick'}`}
            >
              {one}
            </button>
          );
        })}
      </div>
      <TextBox
        aria-label="Tenant"
        placeholder="tenant"
        value={tenant}
        maxLength={200}
        className="w-24!"
        onValue={(value) => journalFilter.set({ tenant: value })}
      />
      <TextBox
        aria-label="User"
        placeholder="user"
        data-search="yes"
        value={user}
        maxLength={200}
        className="w-24!"
        onValue={(value) => journalFilter.set({ user: value })}
      />
      {account === '' ? null : (
        <span
          className="flex h-7 min-w-0 items-center gap-1 rounded border border-ink bg-pick pl-2 text-table text-ink"
          title={account}
        >
          <span className="max-w-56 truncate">
            {about === null ? account : `${accountName(about)} · ${about.period}`}
          </span>
          <button
            type="button"
            aria-label="All accounts"
            className="rounded-sm p-1 hover:bg-page"
            onClick={() => journalFilter.set({ account: '' })}
          >
            <X size={12} aria-hidden="true" />
          </button>
        </span>
      )}
      <span className="w-32">
        <Choice
          label="Book"
          value={book ?? 'current'}
          options={[
            { value: 'current', text: 'book in use' },
            { value: 'real', text: 'real book' },
            { value: 'simulated', text: 'simulated book' },
          ]}
          onValue={(value) => journalFilter.set({ book: value === 'current' ? null : value })}
        />
      </span>
      {journalFilter.isSet(filter) ? (
        <Button look="flat" onClick={journalFilter.clear}>
          Show all
        </Button>
      ) : null}
    </div>
  );
}

function Nothing({ journal }: { journal: Journal }) {
  const filter = useJournalFilter();
  if (journal.denial !== null)
    return (
      <EmptyState
        title={journal.denial.message}
        {...(journal.denial.next === undefined ? {} : { text: journal.denial.next })}
      />
    );
  if (journal.pages === null) return <EmptyState title="Reading the journal" />;
  return journalFilter.isSet(filter) ? (
    <EmptyState title="No entry matches." text="Change the filters; names are matched whole." />
  ) : (
    <EmptyState
      title="Nothing is written yet."
      text="The first call writes two entries: what it holds, and what it used."
    />
  );
}

function Foot({ journal: { pages, denial, loadingOlder, loadOlder } }: { journal: Journal }) {
  if (pages === null || pages.entries.length === 0) return null;
  return (
    <div className="flex h-9 flex-none items-center gap-3 border-t px-6">
      <span className="lab" role="status">
        {counted(pages.entries.length, 'entry', 'entries')}
        {pages.hasMore ? ', and older ones' : ', back to the first'}
        {denial === null ? '' : ` · ${denial.message}`}
      </span>
      {pages.hasMore ? (
        <Button disabled={loadingOlder} onClick={loadOlder}>
          {loadingOlder ? 'Reading' : 'Read older'}
        </Button>
      ) : null}
    </div>
  );
}

interface EntryPaneProps {
  readonly entry: LedgerEntry;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

function EntryPane({ entry, onClose, onMove }: EntryPaneProps) {
  return (
    <Pane
      title={`Entry ${count(entry.seq)}`}
      simulated={entry.book === 'simulated'}
      onClose={onClose}
      onMove={onMove}
      footer={<CopyButton label="Copy as JSON" text={() => JSON.stringify(entry, null, 2)} />}
    >
      <PaneText>
        <b>{entry.operation}</b> · {operationHelp[entry.operation]}{' '}
      </PaneText>
      <Facts
        facts={[
          ['at', `${stampText(entry.at)} UTC`],
          ['tenant', entry.tenant],
          ['user', entry.user ?? DASH],
          ['model', entry.model ?? DASH],
          ['tokens', `${count(entry.inputTokens)} in + ${count(entry.outputTokens)} out`],
          ['source', entry.source === null ? DASH : sourceWord[entry.source]],
          ['reason', entry.reason === '' ? DASH : entry.reason],
          ['hold', entry.reservationId ?? DASH],
          ['key', entry.key ?? DASH],
          ['owner', entry.owner],
        ]}
      />
      <PaneHead text="Accounts" />
      <Lines lines={entry.lines} />
    </Pane>
  );
}

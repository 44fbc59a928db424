/** Journal, balances and reservations as files. What is saved, how many rows and where is told by a notice. */
import { useState } from 'react';
import type { ExportOptions } from '../../../shared/contract/experiments.ts';
import type { Book } from '../../../shared/contract/ledger.ts';
import { Choice } from '../../components/field.tsx';
import { ExportItem, ExportPopover } from '../../exports/export-popover.tsx';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { saveOpened } from '../../stores/export-run.ts';

export type LedgerFile = 'journal' | 'balances' | 'reservations';

/** With the CSV profile of the settings, or the one given. */
export async function exportLedger(
  client: EngineClient,
  what: LedgerFile,
  book: Book | null,
  format: ExportOptions['format'],
  profile?: Omit<ExportOptions, 'format'>,
): Promise<void> {
  const { settings } = client.store.getState();
  const usual =
    settings === null
      ? {}
      : { profile: settings.csvProfile, separator: settings.csvSeparator, decimalMark: settings.csvDecimalMark };
  const opened = await client.request('ledger.export', {
    what,
    ...(book === null ? {} : { book }),
    options: { format, ...(profile ?? usual) },
  });
  if (opened.ok) return saveOpened(client, opened.value);
  client.raiseNotice({ level: 'error', text: opened.denial.message, next: opened.denial.next ?? null });
}

export function ExportLedger({ book, initial }: { readonly book: Book | null; readonly initial: LedgerFile }) {
  const client = useClient();
  const settings = useEngine((state) => state.settings);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState<LedgerFile | null>(null);
  const what = chosen ?? initial;
  const sheet =
    settings?.csvProfile === 'spreadsheet'
      ? { separator: settings.csvSeparator, decimalMark: settings.csvDecimalMark }
      : { separator: ';' as const, decimalMark: ',' as const };
  const save = (format: ExportOptions['format'], profile?: Omit<ExportOptions, 'format'>): void => {
    setOpen(false);
    void exportLedger(client, what, book, format, profile);
  };
  return (
    <ExportPopover open={open} onOpenChange={setOpen} label="Export" className="pb-1">
      <div className="border-b p-3">
        <Choice
          label="What"
          value={what}
          options={[
            { value: 'journal', text: 'Journal: every entry, newest first' },
            { value: 'balances', text: 'Balances: every account as it stands' },
            { value: 'reservations', text: 'Reservations: every hold and how it ended' },
          ]}
          onValue={setChosen}
        />
      </div>
      <ExportItem
        text="CSV for programs"
        note="comma, point, no BOM"
        onPick={() => save('csv', { profile: 'machine', separator: ',', decimalMark: '.' })}
      />
      <ExportItem
        text="CSV for spreadsheets"
        note={`${separatorWords[sheet.separator]}, decimal ${sheet.decimalMark === ',' ? 'comma' : 'point'}`}
        onPick={() => save('csv', { profile: 'spreadsheet', ...sheet })}
      />
      <ExportItem text="JSON" note="every field" onPick={() => save('json')} />
      {book === 'simulated' ? <p className="lab border-t px-3 pt-1">Every row is marked simulated.</p> : null}
    </ExportPopover>
  );
}

const separatorWords = { ',': 'comma', ';': 'semicolon', '\t': 'tab' } as const;

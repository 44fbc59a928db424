/** Ledger: who has how much left, and what is held right now. Now, the journal behind it, and the plans that set the limits. */
import { useCallback, useState } from 'react';
import { Plus } from 'lucide-react';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Tabs, TabPanel } from '../../components/tabs.tsx';
import { Page } from '../../frame/page.tsx';
import { useAction } from '../../frame/shortcuts.ts';
import { useClient } from '../../stores/engine-context.ts';
import { go, useScreen } from '../../stores/screen-store.ts';
import { useThrottledEngine } from '../../stores/throttled.ts';
import type { EngineState } from '../../stores/engine-state.ts';
import type { LedgerSlice } from '../../stores/ledger-state.ts';
import { AuditButton } from './audit-button.tsx';
import { ExportLedger, exportLedger } from './export-ledger.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { JournalView } from './journal-view.tsx';
import { NowView } from './now-view.tsx';
import { PlansView } from './plans-view.tsx';
import { PresentedLedger } from './presented-ledger.tsx';
import { StoreLine, StoreProblem } from './store-line.tsx';

const tabs = [
  { id: 'now', text: 'Now' },
  { id: 'journal', text: 'Journal' },
  { id: 'plans', text: 'Plans' },
] as const;
type Tab = (typeof tabs)[number]['id'];

const ledgerOf = (state: EngineState): LedgerSlice => state.ledger;

export function LedgerPage() {
  const client = useClient();
  const ledger = useThrottledEngine(ledgerOf);
  const presenter = useScreen((state) => state.presenter);
  const wanted = useScreen((state) => state.route.id);
  const tab: Tab = tabs.find(({ id }) => id === wanted)?.id ?? 'now';
  const [granting, setGranting] = useState<Balance | null>(null);
  const book = ledger.state?.book ?? null;
  const file = tab === 'journal' ? 'journal' : 'balances';
  const exportRows = useCallback(() => void exportLedger(client, file, book, 'csv'), [client, file, book]);
  useAction('export', book === null ? null : exportRows);

  if (presenter && tab === 'now' && ledger.balances.size > 0) return <PresentedLedger ledger={ledger} />;
  return (
    <Page
      title="Ledger"
      note="who has how much left, and what is held right now"
      actions={
        <>
          <AuditButton />
          <ExportLedger key={file} book={book} initial={file} />
          <Button look="primary" icon={Plus} onClick={() => go('ledger', 'plans')}>
            New budget
          </Button>
        </>
      }
    >
      <Tabs
        label="Views"
        value={tab}
        items={tabs}
        onValue={(next) => go('ledger', next === 'now' ? '' : next)}
        aside={<StoreLine ledger={ledger} />}
        className="flex-1 [&>div:first-child]:pr-4 [&>div:first-child]:pl-6"
      >
        <StoreProblem ledger={ledger} />
        <TabPanel id="now" className="flex data-[state=inactive]:hidden">
          {ledger.loaded || ledger.denial !== null ? (
            <NowView ledger={ledger} onGrant={setGranting} />
          ) : (
            <EmptyState title="Reading the ledger" />
          )}
        </TabPanel>
        <TabPanel id="journal" className="flex data-[state=inactive]:hidden">
          <JournalView />
        </TabPanel>
        <TabPanel id="plans" className="flex data-[state=inactive]:hidden">
          <PlansView />
        </TabPanel>
      </Tabs>
      {granting === null ? null : <GrantDialog balance={granting} onClose={() => setGranting(null)} />}
    </Page>
  );
}

/** Ledger: who has how much left, and what is held right now. */
import { Page } from '../../frame/page.tsx';

export function LedgerPage() {
  return (
    <Page title="Ledger" note="who has how much left, and what is held right now">
      <p className="p-6">Reading the ledger</p>
    </Page>
  );
}

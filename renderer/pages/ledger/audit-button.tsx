/** Replays the journal and says whether every balance follows from it. */
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { Audit } from '../../../shared/contract/ledger.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { count, counted } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { stampText } from './words.ts';

export function AuditButton() {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [audit, setAudit] = useState<Audit | null>(null);
  const run = (): void => {
    setBusy(true);
    void client.request('ledger.audit', {}).then((answer) => {
      setBusy(false);
      if (answer.ok) setAudit(answer.value);
      else client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <>
      <Button
        look="flat"
        icon={ShieldCheck}
        disabled={busy}
        title="Replays every entry of the journal and compares it with the balances. Changes nothing."
        onClick={run}
      >
        {busy ? 'Auditing' : 'Audit'}
      </Button>
      <Dialog
        open={audit !== null}
        onClose={() => setAudit(null)}
        title={audit === null ? 'Audit' : auditTitle(audit)}
        {...(audit === null ? {} : { description: auditText(audit) })}
      >
        {audit === null ? null : (
          <>
            {audit.faults.length === 0 ? null : (
              <ul className="mx-4 mt-2 min-h-0 flex-1 overflow-auto border-t text-table">
                {audit.faults.map((fault, index) => (
                  <li key={index} className="border-b py-1 wrap-anywhere text-ink">
                    {fault}
                  </li>
                ))}
              </ul>
            )}
            {(audit.notes ?? []).map((note) => (
              <p key={note} className="px-4 pt-2 wrap-anywhere">
                {note}
              </p>
            ))}
            <div className="flex items-center justify-end gap-2 px-4 pt-3 pb-3">
              <span className="lab flex-1">{stampText(audit.at)} UTC</span>
              <CopyButton look="plain" text={() => JSON.stringify(audit, null, 2)} />
              <Button look="primary" onClick={() => setAudit(null)}>
                Close
              </Button>
            </div>
          </>
        )}
      </Dialog>
    </>
  );
}

export const auditTitle = ({ sound, faults }: Audit): string =>
  sound ? 'The ledger is sound' : `The ledger does not add up: ${counted(faults.length, 'fault')}`;

export function auditText({ sound, entries, accounts, openHolds, faults }: Audit): string {
  const read = `${counted(entries, 'entry', 'entries')} replayed over ${counted(accounts, 'account')}, ${counted(openHolds, 'hold')} open.`;
  if (sound) return `${read} Every balance is the sum of its entries, and no hold was resolved twice.`;
  const more = faults.length >= 100 ? ' These are the first 100.' : '';
  return `${read}${more} Export the journal and keep it, then look at the accounts named here. ${count(faults.length)} of them:`;
}

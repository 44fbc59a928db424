/** More for one account in the period that goes on now. The limit of the plan stays as it is. */
import { useState } from 'react';
import type { FormEvent } from 'react';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { AMOUNT_MAX } from '../../../shared/contract/plans.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, NumberBox, TextBox } from '../../components/field.tsx';
import { Problem, readDecimal, readWhole } from '../../format/read-number.ts';
import { useClient } from '../../stores/engine-context.ts';
import { accountName, accountNote, exactAmount, unitWord } from './words.ts';

export interface GrantDialogProps {
  readonly balance: Balance;
  readonly onClose: () => void;
}

export function GrantDialog({ balance, onClose }: GrantDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Grant more: ${accountName(balance.account)}`}
      description={`${accountNote(balance.account)}. It is written to the journal and ends with the period.`}
    >
      <GrantForm balance={balance} onClose={onClose} />
    </Dialog>
  );
}

function GrantForm({ balance, onClose }: GrantDialogProps) {
  const client = useClient();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [denial, setDenial] = useState<string | null>(null);
  const { account, limit } = balance;
  const reading = readGrant(typed, balance);
  const problem = typed === '' ? null : reading instanceof Problem ? reading.text : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (reading instanceof Problem) return setDenial(reading.text);
    setBusy(true);
    const { book, tenant, scope, name, window, unit } = account;
    void client
      .request('ledger.grant', { book, tenant, scope, name, window, unit, amount: reading, reason })
      .then((answer) => {
        setBusy(false);
        if (!answer.ok) return setDenial([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
        client.takeBalance(answer.value);
        client.raiseNotice({
          level: 'info',
          text: `${exactAmount(reading, unit)} granted to ${accountName(account)}: the limit is ${exactAmount(answer.value.limit, unit)} now.`,
          next: null,
        });
        onClose();
      });
  };
  return (
    <form onSubmit={submit} aria-label="Grant" className="flex flex-col gap-3 px-4 pt-3 pb-3">
      <Field
        label={`Amount, ${account.unit === 'nano-dollars' ? 'in dollars' : unitWord[account.unit]}`}
        problem={problem ?? denial}
      >
        {({ id, problemId }) => (
          <NumberBox
            id={id}
            problemId={problemId}
            value={typed}
            problem={problem ?? denial}
            autoFocus
            placeholder={account.unit === 'nano-dollars' ? '0.50' : '2,000'}
            onValue={(value) => {
              setDenial(null);
              setTyped(value);
            }}
          />
        )}
      </Field>
      <Field label="Reason, for the journal">
        {({ id }) => <TextBox id={id} value={reason} maxLength={500} onValue={setReason} />}
      </Field>
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          limit {exactAmount(limit, account.unit)} →{' '}
          <b>{reading instanceof Problem ? '–' : exactAmount((limit ?? 0) + reading, account.unit)}</b>
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" disabled={busy || typed === '' || problem !== null}>
          Grant
        </Button>
      </div>
    </form>
  );
}

/** In the account's own unit; dollars are typed as dollars. */
export function readGrant(typed: string, { account, limit }: Balance): number | Problem {
  const amount =
    account.unit === 'nano-dollars' ? nanoDollarsOf(readDecimal('Amount', typed)) : readWhole('Amount', typed);
  if (amount instanceof Problem) return amount;
  if (amount < 1) return new Problem('Amount: grant at least 1.');
  if (amount + (limit ?? 0) > AMOUNT_MAX) return new Problem('Amount: so much cannot be granted.');
  return amount;
}

function nanoDollarsOf(dollars: number | Problem): number | Problem {
  return dollars instanceof Problem ? dollars : Math.round(dollars * 1_000_000_000);
}

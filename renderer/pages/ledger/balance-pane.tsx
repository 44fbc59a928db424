/** Everything about one account. */
import type { Balance } from '../../../shared/contract/ledger.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { DASH } from '../../format/numbers.ts';
import { Pane, PaneHead } from './pane.tsx';
import { TankBar, PeriodEnd } from './tank.tsx';
import { conservationText, tankModel } from './tank-model.ts';
import { accountName, accountNote, exactAmount, instantText, unitWord } from './words.ts';

export interface BalancePaneProps {
  readonly balance: Balance;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
  readonly onGrant: (balance: Balance) => void;
  readonly onJournal: (key: string) => void;
}

export function BalancePane({ balance, onClose, onMove, onGrant, onJournal }: BalancePaneProps) {
  const { account, limit, granted, spent, held, free, overrun, endsAt, timeZone, alerts, key } = balance;
  const of = (value: number | null): string => exactAmount(value, account.unit);
  return (
    <Pane
      title={accountName(account)}
      simulated={account.book === 'simulated'}
      onClose={onClose}
      onMove={onMove}
      footer={
        <>
          {limit === null ? null : (
            <Button look="primary" onClick={() => onGrant(balance)}>
              Grant more for this period
            </Button>
          )}
          <Button onClick={() => onJournal(key)}>Its journal</Button>
          <CopyButton label="Copy as JSON" text={() => JSON.stringify(balance, null, 2)} />
        </>
      }
    >
      <p className="lab px-4 wrap-anywhere">{accountNote(account)}</p>
      <div className="px-4 py-2">
        <TankBar balance={balance} model={tankModel(balance)} className="h-6" />
        <PeriodEnd balance={balance} />
      </div>
      <Facts
        facts={[
          ['limit', limit === null ? 'no limit' : limit === 0 ? '0: nothing allowed' : of(limit)],
          ...(granted > 0 ? [['granted', `${of(granted)}, in the limit`] as const] : []),
          ['spent', of(spent)],
          ['held', of(held)],
          ['free', limit === null ? DASH : of(free)],
          ['sum', conservationText(balance) ?? `${of(spent)} + ${of(held)}, no limit`],
          ['overrun', overrun === 0 ? 'none' : `${of(overrun)} over estimates, charged and marked`],
          ['unit', unitWord[account.unit]],
          ['period', account.window === 'minute' ? 'rolling, in steps of a second' : account.period],
          ['ends', endsAt === null ? 'never' : instantText(Date.parse(endsAt), timeZone)],
          ['zone', timeZone],
          ['book', account.book],
          ['key', key],
        ]}
      />
      {alerts.length === 0 ? null : (
        <>
          <PaneHead text="Alerts" />
          <Facts
            facts={alerts.map(({ percent, at, raised }) => [
              `${percent} %`,
              raised
                ? `at ${of(at)}: told in this period`
                : at > spent
                  ? `at ${of(at)}, ${of(at - spent)} to go`
                  : `at ${of(at)}: goes out with the next charge`,
            ])}
          />
        </>
      )}
    </Pane>
  );
}

/** Alerts that went out, and the next ones. */
import type { Balance, BudgetAlert } from '../../../shared/contract/ledger.ts';
import { count } from '../../format/numbers.ts';
import { alertText, nextAlerts, thresholdsNote } from './outlook.ts';
import { accountName, amountText, clockText, stampText } from './words.ts';

export interface AlertListProps {
  readonly balances: ReadonlyMap<string, Balance>;
  readonly alerts: readonly BudgetAlert[];
  readonly onPick: (key: string) => void;
}

const NEXT_MAX = 3;
const RAISED_MAX = 2;

export function AlertList({ balances, alerts, onPick }: AlertListProps) {
  const next = nextAlerts(balances.values());
  if (next.length + alerts.length === 0) return null;
  const left = next.length - NEXT_MAX;
  return (
    <section aria-label="Alerts" className="flex-none border-t pt-2 pb-1 text-table">
      {alerts.length === 0 ? null : (
        <>
          <h2 className="pr-4 pl-6 font-semibold text-ink">
            Alerts{' '}
            {alerts.length > RAISED_MAX ? (
              <span className="lab font-normal">the last of {count(alerts.length)}</span>
            ) : null}
          </h2>
          <ul className="pb-1">
            {alerts.slice(0, RAISED_MAX).map((alert, index) => (
              <li key={index} className="flex min-h-6 items-center gap-3 border-b pr-4 pl-6 text-ink last:border-b-0">
                <span className="min-w-0 flex-1 truncate" title={alert.text}>
                  {alertText(alert)}
                </span>
                <span className="lab flex-none" title={`${stampText(alert.at)} UTC`}>
                  {alert.percent} % · {clockText(alert.at)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {next.length === 0 ? null : (
        <>
          <h2 className="pr-4 pl-6 font-semibold text-ink">
            Next alerts <span className="lab font-normal">{thresholdsNote(next)}</span>
          </h2>
          <ul>
            {next.slice(0, NEXT_MAX).map(({ key, balance, at, toGo }) => (
              <li key={key} className="border-b last:border-b-0">
                <button
                  type="button"
                  onClick={() => onPick(key)}
                  className="grid min-h-6 w-full grid-cols-[minmax(0,1fr)_auto_104px] items-center gap-4 pr-4 pl-6 text-left text-ink hover:bg-pick"
                >
                  <span className="truncate" title={accountName(balance.account)}>
                    {accountName(balance.account)}
                  </span>
                  <span>at {amountText(at, balance.account.unit)}</span>
                  <span className="text-right">{amountText(toGo, balance.account.unit)} to go</span>
                </button>
              </li>
            ))}
          </ul>
          {left > 0 ? <p className="lab pl-6">and {count(left)} more</p> : null}
        </>
      )}
    </section>
  );
}

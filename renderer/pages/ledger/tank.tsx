/** One account as a tank: spent solid, held hatched, free open, up to the wall that is its limit. */
import type { CSSProperties } from 'react';
import type { Balance } from '../../../shared/contract/ledger.ts';
import { Countdown } from './ledger-clock.tsx';
import { conservationText, leftText, tankModel } from './tank-model.ts';
import type { TankModel } from './tank-model.ts';
import { accountName, accountNote, amountText, instantText, unitWord } from './words.ts';

export interface TankProps {
  readonly balance: Balance;
  readonly picked: boolean;
  readonly onPick: (key: string) => void;
  readonly onGrant: (balance: Balance) => void;
  /** For a room: nothing to press. */
  readonly presented?: boolean;
}

/** With room: as in a row of instruments. */
export function Tank({ balance, picked, onPick, onGrant, presented = false }: TankProps) {
  const model = tankModel(balance);
  return (
    <li
      className={`border-b px-6 pt-7 pb-3.5 ${picked ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : ''}`}
      data-account={balance.key}
    >
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4 gap-y-6 @min-[600px]:grid-cols-[132px_minmax(0,1fr)_150px]">
        <Name balance={balance} onPick={onPick} />
        <div className="min-w-0 @max-[600px]:order-last @max-[600px]:col-span-2">
          <TankBar
            balance={balance}
            model={model}
            className="h-14 @max-[600px]:h-9 [@media(max-height:920px)]:h-12"
            labelled
          />
          <Legend balance={balance} model={model} />
        </div>
        <Figures balance={balance} onGrant={presented ? null : onGrant} />
      </div>
    </li>
  );
}

/** One line, for many. */
export function TankLine({
  balance,
  picked,
  onPick,
  style,
}: Omit<TankProps, 'onGrant' | 'presented'> & { style: CSSProperties }) {
  const model = tankModel(balance);
  const { figure, note } = leftText(balance);
  return (
    <li
      data-account={balance.key}
      style={style}
      className={`absolute inset-x-0 grid grid-cols-[minmax(96px,min(26%,220px))_minmax(0,1fr)_minmax(96px,auto)] items-center gap-x-4 border-b px-6 ${picked ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
    >
      <Name balance={balance} onPick={onPick} small />
      <TankBar balance={balance} model={model} className="h-4" />
      <span className="text-right text-table whitespace-nowrap">
        <b>{figure}</b> <span className="text-ink-3">{note}</span>
      </span>
    </li>
  );
}

function Name({ balance, onPick, small = false }: Pick<TankProps, 'balance' | 'onPick'> & { small?: boolean }) {
  const { account } = balance;
  const name = accountName(account);
  return (
    <button
      type="button"
      onClick={() => onPick(balance.key)}
      title={`${name} · ${accountNote(account)}`}
      className="block min-w-0 rounded-sm text-left hover:[&>b]:underline"
    >
      <b
        className={small ? 'block truncate text-table font-medium!' : 'line-clamp-2 text-lead leading-5 wrap-anywhere'}
      >
        {name}
      </b>
      <span className="lab block truncate">{accountNote(account)}</span>
    </button>
  );
}

interface TankBarProps {
  readonly balance: Balance;
  readonly model: TankModel;
  readonly className: string;
  readonly labelled?: boolean;
}

/** The text of what is drawn is read aloud; the drawing itself is not. */
export function TankBar({ balance, model, className, labelled = false }: TankBarProps) {
  const { limit, account } = balance;
  const { limitPercent } = model;
  const percent = (value: number): string => `${value.toFixed(3)}%`;
  const limitText =
    limit === null ? '' : limit === 0 ? 'limit 0: nothing allowed' : `limit ${amountText(limit, account.unit)}`;
  const told = model.alerts.find(({ raised }) => !raised) ?? model.alerts.at(-1);
  return (
    <div role="img" aria-label={tankText(balance)} className={`c-budget relative min-w-0 ${className}`}>
      {limitPercent === null ? (
        <i className="absolute inset-0 border-y border-l border-field" />
      ) : (
        <i className="absolute inset-y-0 left-0 border border-field" style={{ width: percent(limitPercent) }} />
      )}
      <i className="moves fill absolute inset-y-0 left-0" style={{ width: percent(model.spentPercent) }} />
      <i
        className="moves hatch absolute inset-y-0"
        style={{ left: percent(model.spentPercent), width: percent(model.heldPercent) }}
      />
      {limitPercent === null ? (
        <i className="absolute inset-y-0 right-0 border-r border-dashed border-field" />
      ) : (
        <i
          className={`absolute w-[3px] -translate-x-full bg-ink ${model.over > 0 ? '-inset-y-1.5 outline-2 outline-page' : 'inset-y-0'}`}
          style={{ left: `max(3px, ${percent(limitPercent)})` }}
        />
      )}
      {model.alerts.map((alert) => (
        <i
          key={alert.percent}
          title={`alert at ${amountText(alert.at, account.unit)}${alert.raised ? ', told' : ''}`}
          className={`absolute -top-1.5 -bottom-px border-l-2 border-ink ${alert.raised ? '' : 'border-dashed'}`}
          style={{ left: percent(alert.place) }}
        />
      ))}
      {labelled && limitPercent !== null ? (
        <>
          <span
            className={`lab absolute -top-5 whitespace-nowrap ${limitPercent < 40 ? '' : '-translate-x-full'}`}
            style={{ left: percent(limitPercent) }}
          >
            {limitText}
          </span>
          {told !== undefined && labelsFit(told.place, limitPercent, limitText) ? (
            <span
              className="lab absolute -top-5 -translate-x-full pr-1 whitespace-nowrap @max-[600px]:hidden"
              style={{ left: percent(told.place) }}
            >
              alert {amountText(told.at, account.unit)}
            </span>
          ) : null}
        </>
      ) : null}
      {labelled && limitPercent === null ? (
        <span className="lab absolute -top-5 right-0 whitespace-nowrap">no limit</span>
      ) : null}
    </div>
  );
}

/** Two labels over one tank: both are written where the second does not run into the first. */
function labelsFit(place: number, limitPercent: number, limitText: string): boolean {
  const narrowestTankPx = 300;
  return ((limitPercent - place) * narrowestTankPx) / 100 >= limitText.length * 5.6 - 6 && place > 25;
}

function tankText(balance: Balance): string {
  const { account, limit, spent, held, free } = balance;
  const of = (value: number | null): string => amountText(value, account.unit);
  const room = limit === null ? 'no limit' : limit === 0 ? 'nothing allowed' : `${of(free)} free of ${of(limit)}`;
  return `${accountName(account)}: ${of(spent)} spent, ${of(held)} held, ${room} ${unitWord[account.unit]}`;
}

function Legend({ balance, model }: { balance: Balance; model: TankModel }) {
  const { account, spent, held, free, limit, overrun, granted } = balance;
  const of = (value: number | null): string => amountText(value, account.unit);
  return (
    <div className="c-budget mt-1.5 flex flex-wrap gap-x-4 text-table" title={conservationText(balance) ?? undefined}>
      <Part swatch="" text="spent" value={of(spent)} />
      <Part swatch="hatch" text="held" value={of(held)} />
      {limit === null ? (
        <span className="text-ink-3">no limit</span>
      ) : (
        <Part swatch="free" text="free" value={of(free)} />
      )}
      {model.over > 0 ? <b>{of(model.over)} over the limit</b> : null}
      {overrun > 0 ? (
        <span title="Prompts were longer than their estimate; what the server counted is charged and marked.">
          overrun <b>{of(overrun)}</b>
        </span>
      ) : null}
      {granted > 0 ? (
        <span title="Added to the limit of this period">
          granted <b>{of(granted)}</b>
        </span>
      ) : null}
    </div>
  );
}

function Part({ swatch, text, value }: { swatch: string; text: string; value: string }) {
  return (
    <span className="flex items-center gap-1.5 whitespace-nowrap">
      <i className={`swatch ${swatch}`} aria-hidden="true" />
      {text} <b>{value}</b>
    </span>
  );
}

function Figures({ balance, onGrant }: { balance: Balance; onGrant: TankProps['onGrant'] | null }) {
  const { figure, note } = leftText(balance);
  return (
    <div className="min-w-0 text-right">
      <div className="flex flex-wrap items-baseline justify-end gap-x-1.5">
        <span className={figure.length > 13 ? 'lead' : 'figure'}>{figure}</span>
        <span className="lab whitespace-nowrap">{balance.limit === null ? 'spent, no limit' : note}</span>
      </div>
      <PeriodEnd balance={balance} />
      {balance.limit === null || onGrant === null ? null : (
        <button
          type="button"
          onClick={() => onGrant(balance)}
          title="Adds to the limit of this period; the plan stays as it is"
          aria-label={`Grant more to ${accountName(balance.account)}`}
          className="lab mt-0.5 rounded-sm underline decoration-dotted underline-offset-3 hover:text-ink"
        >
          Grant more
        </button>
      )}
    </div>
  );
}

export function PeriodEnd({ balance: { account, endsAt, timeZone } }: { balance: Balance }) {
  if (account.window === 'minute') return <div className="lab">of the last 61 s</div>;
  if (endsAt === null) return <div className="lab">never ends</div>;
  const zone = timeZone === 'UTC' ? '' : ` in ${timeZone}`;
  return (
    <div className="lab" title={`Ends ${instantText(Date.parse(endsAt), timeZone)}`}>
      {account.window} ends{zone} in{' '}
      <span className="text-ink">
        <Countdown to={Date.parse(endsAt)} over="0:00" />
      </span>
    </div>
  );
}

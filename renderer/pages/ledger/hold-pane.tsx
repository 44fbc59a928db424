/** Everything about one hold or one refusal. */
import type { Balance, RefusalLine, Reservation } from '../../../shared/contract/ledger.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { count, DASH } from '../../format/numbers.ts';
import { go } from '../../stores/screen-store.ts';
import { chargeText } from './hold-rows.ts';
import { Age, Countdown } from './ledger-clock.tsx';
import { Pane, PaneHead, PaneText } from './pane.tsx';
import {
  accountName,
  accountNote,
  accountOfKey,
  amountText,
  codeText,
  exactAmount,
  needSentence,
  retryReason,
  shortId,
  sourceWord,
  stampText,
  stateHelp,
} from './words.ts';

export interface HoldPaneProps {
  readonly hold: Reservation;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

export function HoldPane({ hold, onClose, onMove }: HoldPaneProps) {
  const { detail, charge } = hold;
  const { callId } = detail;
  const reserved = detail.inputTokens + detail.outputTokens;
  return (
    <Pane
      title={`Hold ${shortId(hold.id)}`}
      simulated={hold.book === 'simulated'}
      onClose={onClose}
      onMove={onMove}
      footer={
        <>
          {callId === null ? null : <Button onClick={() => go('live', callId)}>Open the call</Button>}
          <CopyButton label="Copy as JSON" text={() => JSON.stringify(hold, null, 2)} />
        </>
      }
    >
      <PaneText>
        <b>{hold.state}</b> · {stateHelp[hold.state]}
      </PaneText>
      <p className="lab px-4">
        {hold.state === 'open' ? (
          <>
            open for <Age since={hold.openedAt} />, expires in{' '}
            <Countdown to={Date.parse(hold.expiresAt)} over="a moment" />
          </>
        ) : (
          chargeText(hold)
        )}
      </p>
      <Facts
        facts={[
          ['user', detail.user],
          ['tenant', detail.tenant],
          ['plan', detail.plan],
          ['model', detail.model],
          ['held', `${count(detail.inputTokens)} in + ${count(detail.outputTokens)} out = ${count(reserved)}`],
          ['likely', detail.sentTokensEstimated === null ? DASH : `${count(detail.sentTokensEstimated)} in, estimated`],
          ...(charge === null
            ? []
            : ([
                ['charged', `${count(charge.inputTokens)} in + ${count(charge.outputTokens)} out`],
                ...(charge.nanoDollars > 0
                  ? [['money', exactAmount(charge.nanoDollars, 'nano-dollars')] as const]
                  : []),
                ['source', sourceWord[charge.source]],
                ['overrun', charge.overrunTokens === 0 ? 'none' : `${count(charge.overrunTokens)} over the estimate`],
                ['reason', charge.reason === '' ? DASH : charge.reason],
              ] as const)),
          ['policy', detail.strict ? 'strict: no overrun is possible' : 'overruns are charged and marked'],
          ['opened', `${stampText(hold.openedAt)} UTC`],
          [hold.closedAt === null ? 'expires' : 'closed', `${stampText(hold.closedAt ?? hold.expiresAt)} UTC`],
          ['owner', hold.owner],
          ['key', hold.key],
          ['id', hold.id],
        ]}
      />
      <PaneHead text="Held on" />
      <Lines lines={hold.lines} />
    </Pane>
  );
}

/** Accounts and amounts, as a hold or an entry carries them. */
export function Lines({ lines }: { readonly lines: readonly (Reservation['lines'][number] & { overrun?: number })[] }) {
  return (
    <ul className="px-4 pb-3 text-table">
      {lines.map((line) => {
        const account = accountOfKey(line.account);
        return (
          <li key={line.account} className="flex items-baseline gap-3 border-b py-1 text-ink" title={line.account}>
            <span className="min-w-0 flex-1">
              <span className="block wrap-anywhere">{account === null ? line.account : accountName(account)}</span>
              {account === null ? null : <span className="lab block wrap-anywhere">{accountNote(account)}</span>}
            </span>
            <span className="flex-none text-right">
              {amountText(line.amount, line.unit)} {line.unit === 'nano-dollars' ? '' : line.unit}
              {(line.overrun ?? 0) > 0 ? (
                <span className="lab block">{amountText(line.overrun ?? 0, line.unit)} over</span>
              ) : null}
            </span>
          </li>
        );
      })}
      {lines.length === 0 ? <li className="text-ink-3">No account: nothing limits this call.</li> : null}
    </ul>
  );
}

export interface RefusalPaneProps {
  readonly line: RefusalLine;
  readonly balance: Balance | null;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
  readonly onGrant: (balance: Balance) => void;
}

export function RefusalPane({ line, balance, onClose, onMove, onGrant }: RefusalPaneProps) {
  const { refusal } = line;
  const of = (value: number): string => amountText(value, refusal?.account.unit ?? 'tokens');
  return (
    <Pane
      title={`Refused: ${line.user}`}
      simulated={refusal?.account.book === 'simulated'}
      onClose={onClose}
      onMove={onMove}
      footer={
        <>
          {balance === null ? null : <Button onClick={() => onGrant(balance)}>Grant more for this period</Button>}
          <CopyButton label="Copy as JSON" text={() => JSON.stringify(line, null, 2)} />
        </>
      }
    >
      <PaneText>{line.message}</PaneText>
      {refusal === null ? null : <p className="px-4 wrap-anywhere">{needSentence(refusal)}</p>}
      <Facts
        facts={[
          ['code', codeText(line.code)],
          ['times', count(line.count)],
          ['first', `${stampText(line.firstAt)} UTC`],
          ['last', `${stampText(line.lastAt)} UTC`],
          ['user', line.user],
          ['tenant', line.tenant],
          ['model', line.model],
          ...(refusal === null
            ? []
            : ([
                ['account', `${accountName(refusal.account)} · ${accountNote(refusal.account)}`],
                ['needed', of(refusal.needed)],
                ['spent', of(refusal.spent)],
                ['held', of(refusal.held)],
                ['free', `${of(refusal.free)} of ${of(refusal.limit)}`],
                [
                  'Retry-After',
                  refusal.retryAfterSeconds === null
                    ? 'none: waiting does not help'
                    : `${count(refusal.retryAfterSeconds)} s, ${retryReason(line, balance?.timeZone ?? null)}`,
                ],
              ] as const)),
        ]}
      />
    </Pane>
  );
}

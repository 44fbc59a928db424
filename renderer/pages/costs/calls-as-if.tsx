/** What the calls of today and of this session would have cost elsewhere, from the counts the server reported. */
import { useEffect, useState } from 'react';
import type { CallsCost, PriceList, PriceSetName } from '../../../shared/contract/costs.ts';
import { exactDollars } from '../../../shared/contract/costs.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { RequestResult } from '../../../shared/contract/requests.ts';
import { SimulatedTag } from '../../components/chip.tsx';
import { Choice } from '../../components/field.tsx';
import { count, counted, timeOfDay } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { priceKey, priceWord } from './use-costs.ts';

export function CallsAsIf({ prices }: { readonly prices: PriceList }) {
  const client = useClient();
  const chosen = useEngine((state) => state.settings?.asIfPriceSet ?? null);
  const { calls, denial } = useCallsCost(chosen);
  const choose = (key: string): void => {
    const set = prices.find((one) => priceKey(one.set) === key)?.set;
    const asIfPriceSet = set === undefined ? null : { name: set.name, date: set.date };
    void client.request('settings.set', { asIfPriceSet }).then((answer) => {
      if (!answer.ok)
        client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-ink">As if priced by</span>
        <div className="w-64">
          <Choice
            label="As if priced by"
            value={chosen === null ? '' : priceKey(chosen)}
            options={[
              { value: '', text: 'none' },
              ...prices.map(({ set }) => ({ value: priceKey(set), text: priceWord(set) })),
            ]}
            onValue={choose}
          />
        </div>
        {calls?.simulated === true && chosen !== null ? <SimulatedTag /> : null}
      </div>
      {denial !== null ? (
        <p role="alert" className="wrap-anywhere text-ink">
          {denial.message} {denial.next ?? ''}
        </p>
      ) : chosen === null ? (
        <p className="max-w-[64ch]">
          A model on this machine costs nothing for its tokens: $0. Choose prices to see what the same calls would have
          cost.
        </p>
      ) : calls === null ? (
        <p className="text-ink-3">Adding up</p>
      ) : (
        <CallsTable today={calls.today} session={calls.session} />
      )}
    </>
  );
}

function CallsTable({ today, session }: { today: CallsCost; session: CallsCost }) {
  const rows = [
    { name: 'Today', note: 'since midnight UTC', sum: today },
    { name: 'This session', note: `since ${timeOfDay(session.since)}`, sum: session },
  ];
  return (
    <table className="w-full max-w-[640px] text-table" aria-label="Calls, as if">
      <thead>
        <tr className="border-b text-right text-ink-3 [&>th]:py-1 [&>th]:pl-3 [&>th]:font-normal">
          <th className="text-left">{''}</th>
          <th>calls</th>
          <th>prompt tokens, counted</th>
          <th>answer tokens, counted</th>
          <th>here</th>
          <th>as if</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, note, sum }) => (
          <tr key={name} className="border-b text-right text-ink [&>td]:py-1 [&>td]:pl-3 [&>td]:whitespace-nowrap">
            <th scope="row" className="py-1 text-left font-normal">
              {name}
              <span className="lab block">{note}</span>
            </th>
            <td>{count(sum.calls)}</td>
            <td>{count(sum.inputTokens)}</td>
            <td>{count(sum.outputTokens)}</td>
            <td>{sum.calls === 0 ? '–' : '$0'}</td>
            <td className="font-semibold">{asIfWord(sum)}</td>
          </tr>
        ))}
      </tbody>
      <caption className="lab caption-bottom pt-1 text-left">{unknownWords(today, session)}</caption>
    </table>
  );
}

/** A sum that misses counts is a lower bound and says so; without any count it is a dash. */
export function asIfWord(sum: CallsCost): string {
  if (sum.cost.total === null && sum.cost.input === null && sum.cost.output === null) return '–';
  const known = exactDollars(sum.cost.total ?? sum.cost.input ?? sum.cost.output);
  return sum.callsUnknown > 0 ? `at least ${known}` : known;
}

export function unknownWords(today: CallsCost, session: CallsCost): string {
  if (today.calls === 0 && session.calls === 0) return 'No calls yet. Counts are those that the server reports.';
  const unknown = Math.max(today.callsUnknown, session.callsUnknown);
  if (unknown === 0) return 'Every call reported its counts.';
  return `${counted(unknown, 'call')} reported no counts or only one: what is not known is left out, so the sum is at least this.`;
}

type CallsCosts = RequestResult<'cost.calls'>;

/** Read again whenever a call ended or the server changed. */
function useCallsCost(chosen: PriceSetName | null): { calls: CallsCosts | null; denial: Denial | null } {
  const client = useClient();
  const ended = useEngine((state) => state.callsEnded);
  const kind = useEngine((state) => state.server?.kind ?? null);
  const loaded = useEngine((state) => state.loaded);
  const key = chosen === null ? null : priceKey(chosen);
  const [answered, setAnswered] = useState<{ key: string; calls: CallsCosts | null; denial: Denial | null } | null>(
    null,
  );
  useEffect(() => {
    if (key === null || !loaded) return;
    const [name = '', date = ''] = key.split('\n');
    let current = true;
    void client.request('cost.calls', { priceSet: { name, date: date === '' ? null : date } }).then((answer) => {
      if (!current) return;
      setAnswered({ key, calls: answer.ok ? answer.value : null, denial: answer.ok ? null : answer.denial });
    });
    return () => {
      current = false;
    };
  }, [client, key, ended, kind, loaded]);
  return answered === null || answered.key !== key ? { calls: null, denial: null } : answered;
}

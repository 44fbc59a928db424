/** The price sets: what is charged per million tokens, when it was read and where. One's own can be added and removed. */
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { NanoDollars, PriceList } from '../../../shared/contract/costs.ts';
import { exactDollars } from '../../../shared/contract/costs.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Field, NumberBox, TextBox } from '../../components/field.tsx';
import { useClient } from '../../stores/engine-context.ts';
import { emptyPriceText, priceLabels, problemsOf, readPriceText } from './price-form.ts';
import type { PriceField, PriceProblems } from './price-form.ts';
import { priceKey, priceWord } from './use-costs.ts';

export interface PriceSetsProps {
  readonly prices: PriceList;
  readonly onPrices: (prices: PriceList) => void;
}

export function PriceSets({ prices, onPrices }: PriceSetsProps) {
  const client = useClient();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<PriceList[number] | null>(null);
  const remove = ({ set }: PriceList[number]): void => {
    void client.request('prices.forget', { name: set.name, date: set.date }).then((answer) => {
      if (answer.ok) onPrices(answer.value);
      else client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <>
      <table className="w-full text-table" aria-label="Price sets">
        <thead>
          <tr className="border-b text-left text-ink-3 [&>th]:py-1 [&>th]:pr-3 [&>th]:font-normal">
            <th>name</th>
            <th>read on</th>
            <th className="text-right">input</th>
            <th className="text-right">output</th>
            <th className="text-right">cached input</th>
            <th>source</th>
            <th>
              <span className="sr-only">act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {prices.map((one) => (
            <tr key={priceKey(one.set)} className="border-b align-top text-ink [&>td]:py-1.5 [&>td]:pr-3">
              <td className="min-w-32 wrap-anywhere">{one.set.name}</td>
              <td className="whitespace-nowrap">{one.set.date ?? '–'}</td>
              <td className="text-right whitespace-nowrap">{perMillion(one.set.inputNanoDollarsPerToken)}</td>
              <td className="text-right whitespace-nowrap">{perMillion(one.set.outputNanoDollarsPerToken)}</td>
              <td className="text-right whitespace-nowrap">{cachedWord(one.set.cachedNanoDollarsPerToken)}</td>
              <td className="wrap-anywhere text-ink-2">{one.set.source}</td>
              <td className="w-8 p-0!">
                {one.own ? (
                  <IconButton icon={Trash2} label={`Remove ${priceWord(one.set)}`} onClick={() => setRemoving(one)} />
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
        <caption className="lab caption-bottom pt-1 text-left">
          Dollars per million tokens. Cached input: tokens a provider had seen before; a dash means they cost as other
          input.
        </caption>
      </table>
      {adding ? (
        <AddSet
          onDone={(list) => {
            if (list !== null) onPrices(list);
            setAdding(false);
          }}
        />
      ) : (
        <div>
          <Button icon={Plus} onClick={() => setAdding(true)}>
            Add prices
          </Button>
        </div>
      )}
      <Confirm
        open={removing !== null}
        title={`Remove ${removing === null ? '' : priceWord(removing.set)}?`}
        text="Sums that use it are no longer shown. It can be added again."
        action="Remove"
        onConfirm={() => {
          if (removing !== null) remove(removing);
        }}
        onClose={() => setRemoving(null)}
      />
    </>
  );
}

/** Nano-dollars a token are thousandths of a dollar per million. */
const perMillion = (perToken: NanoDollars): string => exactDollars((perToken * 1_000_000) as NanoDollars);
const cachedWord = (perToken: NanoDollars | null): string => (perToken === null ? '–' : perMillion(perToken));

function AddSet({ onDone }: { onDone: (prices: PriceList | null) => void }) {
  const client = useClient();
  const [text, setText] = useState(() => emptyPriceText(new Date().toISOString().slice(0, 10)));
  const [problems, setProblems] = useState<PriceProblems>({});
  const [said, setSaid] = useState<string | null>(null);
  const save = (): void => {
    const read = readPriceText(text);
    setSaid(null);
    if ('problems' in read) return setProblems(read.problems);
    setProblems({});
    void client.request('prices.set', read.input).then((answer) => {
      if (answer.ok) return onDone(answer.value);
      const beside = problemsOf(answer.denial);
      if (beside !== null) setProblems(beside);
      else setSaid([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
    });
  };
  const edit = (field: PriceField) => (value: string) => setText((before) => ({ ...before, [field]: value }));
  const price = (field: PriceField, placeholder: string, help: string) => (
    <Field label={`${priceLabels[field]}, $ per million`} help={help} problem={problems[field] ?? null}>
      {({ id, problemId }) => (
        <NumberBox
          id={id}
          value={text[field]}
          placeholder={placeholder}
          problem={problems[field] ?? null}
          problemId={problemId}
          onValue={edit(field)}
        />
      )}
    </Field>
  );
  const words = (field: PriceField, placeholder: string, maxLength: number) => (
    <Field label={priceLabels[field]} problem={problems[field] ?? null}>
      {({ id, problemId }) => (
        <TextBox
          id={id}
          value={text[field]}
          placeholder={placeholder}
          maxLength={maxLength}
          aria-invalid={problems[field] !== undefined}
          aria-describedby={problems[field] === undefined ? undefined : problemId}
          onValue={edit(field)}
        />
      )}
    </Field>
  );
  return (
    <form
      aria-label="Add prices"
      className="flex flex-col gap-3 border-l-2 border-field pl-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="grid grid-cols-2 gap-3">
        {words('name', 'Big model 3', 100)}
        {words('date', '2026-11-14', 10)}
      </div>
      <div className="grid grid-cols-3 items-start gap-3">
        {price('inputPerMillion', '2', 'What a million prompt tokens cost')}
        {price('outputPerMillion', '10', 'What a million answer tokens cost, thinking included')}
        {price('cachedPerMillion', 'as input', 'What a million prompt tokens cost that the provider had cached')}
      </div>
      {words('source', 'where the prices were read', 500)}
      {said === null ? null : (
        <p role="alert" className="wrap-anywhere text-ink">
          {said}
        </p>
      )}
      <div className="flex gap-2">
        <Button look="primary" type="submit">
          Add
        </Button>
        <Button onClick={() => onDone(null)}>Cancel</Button>
      </div>
    </form>
  );
}

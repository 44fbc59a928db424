/** The calculator as one sentence that is a form. */
import type { PriceList, PriceSetName } from '../../../shared/contract/costs.ts';
import { Help, ListBox, Slot, Suggestions, Together } from '../../components/slot.tsx';
import type { CalculatorField, CalculatorText } from './calculator.ts';
import { priceKey, priceWord } from './use-costs.ts';

export interface SentenceProps {
  readonly text: CalculatorText;
  readonly problems: Readonly<Partial<Record<CalculatorField, string>>>;
  readonly prices: PriceList;
  readonly priceSet: PriceSetName | null;
  readonly onEdit: (patch: Partial<CalculatorText>) => void;
}

export function Sentence({ text, problems, prices, priceSet, onEdit }: SentenceProps) {
  const box = (field: CalculatorField, name: string, help: string, suggested: readonly string[]) => (
    <Slot label={name} value={text[field].trim() === '' ? 'nothing' : text[field]} problem={problems[field] ?? null}>
      <ListBox label={name} value={text[field]} onValue={(value) => onEdit({ [field]: value })} />
      <Suggestions
        items={suggested.map((value) => [value === '' ? 'nothing' : value, value])}
        onPick={(value) => onEdit({ [field]: value })}
      />
      <Help text={help} />
    </Slot>
  );
  return (
    <p className="flex min-w-0 flex-wrap items-baseline gap-x-1.5 gap-y-1 text-lead leading-7">
      <span>In a chat of</span>
      {box('turns', 'Turns', 'A turn is one request to the model. Each sends the whole history again.', [
        '5',
        '20',
        '100',
      ])}
      <span>turns, each adding</span>
      {box('added', 'Tokens a turn adds', addedHelp, ['500', '4,000', '40,000'])}
      <span>tokens against</span>
      <Together>
        {box('against', 'Tokens to compare with', `${addedHelp} Empty: nothing to compare with.`, [
          '',
          '500',
          '40,000',
        ])}
        ,
      </Together>
      <span>after a first prompt of</span>
      {box('base', 'First prompt, tokens', 'System text, tool descriptions and the first question.', [
        '500',
        '3,000',
        '20,000',
      ])}
      <span>and with</span>
      {box('answer', 'Answer tokens a turn', 'What the model writes in a turn, thinking included; charged as output.', [
        '0',
        '200',
        '2,000',
      ])}
      <span>answer tokens a turn, at the prices of</span>
      <Together>
        <Slot label="Prices" value={priceSet === null ? 'choose prices' : priceWord(priceSet)}>
          <PriceChoice prices={prices} value={priceSet} onValue={(set) => onEdit({ priceSet: set })} />
        </Slot>
        ,
      </Together>
      {box('perDay', 'Conversations a day', 'How many such chats there are on a day.', ['1', '10', '1,000'])}
      <span>times a day on</span>
      {box('days', 'Days a month', 'Days of the month with such chats, 31 at most.', ['5', '22', '30'])}
      <span>days a month.</span>
    </p>
  );
}

const addedHelp = 'What a turn leaves in the history: its answer, tool output, the next question.';

function PriceChoice({
  prices,
  value,
  onValue,
}: {
  prices: PriceList;
  value: PriceSetName | null;
  onValue: (set: PriceSetName) => void;
}) {
  return (
    <fieldset className="flex flex-col">
      <legend className="lab">Prices</legend>
      {prices.map(({ set }) => (
        <label key={priceKey(set)} className="flex min-h-6 items-center gap-2 text-ink">
          <input
            type="radio"
            name="prices"
            className="flex-none accent-(--ink)"
            checked={value !== null && priceKey(value) === priceKey(set)}
            onChange={() => onValue({ name: set.name, date: set.date })}
          />
          <span className="min-w-0 wrap-anywhere">{priceWord(set)}</span>
        </label>
      ))}
    </fieldset>
  );
}

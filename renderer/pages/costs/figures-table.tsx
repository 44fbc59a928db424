/** The sums of the calculator, one column for each size. Exact: no dollar amount is rounded. */
import { exactDollars } from '../../../shared/contract/costs.ts';
import { count, counted } from '../../format/numbers.ts';
import { sentOnce, timesSent, timesWord } from './calculator.ts';
import type { CalculatorAsk, CalculatorLine } from './calculator.ts';
import type { Figures } from './use-costs.ts';
import { priceWord } from './use-costs.ts';

export function FiguresTable({ figures }: { readonly figures: Figures }) {
  const { ask, lines, priceSet } = figures;
  return (
    <table className="w-full text-table" aria-label="Sums of the calculator">
      <thead>
        <tr className="border-b text-ink-3">
          <th className="py-1 text-left font-normal">a turn adds</th>
          {lines.map((line) => (
            <th key={line.size} scope="col" className="py-1 pl-3 text-right font-semibold text-ink">
              {count(line.size)} tokens
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rowsOf(ask).map((row) => (
          <tr key={row.name} className="border-b last:border-b-0">
            <th scope="row" className="py-1 text-left align-top font-normal text-ink-2">
              {row.name}
              {row.note === undefined ? null : <span className="lab block">{row.note}</span>}
            </th>
            {lines.map((line) => (
              <td
                key={line.size}
                className={`py-1 pl-3 text-right align-top whitespace-nowrap text-ink ${row.strong === true ? 'text-body font-semibold' : ''}`}
              >
                {row.value(line)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      <caption className="lab caption-bottom pt-1 text-left">
        Computed from the numbers above, not measured. As if priced by {priceWord(priceSet)}; exact, not rounded.
      </caption>
    </table>
  );
}

interface FigureRow {
  readonly name: string;
  readonly note?: string;
  readonly strong?: boolean;
  readonly value: (line: CalculatorLine) => string;
}

function rowsOf(ask: CalculatorAsk): readonly FigureRow[] {
  const month = ask.perDay * ask.days;
  return [
    {
      name: 'Tokens sent',
      note: 'every turn sends the history again',
      strong: true,
      value: (line) => count(line.conversation.inputTokens),
    },
    {
      name: 'Sent once',
      note: 'if no token went twice',
      value: (line) => count(sentOnce(ask.turns, ask.base, line.size)),
    },
    { name: 'Re-sent', note: 'how often a token goes, on average', value: (line) => timesWord(timesSent(line, ask)) },
    { name: 'Answer tokens', value: (line) => count(line.conversation.outputTokens) },
    { name: 'For input', value: (line) => exactDollars(line.conversation.input) },
    { name: 'For output', value: (line) => exactDollars(line.conversation.output) },
    { name: 'A conversation', strong: true, value: (line) => exactDollars(line.conversation.total) },
    {
      name: 'A month',
      note: counted(month, 'conversation'),
      strong: true,
      value: (line) => exactDollars(line.month.total),
    },
  ];
}

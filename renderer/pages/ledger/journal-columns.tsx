import type { LedgerEntry } from '../../../shared/contract/ledger.ts';
import type { Column } from '../../components/data-table.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { count, DASH } from '../../format/numbers.ts';
import { accountOfKey, amountText, operationHelp, sourceShort, sourceWord, stampText } from './words.ts';

export const journalColumns: readonly Column<LedgerEntry>[] = [
  { id: 'seq', header: 'entry', width: '80px', numeric: true, text: (entry) => count(entry.seq) },
  {
    id: 'at',
    header: 'at, UTC',
    width: '152px',
    text: (entry) => stampText(entry.at),
  },
  {
    id: 'operation',
    header: 'operation',
    width: '76px',
    text: (entry) => entry.operation,
    cell: (entry) => <span title={operationHelp[entry.operation]}>{entry.operation}</span>,
  },
  { id: 'user', header: 'user', width: 'minmax(72px, 1fr)', text: (entry) => entry.user ?? DASH },
  { id: 'tenant', header: 'tenant', width: 'minmax(72px, 1fr)', text: (entry) => entry.tenant },
  {
    id: 'model',
    header: 'model',
    width: 'minmax(96px, 1fr)',
    text: (entry) => entry.model ?? DASH,
    cell: (entry) => (entry.model === null ? <span>{DASH}</span> : <ModelName name={entry.model} />),
  },
  {
    id: 'amount',
    header: 'amount',
    help: 'Held by reserve, charged by the others, added to the limit by grant',
    width: '92px',
    numeric: true,
    text: mainAmount,
  },
  {
    id: 'tokens',
    header: 'in + out',
    width: '112px',
    numeric: true,
    text: (entry) => (entry.inputTokens === null ? DASH : `${count(entry.inputTokens)} + ${count(entry.outputTokens)}`),
  },
  {
    id: 'overrun',
    header: 'overrun',
    help: 'Charged above what was held',
    width: '68px',
    numeric: true,
    text: (entry) => {
      const over = Math.max(0, ...entry.lines.map(({ overrun }) => overrun));
      return over === 0 ? '' : count(over);
    },
  },
  {
    id: 'source',
    header: 'source',
    width: '84px',
    text: (entry) => (entry.source === null ? '' : sourceShort[entry.source]),
    cell: (entry) =>
      entry.source === null ? null : <span title={sourceWord[entry.source]}>{sourceShort[entry.source]}</span>,
  },
  {
    id: 'about',
    header: 'accounts or reason',
    width: 'minmax(128px, 2fr)',
    text: (entry) => [entry.reason, accountsText(entry)].filter(Boolean).join(' · '),
    cell: (entry) => {
      const text = [entry.reason, accountsText(entry)].filter(Boolean).join(' · ');
      return (
        <span className="truncate text-ink-2" title={text}>
          {text}
        </span>
      );
    },
  },
];

/** Of tokens where there are any: the same amount lies on every account of a unit. */
function mainAmount({ lines }: LedgerEntry): string {
  const line = lines.find(({ unit }) => unit === 'tokens') ?? lines[0];
  return line === undefined ? DASH : amountText(line.amount, line.unit);
}

function accountsText({ lines }: LedgerEntry): string {
  return lines
    .slice(0, 4)
    .map(({ account }) => {
      const read = accountOfKey(account);
      return read === null ? account : `${read.scope} ${read.period}`;
    })
    .join(', ');
}

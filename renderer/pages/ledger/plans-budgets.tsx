/** The budgets of a plan as rows: whose, over what time, in which unit, how much, and when it is said. */
import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../components/button.tsx';
import { Choice, NumberBox, Problem } from '../../components/field.tsx';
import { budgetScopes, budgetSchema, budgetUnits, budgetWindows } from '../../../shared/contract/plans.ts';
import { parseWhole } from '../live/build-request.ts';
import { readDollars } from './plans-money.ts';
import { textOfBudget } from './plans-text.ts';
import type { BudgetText, PlanProblems } from './plans-text.ts';
import { limitWord, scopeHelp, scopeWords, unitWords, windowWords } from './plans-words.ts';

export interface BudgetsPartProps {
  readonly budgets: readonly BudgetText[];
  readonly problems: PlanProblems;
  readonly onBudgets: (budgets: readonly BudgetText[]) => void;
}

const BUDGETS_MAX = 30;

export function BudgetsPart({ budgets, problems, onBudgets }: BudgetsPartProps) {
  const edit = (id: number, patch: Partial<BudgetText>): void =>
    onBudgets(budgets.map((row) => (row.id === id ? { ...row, ...patch } : row)));
  return (
    <>
      {budgets.length === 0 ? (
        <p>No budget: nothing is counted against this plan.</p>
      ) : (
        <table aria-label="Budgets" className="w-full table-fixed text-table">
          <colgroup>
            <col className="w-[17%]" />
            <col className="w-[16%]" />
            <col className="w-[17%]" />
            <col className="w-[20%]" />
            <col className="w-[13%]" />
            <col className="w-[17%]" />
            <col className="w-9" />
          </colgroup>
          <thead>
            <tr className="text-left text-ink-3 [&>th]:pr-2 [&>th]:pb-1 [&>th]:font-normal">
              <th>of</th>
              <th>for each</th>
              <th>unit</th>
              <th>limit</th>
              <th title="Whole percents of the limit; each is told once a period">alerts at %</th>
              <th title="What a refusal says to wait. Empty: to the end of the period; for a tenant an hour">
                Retry-After, s
              </th>
              <th>
                <span className="sr-only">act</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {budgets.map((row, at) => (
              <Row
                key={row.id}
                row={row}
                at={at}
                problems={problems}
                onRow={(patch) => edit(row.id, patch)}
                onRemove={() => onBudgets(budgets.filter((each) => each.id !== row.id))}
              />
            ))}
          </tbody>
        </table>
      )}
      <Problem text={problems['budgets'] ?? null} />
      <div>
        <Button
          icon={Plus}
          disabled={budgets.length >= BUDGETS_MAX}
          title={budgets.length >= BUDGETS_MAX ? `At most ${BUDGETS_MAX} rows` : ''}
          onClick={() => onBudgets([...budgets, newRow(budgets)])}
        >
          Add a budget
        </Button>
      </div>
    </>
  );
}

interface RowProps {
  readonly row: BudgetText;
  readonly at: number;
  readonly problems: PlanProblems;
  readonly onRow: (patch: Partial<BudgetText>) => void;
  readonly onRemove: () => void;
}

function Row({ row, at, problems, onRow, onRemove }: RowProps) {
  const problem = (field: string): string | null => problems[`budgets[${at}]${field}`] ?? null;
  const said = problem('') ?? problem('.limit') ?? problem('.alertsPercent') ?? problem('.retryAfterSeconds');
  const name = `Budget ${at + 1}`;
  const problemId = `budget-${row.id}-problem`;
  return (
    <>
      <tr className="align-top [&>td]:pr-2 [&>td]:pb-2">
        <td>
          <Choice
            label={`${name}, of`}
            value={row.scope}
            options={budgetScopes.map((value) => ({ value, text: scopeWords[value] }))}
            onValue={(scope) => onRow({ scope })}
          />
          <p className="lab">{scopeHelp[row.scope]}</p>
        </td>
        <td>
          <Choice
            label={`${name}, for each`}
            value={row.window}
            options={budgetWindows.map((value) => ({ value, text: windowWords[value] }))}
            onValue={(window) => onRow({ window })}
          />
        </td>
        <td>
          <Choice
            label={`${name}, unit`}
            value={row.unit}
            options={budgetUnits.map((value) => ({ value, text: unitWords[value] }))}
            onValue={(unit) => onRow({ unit })}
          />
        </td>
        <td>
          <NumberBox
            aria-label={`${name}, limit`}
            value={row.limit}
            placeholder="unlimited"
            problem={problem('.limit') ?? problem('')}
            problemId={problemId}
            onValue={(limit) => onRow({ limit })}
          />
          {said === null ? <p className="lab truncate">{limitWordOf(row)}</p> : null}
        </td>
        <td>
          <NumberBox
            aria-label={`${name}, alerts at percent`}
            value={row.alerts}
            placeholder="none"
            problem={problem('.alertsPercent')}
            problemId={problemId}
            onValue={(alerts) => onRow({ alerts })}
          />
        </td>
        <td>
          <NumberBox
            aria-label={`${name}, Retry-After in seconds`}
            value={row.retryAfter}
            placeholder={row.scope === 'tenant' ? '3,600' : 'period end'}
            problem={problem('.retryAfterSeconds')}
            problemId={problemId}
            onValue={(retryAfter) => onRow({ retryAfter })}
          />
        </td>
        <td className="w-8 p-0!">
          <IconButton icon={Trash2} label={`Remove budget ${at + 1}`} onClick={onRemove} />
        </td>
      </tr>
      {said === null ? null : (
        <tr>
          <td colSpan={7} className="pb-2">
            <Problem id={problemId} text={said} />
          </td>
        </tr>
      )}
    </>
  );
}

function limitWordOf({ limit, unit }: BudgetText): string {
  if (unit === 'nano-dollars') return limitWord(readDollars(limit), unit) ?? '';
  const whole = parseWhole(limit);
  return 'problem' in whole ? '' : (limitWord(whole.value, unitWords[unit]) ?? '');
}

/** The first pair of scope and window that is still free, so that a new row is never a row that is there twice. */
function newRow(rows: readonly BudgetText[]): BudgetText {
  const taken = new Set(rows.map(({ scope, window, unit }) => `${scope} ${window} ${unit}`));
  for (const scope of ['user', 'tenant', 'model', 'conversation', 'experiment'] as const)
    for (const window of ['day', 'month', 'minute', 'week', 'run'] as const)
      if (!taken.has(`${scope} ${window} tokens`))
        return textOfBudget(budgetSchema.parse({ scope, window, unit: 'tokens', limit: null }));
  return textOfBudget(budgetSchema.parse({ scope: 'user', window: 'day', unit: 'requests', limit: null }));
}

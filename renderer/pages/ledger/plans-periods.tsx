/** When the periods of a plan begin, and how its calls are charged. */
import type { PriceList, PriceSetName } from '../../../shared/contract/costs.ts';
import { Choice, Field } from '../../components/field.tsx';
import { priceKey, priceWord } from '../costs/use-costs.ts';
import type { PlanProblems, PlanText } from './plans-text.ts';
import { ZonePicker } from './plans-zone.tsx';

interface PartProps {
  readonly text: PlanText;
  readonly problems: PlanProblems;
  readonly onText: (text: PlanText) => void;
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

export function PeriodsPart({ text, problems, zones, onText }: PartProps & { readonly zones: readonly string[] }) {
  return (
    <div className="grid max-w-[800px] grid-cols-3 items-start gap-3">
      <Field label="Time zone" problem={problems['timeZone'] ?? null}>
        {({ id, problemId }) => (
          <ZonePicker
            id={id}
            label="Time zone"
            value={text.timeZone}
            zones={zones}
            problem={problems['timeZone'] ?? null}
            problemId={problemId}
            onValue={(timeZone) => onText({ ...text, timeZone })}
          />
        )}
      </Field>
      <Field label="A day begins at" help="Local hour. Weeks and months begin at the same hour of their first day.">
        {({ id }) => (
          <Choice
            id={id}
            value={text.resetHour}
            options={Array.from({ length: 24 }, (_, hour) => ({
              value: String(hour),
              text: hour === 0 ? '00:00, midnight' : `${String(hour).padStart(2, '0')}:00`,
            }))}
            onValue={(resetHour) => onText({ ...text, resetHour })}
          />
        )}
      </Field>
      <Field label="A week begins on">
        {({ id }) => (
          <Choice
            id={id}
            value={text.weekStartsOn}
            options={weekdays.map((day, at) => ({ value: String(at + 1), text: day }))}
            onValue={(weekStartsOn) => onText({ ...text, weekStartsOn })}
          />
        )}
      </Field>
    </div>
  );
}

export function ChargingPart({ text, problems, prices, onText }: PartProps & { readonly prices: PriceList }) {
  return (
    <div className="grid max-w-[1100px] grid-cols-3 items-start gap-3">
      <Field label="A call that was stopped">
        {({ id }) => (
          <>
            <Choice
              id={id}
              value={text.onCancel}
              options={[
                { value: 'forfeit', text: 'pays all it held' },
                { value: 'observed', text: 'pays what was seen' },
              ]}
              onValue={(onCancel) => onText({ ...text, onCancel })}
            />
            <p className="lab">
              {text.onCancel === 'forfeit'
                ? 'Stopped, timed out or left: the server may have done the work.'
                : 'The estimate of its prompt and the tokens that came, marked as an estimate.'}
            </p>
          </>
        )}
      </Field>
      <Field label="A prompt above its estimate">
        {({ id }) => (
          <>
            <Choice
              id={id}
              value={text.overrun}
              options={[
                { value: 'mark', text: 'is charged and marked' },
                { value: 'strict', text: 'cannot happen (strict)' },
              ]}
              onValue={(overrun) => onText({ ...text, overrun })}
            />
            <p className="lab">
              {text.overrun === 'mark'
                ? 'A limit can be passed by the part above the estimate; it counts.'
                : 'What the prompt can be at most is held: limits are never passed, fewer calls fit.'}
            </p>
          </>
        )}
      </Field>
      <Field label="Prices for budgets in dollars" problem={problems['prices'] ?? null}>
        {({ id }) => (
          <>
            <Choice
              id={id}
              value={text.prices === null ? '' : priceKey(text.prices)}
              options={priceOptions(prices, text.prices)}
              onValue={(key) =>
                onText({ ...text, prices: key === '' ? null : (namesOf(prices, text.prices).get(key) ?? null) })
              }
            />
            <p className="lab">
              {text.prices === null
                ? 'Local tokens cost nothing: a budget in dollars is never used up.'
                : 'Sets are kept under Costs.'}
            </p>
          </>
        )}
      </Field>
    </div>
  );
}

/** Without the shipped local one, which is no prices; a set that was removed since stays, or the choice would change by itself. */
function namesOf(prices: PriceList, chosen: PriceSetName | null): ReadonlyMap<string, PriceSetName> {
  const names = prices
    .filter(({ set, own }) => own || set.inputNanoDollarsPerToken > 0 || set.outputNanoDollarsPerToken > 0)
    .map(({ set }): PriceSetName => ({ name: set.name, date: set.date }));
  return new Map([...names, ...(chosen === null ? [] : [chosen])].map((name) => [priceKey(name), name]));
}

function priceOptions(prices: PriceList, chosen: PriceSetName | null): { value: string; text: string }[] {
  const known = new Set(prices.map(({ set }) => priceKey(set)));
  return [
    { value: '', text: 'local, nothing' },
    ...[...namesOf(prices, chosen)].map(([value, name]) => ({
      value,
      text: known.has(value) ? priceWord(name) : `${priceWord(name)}, removed`,
    })),
  ];
}

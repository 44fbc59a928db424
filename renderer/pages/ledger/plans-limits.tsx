/** The limits of a call: one box each, and beside it in words what it means. */
import type { PlanWarning } from '../../../shared/contract/plans.ts';
import { Choice, Field, NumberBox } from '../../components/field.tsx';
import { count } from '../../format/numbers.ts';
import { parseWhole } from '../live/build-request.ts';
import { limitFields, limitLabels } from './plans-text.ts';
import type { LimitField, PlanProblems, PlanText } from './plans-text.ts';
import { Warnings } from './plans-warning.tsx';
import { limitWord } from './plans-words.ts';

export interface LimitsPartProps {
  readonly text: PlanText;
  readonly problems: PlanProblems;
  readonly warnings: readonly PlanWarning[];
  readonly onText: (text: PlanText) => void;
}

const helps: Readonly<Record<LimitField, string>> = {
  messageCharactersMax: 'The newest message of the user, in characters.',
  conversationTokensMax: 'Everything that would be sent again, estimated: the whole history counts.',
  outputTokensMax: 'The largest num_predict a call may ask for. It is reserved before the call.',
  wallClockMsMax: 'From sending to the end. A call that reaches it is stopped, and the server stops too.',
  bodyBytesMax: 'The body of a request that comes in over HTTP.',
};

const units: Readonly<Record<LimitField, string>> = {
  messageCharactersMax: 'characters',
  conversationTokensMax: 'tokens',
  outputTokensMax: 'tokens',
  wallClockMsMax: 'seconds',
  bodyBytesMax: 'bytes',
};

export function LimitsPart({ text, problems, warnings, onText }: LimitsPartProps) {
  const set = (field: LimitField, value: string): void =>
    onText({ ...text, limits: { ...text.limits, [field]: value } });
  return (
    <>
      <div className="grid grid-cols-3 items-start gap-3 min-[1500px]:grid-cols-6">
        {limitFields.map((field) => {
          const problem = problems[`limits.${field}`] ?? null;
          return (
            <Field key={field} label={limitLabels[field]} help={helps[field]} problem={problem}>
              {({ id, problemId }) => (
                <>
                  <NumberBox
                    id={id}
                    value={text.limits[field]}
                    placeholder="unlimited"
                    problem={problem}
                    problemId={problemId}
                    onValue={(value) => set(field, value)}
                  />
                  {problem === null ? <p className="lab truncate">{wordOf(text.limits[field], units[field])}</p> : null}
                </>
              )}
            </Field>
          );
        })}
        <Field
          label="Conversation over its limit"
          help="Refused with 422, or shortened by a call of its own that is paid like any other."
        >
          {({ id }) => (
            <>
              <Choice
                id={id}
                value={text.onConversationOverflow}
                options={[
                  { value: 'refuse', text: 'refuse it' },
                  { value: 'summarise', text: 'summarise it' },
                ]}
                onValue={(onConversationOverflow) => onText({ ...text, onConversationOverflow })}
              />
              <p className="lab truncate">
                {text.onConversationOverflow === 'refuse' ? 'the call is answered with 422' : 'one more call, paid too'}
              </p>
            </>
          )}
        </Field>
      </div>
      <Warnings warnings={warnings} text={text} onText={onText} />
      <ModelsField text={text} problem={problems['limits.models'] ?? null} onText={onText} />
    </>
  );
}

interface ModelsFieldProps {
  readonly text: PlanText;
  readonly problem: string | null;
  readonly onText: (text: PlanText) => void;
}

function ModelsField({ text, problem, onText }: ModelsFieldProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,2fr)] items-start gap-3">
      <Field label="Models" help="Names as the server lists them. Other models are refused.">
        {({ id }) => (
          <>
            <Choice
              id={id}
              value={text.isListed ? 'listed' : 'every'}
              options={[
                { value: 'every', text: 'every model' },
                { value: 'listed', text: 'only these' },
              ]}
              onValue={(value) => onText({ ...text, isListed: value === 'listed' })}
            />
            <p className="lab">{modelsWord(text)}</p>
          </>
        )}
      </Field>
      {text.isListed ? (
        <Field label="Names, one a line" problem={problem}>
          {({ id, problemId }) => (
            <textarea
              id={id}
              rows={Math.min(6, Math.max(2, text.models.split('\n').length))}
              spellCheck={false}
              maxLength={100_000}
              placeholder="llama3.2:3b"
              value={text.models}
              aria-invalid={problem !== null}
              aria-describedby={problem === null ? undefined : problemId}
              onChange={(event) => onText({ ...text, models: event.target.value })}
              className="field mono h-auto! resize-y py-1"
            />
          )}
        </Field>
      ) : null}
    </div>
  );
}

function wordOf(text: string, unit: string): string {
  if (unit === 'seconds') {
    const bare = text.trim();
    if (bare === '') return 'unlimited';
    return Number(bare) === 0 ? 'nothing is allowed' : `${bare} seconds`;
  }
  const whole = parseWhole(text);
  return 'problem' in whole ? '' : (limitWord(whole.value, unit) ?? '');
}

function modelsWord({ isListed, models }: PlanText): string {
  if (!isListed) return 'no model is refused';
  const names = models.split('\n').filter((name) => name.trim() !== '').length;
  if (names === 0) return 'nothing is allowed';
  return names === 1 ? 'one model is allowed' : `${count(names)} models are allowed`;
}

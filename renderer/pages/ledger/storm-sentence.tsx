/** The storm as one sentence that is a form. */
import { Choice, Field, NumberBox } from '../../components/field.tsx';
import { Slot, Suggestions, Together } from '../../components/slot.tsx';
import { count } from '../../format/numbers.ts';
import { parseWhole } from '../live/build-request.ts';
import type { StormField, StormProblems, StormText } from './storm-model.ts';

export interface StormSentenceProps {
  readonly text: StormText;
  readonly problems: StormProblems;
  readonly disabled: boolean;
  readonly onText: (text: StormText) => void;
}

export function StormSentence({ text, problems, disabled, onText }: StormSentenceProps) {
  const slot = (
    field: Exclude<StormField, 'users'>,
    label: string,
    suggestions: readonly (readonly [string, string])[],
    after = '',
  ) => (
    <Together>
      <Slot
        small
        label={label}
        value={shownValue(field, text[field])}
        problem={problems[field] ?? null}
        disabled={disabled}
      >
        <Field label={label}>
          {({ id }) => (
            <NumberBox
              id={id}
              autoFocus
              value={text[field]}
              placeholder={field.endsWith('Limit') ? 'unlimited' : ''}
              onValue={(value) => onText({ ...text, [field]: value })}
            />
          )}
        </Field>
        {field.endsWith('Limit') ? <p className="lab">Empty is unlimited, 0 allows nothing.</p> : null}
        <Suggestions items={suggestions} onPick={(value) => onText({ ...text, [field]: value })} />
      </Slot>
      {after}
    </Together>
  );
  return (
    <p className="flex min-w-0 flex-wrap items-baseline gap-x-1 leading-6">
      {slot('calls', 'Calls at once', [
        ['5', '5'],
        ['20', '20'],
        ['100', '100'],
        ['200', '200'],
      ])}
      <span>calls at once,</span>
      <Together>
        <Slot
          small
          label="Users"
          value={text.users === 'one' ? 'all of one user' : 'one user each'}
          disabled={disabled}
        >
          <Field label="Users">
            {({ id }) => (
              <Choice
                id={id}
                value={text.users}
                options={[
                  { value: 'one-each', text: 'one user each: the limit of the tenant decides' },
                  { value: 'one', text: 'all of one user: the smaller limit decides' },
                ]}
                onValue={(users) => onText({ ...text, users })}
              />
            )}
          </Field>
        </Slot>
        ,
      </Together>
      {slot('messageCharacters', 'Characters of the message', [
        ['600', '600'],
        ['6,052', '6052'],
        ['24,000', '24000'],
      ])}
      <span>characters and up to</span>
      {slot('outputTokensMax', 'Tokens of the answer', [
        ['50', '50'],
        ['400', '400'],
        ['2,000', '2000'],
      ])}
      <span>tokens of answer; user limit</span>
      {slot(
        'userLimit',
        'User limit, tokens',
        [
          ['6,000', '6000'],
          ['none', ''],
        ],
        ',',
      )}
      <span>tenant limit</span>
      {slot('tenantLimit', 'Tenant limit, tokens', [
        ['9,000', '9000'],
        ['30,000', '30000'],
        ['none', ''],
      ])}
    </p>
  );
}

function shownValue(field: StormField, typed: string): string {
  const whole = parseWhole(typed);
  if ('problem' in whole) return typed;
  if (whole.value === null) return field.endsWith('Limit') ? 'none' : '…';
  return count(whole.value);
}

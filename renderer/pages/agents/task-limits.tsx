/** The eight dimensions of the budget, and how it is shared out. */
import { Choice, Field } from '../../components/field.tsx';
import { Switch, TaskNumber } from './task-fields.tsx';
import type { TaskPartProps } from './task-fields.tsx';
import { fieldLabels } from './task-problems.ts';
import { limitKeys } from './task-text.ts';
import type { LimitKey, NumberKey } from './task-text.ts';
import { limitHelp, limitWord } from './task-words.ts';

const units: Readonly<Partial<Record<LimitKey, string>>> = { nanoDollars: 'dollars', wallClockMs: 'seconds' };

export function LimitsPart({ text, problems, onText }: TaskPartProps) {
  return (
    <>
      <Switch
        text="Governed"
        note="off: everything is let through and only counted, to show what happens without"
        value={text.governed}
        onValue={(governed) => onText({ ...text, governed })}
      />
      <div className="grid grid-cols-[repeat(auto-fill,minmax(150px,1fr))] items-start gap-3">
        {limitKeys.map((key) => (
          <TaskNumber
            key={key}
            field={`limits.${key}`}
            label={[fieldLabels[`limits.${key}`], units[key]].filter(Boolean).join(', ')}
            value={text.limits[key]}
            problems={problems}
            help={limitHelp[key]}
            word={limitWord(key, text.limits[key])}
            placeholder={key === 'depth' || key === 'fanOut' ? '' : 'unlimited'}
            onValue={(value) => onText({ ...text, limits: { ...text.limits, [key]: value } })}
          />
        ))}
        <Field
          label="Tokens are"
          help="Context: what came into a context, counted once. Billed: every model turn is charged its whole context."
        >
          {({ id }) => (
            <Choice
              id={id}
              value={text.tokensMean}
              options={[
                { value: 'context', text: 'context tokens' },
                { value: 'billed', text: 'billed input' },
              ]}
              onValue={(tokensMean) => onText({ ...text, tokensMean })}
            />
          )}
        </Field>
      </div>
    </>
  );
}

export function SharingPart({ text, problems, onText }: TaskPartProps) {
  const number = (key: NumberKey, help: string, word: string, placeholder = '') => (
    <TaskNumber
      field={key}
      value={text.numbers[key]}
      problems={problems}
      help={help}
      word={word}
      placeholder={placeholder}
      onValue={(value) => onText({ ...text, numbers: { ...text.numbers, [key]: value } })}
    />
  );
  const { numbers } = text;
  return (
    <>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(150px,1fr))] items-start gap-3">
        {number('rounds', 'Tool rounds of one agent: a model turn and the calls it asks for.', 'of one agent')}
        {number('keepCalls', 'What an agent keeps for itself when it shares out.', 'not shared out')}
        <Field label="Shared out" help="What an agent may give to the agents below it.">
          {({ id }) => (
            <Choice
              id={id}
              value={text.carveRule}
              options={[
                { value: 'keep', text: 'all but what is kept' },
                { value: 'left', text: 'whatever is left' },
              ]}
              onValue={(carveRule) => onText({ ...text, carveRule })}
            />
          )}
        </Field>
        {number(
          'spawnsPerMinute',
          'How fast agents may be started.',
          numbers.spawnsPerMinute.trim() === '' ? 'as fast as they come' : 'at most',
          'unlimited',
        )}
        {number(
          'approvalAboveNanoDollars',
          'A call whose worst case costs more waits for a person.',
          numbers.approvalAboveNanoDollars.trim() === '' ? 'no call waits' : 'dollars a call',
          'never',
        )}
        {number(
          'raiseOncePercent',
          'When a budget of the first agent is used up, a person is asked once for so much more.',
          numbers.raiseOncePercent.trim() === '' ? 'used up is the end' : '% more, if allowed',
          'never',
        )}
      </div>
      <div className="grid grid-cols-2 gap-x-3 max-[1100px]:grid-cols-1">
        <Switch
          text="Closing call"
          note="one model turn is kept for a summary"
          value={text.closingCall}
          onValue={(closingCall) => onText({ ...text, closingCall })}
        />
        <Switch
          text="Cache fetches"
          note="the same fetch is answered from the run; it still costs a call"
          value={text.cacheFetches}
          onValue={(cacheFetches) => onText({ ...text, cacheFetches })}
        />
      </div>
    </>
  );
}

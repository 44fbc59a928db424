/** Each guard on or off with its numbers, and what happens when one fires. */
import { Choice, Field, NumberBox, Problem, TextBox } from '../../components/field.tsx';
import { Switch } from './task-fields.tsx';
import type { TaskPartProps } from './task-fields.tsx';
import { guardKeys, guardNumberKeys } from './task-text.ts';
import type { GuardKey } from './task-text.ts';
import { guardNumberWords, guardWords } from './task-words.ts';

export function GuardsPart({ text, problems, onText }: TaskPartProps) {
  return (
    <>
      <div className="flex flex-col">
        {guardKeys.map((key) => (
          <GuardRow key={key} guard={key} text={text} problems={problems} onText={onText} />
        ))}
      </div>
      <div className="grid grid-cols-3 items-start gap-3 max-[1100px]:grid-cols-1">
        <Field label="When a guard fires" help="Counted for each guard and tool.">
          {({ id }) => (
            <Choice
              id={id}
              value={text.ladder}
              options={[
                { value: 'warn-block-stop', text: 'warn, then block, then stop' },
                { value: 'block-stop', text: 'block, then stop' },
                { value: 'block', text: 'block only' },
                { value: 'stop', text: 'stop the run at once' },
              ]}
              onValue={(ladder) => onText({ ...text, ladder })}
            />
          )}
        </Field>
        <Field
          label="Exempt tools"
          help="Guards leave them alone. Names, separated by commas."
          problem={problems['guards.exempt'] ?? null}
        >
          {({ id }) => (
            <TextBox
              id={id}
              value={text.exempt}
              maxLength={50_000}
              placeholder="none"
              onValue={(exempt) => onText({ ...text, exempt })}
            />
          )}
        </Field>
        <Field
          label="Ignored fields, one tool a line"
          help="Fields of arguments that say nothing about what is asked, such as cursors."
          problem={problems['guards.ignoredFields'] ?? null}
        >
          {({ id, problemId }) => (
            <textarea
              id={id}
              rows={2}
              spellCheck={false}
              maxLength={100_000}
              value={text.ignoredFields}
              placeholder="list_orders: cursor, timeout"
              aria-invalid={problems['guards.ignoredFields'] !== undefined}
              aria-describedby={problems['guards.ignoredFields'] === undefined ? undefined : problemId}
              className="field h-auto! resize-y py-1"
              onChange={(event) => {
                onText({ ...text, ignoredFields: event.target.value });
              }}
            />
          )}
        </Field>
      </div>
    </>
  );
}

function GuardRow({ guard, text, problems, onText }: TaskPartProps & { readonly guard: GuardKey }) {
  const { title, help } = guardWords[guard];
  const isOn = text.guardsOn[guard];
  const paths = guardNumberKeys[guard].map((name) => `${guard}.${name}`);
  const said = isOn ? paths.map((path) => problems[`guards.${path}`]).find((problem) => problem !== undefined) : null;
  return (
    <div className="border-b py-1.5 last:border-b-0">
      <div className="grid grid-cols-[minmax(0,5fr)_minmax(0,6fr)] items-start gap-x-4 max-[1100px]:grid-cols-1">
        <div className="min-w-0">
          <Switch
            text={title}
            value={isOn}
            onValue={(on) => onText({ ...text, guardsOn: { ...text.guardsOn, [guard]: on } })}
          />
          <p className="lab pl-[21px]">{help}</p>
        </div>
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          {isOn ? (
            <>
              {paths.map((path) => (
                <label key={path} className="flex items-center gap-1.5">
                  <NumberBox
                    className="w-16!"
                    value={text.guardNumbers[path] ?? ''}
                    placeholder={path === 'noProgress.sharePercentMin' ? 'off' : ''}
                    problem={problems[`guards.${path}`] ?? null}
                    problemId={`guard-${guard}-problem`}
                    onValue={(value) => onText({ ...text, guardNumbers: { ...text.guardNumbers, [path]: value } })}
                  />
                  <span className="lab">{guardNumberWords[path]}</span>
                </label>
              ))}
              {guard === 'noProgress' ? (
                <span className="w-44">
                  <Choice
                    label="New text is counted for"
                    value={text.noProgressScope}
                    options={[
                      { value: 'agent', text: 'for each agent' },
                      { value: 'tree', text: 'for all agents together' },
                    ]}
                    onValue={(noProgressScope) => onText({ ...text, noProgressScope })}
                  />
                </span>
              ) : null}
            </>
          ) : (
            <span className="lab leading-7!">off</span>
          )}
        </div>
      </div>
      <Problem id={`guard-${guard}-problem`} text={said ?? null} />
    </div>
  );
}

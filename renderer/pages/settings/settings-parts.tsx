/** What every section of Settings is made of. */
import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import type { Settings } from '../../../shared/contract/settings.ts';
import { NumberBox, Problem } from '../../components/field.tsx';
import { useClient } from '../../stores/engine-context.ts';
import { parseWhole } from '../live/build-request.ts';

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-b py-5 last:border-b-0">
      <h2 className="lead mb-2">{title}</h2>
      <div className="flex flex-col gap-3">{children}</div>
    </section>
  );
}

export function Line({ name, help, children }: { name: string; help?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="grid grid-cols-[minmax(120px,200px)_minmax(0,1fr)] items-start gap-4">
      <label htmlFor={id} className="py-1 text-ink">
        {name}
      </label>
      <div className="min-w-0 [&_select]:max-w-80">
        {children(id)}
        {help === undefined ? null : <p className="lab mt-1 max-w-[60ch]">{help}</p>}
      </div>
    </div>
  );
}

/** Sends a patch; answers the refusal as one text, or null. */
export function useChange(): (patch: Partial<Settings>) => Promise<string | null> {
  const client = useClient();
  return async (patch) => {
    const answer = await client.request('settings.set', patch);
    if (answer.ok) return null;
    const text = [answer.denial.message, answer.denial.next].filter(Boolean).join(' ');
    client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
    return text;
  };
}

export interface WholeNumberProps {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  readonly onValue: (value: number) => Promise<string | null>;
}

/** Kept when the box is left or Enter is pressed; a refusal stays beside it. */
export function WholeNumber({ name, help, value, onValue }: WholeNumberProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const keep = (): void => {
    if (typed === null) return;
    const parsed = parseWhole(typed);
    if ('problem' in parsed) return setProblem(`${name} ${parsed.problem}.`);
    if (parsed.value === null) return setProblem(`${name} must be a whole number, such as ${value}.`);
    void onValue(parsed.value).then((refusal) => {
      setProblem(refusal);
      if (refusal === null) setTyped(null);
    });
  };
  return (
    <Line name={name} help={help}>
      {(id) => (
        <>
          <NumberBox
            id={id}
            className="w-40!"
            value={typed ?? String(value)}
            problem={problem}
            problemId={`${id}-problem`}
            onValue={setTyped}
            onBlur={keep}
            onKeyDown={(event) => {
              if (event.key === 'Enter') keep();
            }}
          />
          <Problem id={`${id}-problem`} text={problem} />
        </>
      )}
    </Line>
  );
}

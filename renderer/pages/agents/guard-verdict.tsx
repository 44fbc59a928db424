/** The outcome of a comparison: the verdict in big words, why, and what the guards hash of each call. */
import type { GuardComparison } from '../../../shared/contract/agents.ts';
import { Badge } from '../../components/badge.tsx';
import { CopyButton } from '../../components/copy-button.tsx';

export function GuardVerdict({ comparison }: { readonly comparison: GuardComparison }) {
  const { first, second, reasons, similarity } = comparison;
  const { call, state, isLoop } = verdictWords(comparison);
  return (
    <>
      <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] gap-x-8 border-b px-6 py-3">
        <div role="status" className="min-w-0">
          <p className="flex items-center gap-3">
            <Badge meaning="loops" severity={isLoop ? 'happened' : 'informed'} />
            <span className="headline whitespace-normal!">{call}</span>
          </p>
          <p className="text-ink">{state}</p>
          {similarity === null ? null : (
            <div className="mt-2 max-w-80">
              <p className="flex items-baseline gap-2">
                <span className="figure">{Math.floor(similarity * 100)} %</span>
                <span className="lab">of the phrases of both results are common</span>
              </p>
              <div className="c-loops h-2 bg-sunk" aria-hidden="true">
                <i className="fill moves block h-full" style={{ width: `${similarity * 100}%` }} />
              </div>
            </div>
          )}
        </div>
        <ul aria-label="Why" className="flex min-w-0 flex-col gap-0.5">
          {reasons.map((reason, index) => (
            <li key={index} className="wrap-anywhere text-ink">
              {reason}
            </li>
          ))}
        </ul>
      </div>
      <div className="grid grid-cols-2 gap-x-8 px-6 py-3">
        <Hashed title="First call" call={first} />
        <Hashed title="Second call" call={second} />
      </div>
    </>
  );
}

/** From here on two results say nearly the same. */
const NEAR = 0.8;

/** isLoop: a guard would count the second as a repetition of the first. */
export function verdictWords({ sameCall, sameState, first, second, similarity }: GuardComparison): {
  readonly call: string;
  readonly state: string;
  readonly isLoop: boolean;
} {
  if (sameCall === null) {
    const both = first.fault !== null && second.fault !== null;
    const which = both ? 'Neither can be read.' : `The ${first.fault === null ? 'second' : 'first'} cannot be read.`;
    return { call: 'No comparison', state: `${which} The gateway answers it with a refusal.`, isLoop: false };
  }
  const isLossy = first.lossy || second.lossy;
  if (!sameCall)
    return {
      call: 'Different calls',
      state:
        similarity !== null && similarity >= NEAR
          ? 'Guards count them apart. Only the guard against no new text sees that they say the same.'
          : sameState === null
            ? 'Guards count them apart.'
            : 'Guards count them apart, and so their states.',
      isLoop: false,
    };
  const state =
    sameState === null
      ? 'Guards count it as a repetition. With results pasted, their states are compared too.'
      : sameState
        ? 'The same state: same call, same result. The third time ends a run.'
        : 'Another state: the result changed. Only identical calls are counted.';
  return { call: isLossy ? 'They look the same' : 'The same call', state, isLoop: true };
}

const SHOWN_CHARACTERS_MAX = 4_000;

function Hashed({ title, call }: { title: string; call: GuardComparison['first'] }) {
  return (
    <section aria-label={`${title}, as hashed`} className="flex min-w-0 flex-col gap-2">
      <Line label="Canonical form" text={call.canonical} none={call.fault ?? 'none'} />
      <Line label="Call fingerprint" text={call.fingerprint} none="none: it cannot be read" />
      <Line
        label="State hash"
        text={call.stateHash}
        none={call.fault === null ? 'none: paste a result' : 'none: it cannot be read'}
      />
    </section>
  );
}

function Line({ label, text, none }: { label: string; text: string | null; none: string }) {
  const isLong = text !== null && text.length > SHOWN_CHARACTERS_MAX;
  return (
    <div className="min-w-0">
      <p className="flex min-h-7 items-center gap-1">
        <span className="lab">{label}</span>
        {text === null ? null : <CopyButton look="icon" label={`Copy ${label.toLowerCase()}`} text={() => text} />}
      </p>
      {text === null ? (
        <p className="wrap-anywhere">{none}</p>
      ) : (
        <p className="mono max-h-32 overflow-auto wrap-anywhere text-ink">
          {isLong ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text}
        </p>
      )}
    </div>
  );
}

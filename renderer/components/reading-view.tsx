/** The reading of a reply: headline, figures of the split, and what it rests on. */
import type { CallReasoning } from '../../shared/contract/calls.ts';
import { Badge } from './badge.tsx';
import { count, percentOf } from '../format/numbers.ts';
import {
  causeText,
  obedienceWords,
  placesText,
  readingSentence,
  readingSeverity,
  readingWord,
  splitFigure,
  splitSourceText,
} from '../format/reasoning.ts';

export function ReadingView({ reading, headline }: { readonly reading: CallReasoning; readonly headline: string }) {
  return (
    <div className="flex flex-col gap-3">
      <div>
        <div className="flex items-start gap-3">
          <span className="flex h-6 items-center">
            <Badge meaning={reading.outcome === 'refused' ? 'plain' : 'thinking'} severity={readingSeverity(reading)} />
          </span>
          <span className="figure min-w-0 whitespace-normal! wrap-anywhere">{headline}</span>
        </div>
        <p className="mt-1 wrap-anywhere text-ink">{readingSentence(reading)}</p>
      </div>
      <Split reading={reading} />
      <dl className="grid grid-cols-[104px_minmax(0,1fr)] text-table leading-5">
        <Fact name="outcome" value={`${readingWord(reading)}${reading.complete === false ? ', not complete' : ''}`} />
        <Fact name="cause" value={causeText(reading)} />
        <Fact name="thinking was" value={placesText(reading)} />
        <Fact name="off obeyed" value={obedienceWords[reading.obedience]} />
        <Fact name="split" value={`${splitSourceText(reading)}${basisText(reading)}`} />
      </dl>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="wrap-anywhere text-ink">{value}</dd>
    </>
  );
}

const basisWords = {
  logprobs: 'by log probabilities, token by token',
  chunks: 'by chunks, scaled to eval_count',
  characters: 'by characters, scaled to eval_count',
} as const;

function basisText({ split }: CallReasoning): string {
  if (split === null) return '';
  const outside = split.thinkingOutsideCount ? '; thinking of a first pass is not in eval_count' : '';
  return `, ${basisWords[split.basis]}${outside}`;
}

/** One bar of all tokens: thinking, hidden, answer. */
function Split({ reading }: { reading: CallReasoning }) {
  const { split } = reading;
  const [thinking, hidden, answer] = [
    split?.thinkingTokens ?? 0,
    split?.hiddenTokens ?? 0,
    split?.answerTokens ?? 0,
  ] as const;
  const whole = thinking + hidden + answer;
  const leaked = reading.places.includes('answer-tagged') && !reading.places.includes('field');
  const width = (tokens: number): { width: string } => ({ width: `${whole === 0 ? 0 : (tokens * 100) / whole}%` });
  return (
    <div>
      <div className="grid grid-cols-[repeat(3,auto)] justify-between gap-4">
        <Figure value={splitFigure(reading, 'thinkingTokens')} text="thinking, tokens" />
        <Figure value={splitFigure(reading, 'hiddenTokens')} text="hidden" />
        <Figure value={splitFigure(reading, 'answerTokens')} text="answer" />
      </div>
      {whole === 0 ? null : (
        <div
          role="img"
          aria-label={`Thinking ${count(thinking)}, hidden ${count(hidden)}, answer ${count(answer)} tokens`}
          title={`thinking ${percentOf(thinking + hidden, whole)} of the output`}
          className="mt-1.5 flex h-3 border-b"
        >
          <i className={`c-thinking block ${leaked ? 'hatch' : 'fill'}`} style={width(thinking)} />
          <i
            className="block border border-dashed border-thinking"
            style={{ ...width(hidden), display: hidden === 0 ? 'none' : 'block' }}
          />
          <i className="c-plain fill block" style={width(answer)} />
        </div>
      )}
    </div>
  );
}

function Figure({ value, text }: { value: string; text: string }) {
  return (
    <div className="min-w-0">
      <div className="figure">{value}</div>
      <div className="lab">{text}</div>
    </div>
  );
}

export function ReadingEvidence({ reading }: { readonly reading: CallReasoning }) {
  return (
    <section aria-label="What the reading rests on" className="mb-3">
      <h2 className="font-semibold text-ink">Reasoning</h2>
      <ul className="text-table *:border-t *:py-1.5">
        {reading.evidence.map((text) => (
          <li key={text} className="wrap-anywhere">
            {text}
          </li>
        ))}
      </ul>
      <h2 className="mt-3 font-semibold text-ink">Context</h2>
    </section>
  );
}

/** A truncation verdict with its three separate numbers, the text strip and its evidence. */
import type { CallSummary } from '../../shared/contract/calls.ts';
import type { Evidence, TruncationVerdict } from '../../shared/contract/verdicts.ts';
import { count } from '../format/numbers.ts';
import { needleWords, verdictSentence } from '../format/verdicts.ts';
import { TextStrip } from './gauge.tsx';

export interface VerdictFigures {
  /** Tokens of the whole prompt; `sentExact` says whether that is a count or an estimate. */
  readonly sent: number | null;
  readonly sentExact: boolean;
  readonly windowRequested: number | null;
  readonly windowRunning: number | null;
  readonly evaluated: number | null;
}

export interface VerdictViewProps {
  readonly verdict: TruncationVerdict;
  readonly figures: VerdictFigures;
  readonly needles?: CallSummary['needles'];
  readonly size?: 'figure' | 'headline';
}

export function VerdictView(props: VerdictViewProps) {
  const { verdict, needles = [] } = props;
  return (
    <div className="flex flex-col gap-3">
      <FiguresAndStrip {...props} />
      <p className="wrap-anywhere">{verdictSentence(verdict)}</p>
      <EvidenceList evidence={verdict.evidence} needles={needles} />
    </div>
  );
}

/** Sent, window and evaluated are never divided by one another: after a cut such a share means nothing. */
export function FiguresAndStrip({ verdict, figures, needles = [], size = 'figure' }: VerdictViewProps) {
  const strip = stripOf(verdict, figures);
  return (
    <>
      <div className="grid grid-cols-[repeat(3,auto)] justify-between gap-4">
        <Figure
          size={size}
          value={figures.sent}
          text={figures.sentExact ? 'sent, tokens' : 'sent, estimated'}
          about={!figures.sentExact}
        />
        <Figure size={size} value={figures.windowRunning ?? figures.windowRequested} text={windowText(figures)} />
        <Figure size={size} value={figures.evaluated} text="evaluated, as reported" />
      </div>
      {strip === null ? null : <TextStrip {...strip} needleDepths={needles.map((needle) => needle.depthPercent)} />}
    </>
  );
}

/** What was lost, counted or, where the whole was not counted, estimated. null = no part is known to be lost. */
function stripOf(
  { headKept, tailKept, lost, kept }: TruncationVerdict,
  { sent }: VerdictFigures,
): { headKept: number; tailKept: number; lost: number; estimated: boolean } | null {
  if (headKept === null || tailKept === null) return null;
  const gone = lost ?? (sent === null || kept === null ? null : sent - kept);
  return gone === null || gone <= 0 ? null : { headKept, tailKept, lost: gone, estimated: lost === null };
}

function Figure({
  value,
  text,
  size,
  about = false,
}: {
  value: number | null;
  text: string;
  size: 'figure' | 'headline';
  about?: boolean;
}) {
  return (
    <div className="min-w-0">
      <div className={size}>
        {about && value !== null ? '~' : ''}
        {count(value)}
      </div>
      <div className="lab">{text}</div>
    </div>
  );
}

function windowText({ windowRequested, windowRunning }: VerdictFigures): string {
  if (windowRunning === null) return windowRequested === null ? 'window, not known' : 'window, asked';
  if (windowRequested === null) return 'window, running';
  return windowRequested === windowRunning
    ? 'window, asked and running'
    : `window running, ${count(windowRequested)} asked`;
}

export interface EvidenceListProps {
  readonly evidence: readonly Evidence[];
  readonly needles?: CallSummary['needles'];
}

/** One line a piece: how sure, what it says, and the raw field or log line it rests on. */
export function EvidenceList({ evidence, needles = [] }: EvidenceListProps) {
  if (evidence.length === 0 && needles.length === 0) return <p className="lab">No evidence was recorded.</p>;
  return (
    <dl className="grid grid-cols-[64px_minmax(0,1fr)] text-table *:border-t *:py-1.5">
      {evidence.map((piece, index) => (
        <EvidenceRow key={index} word={piece.confidence} text={piece.text} raw={piece.raw} />
      ))}
      {needles.map((needle, index) => (
        <EvidenceRow
          key={`needle-${index}`}
          word="needle"
          text={`${needle.token} at ${needle.depthPercent} % of the text: ${needleWords[needle.outcome].word}.`}
          raw={needle.said ?? undefined}
        />
      ))}
    </dl>
  );
}

function EvidenceRow({ word, text, raw }: { word: string; text: string; raw?: string | undefined }) {
  return (
    <>
      <dt className="font-semibold text-ink">{word}</dt>
      <dd className="min-w-0 wrap-anywhere">
        {text}
        {raw === undefined ? null : <code className="block text-small! whitespace-pre-wrap text-ink">{raw}</code>}
      </dd>
    </>
  );
}

/** The figures of a stored call. */
export function figuresOf(
  call: Pick<CallSummary, 'truncation' | 'estimate' | 'numCtxRunning' | 'promptEvalCount'> & {
    numCtxRequested: number | null;
  },
): VerdictFigures {
  return {
    sent: call.truncation.sent ?? call.estimate.likely,
    sentExact: call.truncation.sent !== null || call.estimate.source === 'counted',
    windowRequested: call.numCtxRequested,
    windowRunning: call.numCtxRunning,
    evaluated: call.promptEvalCount,
  };
}

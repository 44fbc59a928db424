/** Live in presenter mode: one sentence, one bar, three figures and what the model said. Readable from the back of a room. */
import { SimulatedTag } from '../../components/chip.tsx';
import { Gauge } from '../../components/gauge.tsx';
import { StreamText } from '../../components/stream-text.tsx';
import { FiguresAndStrip } from '../../components/verdict-view.tsx';
import { count } from '../../format/numbers.ts';
import { needleWords, verdictHeadline } from '../../format/verdicts.ts';
import type { CallView } from './call-view.ts';

export function PresentedCall({ call }: { readonly call: CallView }) {
  const { verdict, figures } = call;
  return (
    <section aria-label="Reply" className="flex min-h-0 min-w-0 flex-1 flex-col gap-4 px-8 py-6">
      <div className="flex items-center gap-3">
        <span className="headline min-w-0 flex-1 whitespace-normal!">{sentence(call)}</span>
        {call.simulated ? <SimulatedTag /> : null}
      </div>
      {verdict === null || figures === null ? null : (
        <FiguresAndStrip verdict={verdict} figures={figures} needles={call.needles} size="headline" />
      )}
      <WindowAfter call={call} />
      <div className="flex min-h-0 flex-1 flex-col border-t pt-3 [&_pre]:text-figure">
        <span className="lab">
          {call.thinking.tokens > 0 ? `thinking ${count(call.thinking.tokens)} tokens · ` : ''}answer{' '}
          {count(call.answer.tokens)} tokens
          {call.needle === 'none' ? '' : ` · needle ${needleWords[call.needle].word}`}
        </span>
        <StreamText text={call.answer.text} label="Answer" open={call.open} />
      </div>
      <span className="lab">Esc ends presenter mode</span>
    </section>
  );
}

/** The window as the reply left it, where nothing was cut; a cut has its own strip. */
function WindowAfter({ call: { verdict, figures, answer, thinking } }: { call: CallView }) {
  const evaluated = figures?.evaluated ?? null;
  if (figures === null || verdict === null || evaluated === null || !verdict.kinds.includes('intact')) return null;
  return (
    <Gauge
      windowTokens={figures.windowRunning ?? figures.windowRequested}
      parts={{ system: 0, history: 0, prompt: evaluated }}
      replyReserve={answer.tokens + thinking.tokens}
      lost={0}
      label="The window as the reply left it"
    />
  );
}

function sentence(call: CallView): string {
  if (call.verdict !== null) return verdictHeadline(call.verdict, call.figures?.sent ?? null);
  return call.expectation ?? 'Waiting for the first token';
}

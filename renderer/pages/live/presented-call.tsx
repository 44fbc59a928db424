/** Live in presenter mode: one sentence, one bar, three figures and what the model said. Readable from the back of a room. */
import { SimulatedTag } from '../../components/chip.tsx';
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
      <div className="flex min-h-0 flex-1 flex-col border-t pt-3">
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

function sentence(call: CallView): string {
  if (call.verdict !== null) return verdictHeadline(call.verdict, call.figures?.sent ?? null);
  return call.expectation ?? 'Waiting for the first token';
}

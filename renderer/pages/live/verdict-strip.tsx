/** The chips that resolve while a call runs, and the evidence of the one that is open. */
import { useState } from 'react';
import type { CallReasoning, CallRecord } from '../../../shared/contract/calls.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { ReadingView } from '../../components/reading-view.tsx';
import { VerdictView } from '../../components/verdict-view.tsx';
import { isLedgerDenial } from '../../format/budgets.ts';
import { curlOf } from '../../format/curl.ts';
import { count, percentOf } from '../../format/numbers.ts';
import { readingSeverity, readingWord, splitFigure } from '../../format/reasoning.ts';
import { severityOf, verdictHeadline } from '../../format/verdicts.ts';
import { BudgetChip, BudgetPanel } from './budget-panel.tsx';
import type { CallView } from './call-view.ts';

export interface VerdictStripProps {
  readonly call: CallView;
  readonly loadRecord: () => Promise<CallRecord | null>;
  /** Sends the same text with a window that holds it. */
  readonly onSendWith: (numCtx: number) => void;
  /** Keeps the exchange and goes on from it. */
  readonly onContinue: () => void;
  readonly onOpenRaw: () => void;
}

export function VerdictStrip({ call, loadRecord, onSendWith, onContinue, onOpenRaw }: VerdictStripProps) {
  const [open, setOpen] = useState<'context' | 'thinking' | 'budget'>('context');
  const { verdict } = call;
  const thought = call.thinking.tokens;
  // Of a call that was refused the budget is what there is to see, until somebody picks another.
  const [pickedFor, setPickedFor] = useState<string | null>(null);
  const isRefused = call.denial !== null && isLedgerDenial(call.denial);
  const pick = (part: typeof open): void => {
    setOpen(part);
    setPickedFor(call.id);
  };
  const shown = isRefused && pickedFor !== call.id ? 'budget' : open;
  return (
    <div className="flex min-h-64 flex-[1_1_0] flex-col rounded border">
      <div role="tablist" aria-label="Verdicts" className="flex flex-none overflow-hidden rounded-t border-b">
        <Chip
          meaning="context"
          severity={verdict === null ? 'informed' : severityOf(verdict)}
          label={verdict === null || call.denial !== null ? 'context' : `context · ${verdict.confidence}`}
          text={contextText(call)}
          waiting={verdict === null}
          on={shown === 'context'}
          onPick={() => {
            pick('context');
          }}
        />
        <Chip
          meaning="thinking"
          severity={call.reasoning === null ? (thought > 0 ? 'happened' : 'informed') : readingSeverity(call.reasoning)}
          label={call.reasoning?.split ? `thinking · ${call.reasoning.split.source}` : 'thinking'}
          text={thoughtText(call)}
          waiting={call.open && thought === 0}
          on={shown === 'thinking'}
          onPick={() => {
            pick('thinking');
          }}
        />
        <BudgetChip
          call={call}
          on={shown === 'budget'}
          onPick={() => {
            pick('budget');
          }}
        />
      </div>
      <div role="tabpanel" className="min-h-0 flex-1 overflow-auto px-4 py-3" tabIndex={0} data-scrolls="yes">
        {shown === 'context' ? <ContextPanel call={call} /> : null}
        {shown === 'thinking' ? <ThinkingPanel call={call} /> : null}
        {shown === 'budget' ? <BudgetPanel call={call} /> : null}
      </div>
      <NextRow
        call={call}
        loadRecord={loadRecord}
        onSendWith={onSendWith}
        onContinue={onContinue}
        onOpenRaw={onOpenRaw}
      />
    </div>
  );
}

function contextText({ verdict, denial, figures }: CallView): string {
  if (denial !== null) return 'Not sent';
  return verdict === null ? 'after the reply' : verdictHeadline(verdict, figures?.sent ?? null);
}

function thoughtText(call: CallView): string {
  if (call.denial !== null) return 'Not sent';
  if (call.reasoning !== null) return readText(call.reasoning);
  if (call.thinking.tokens > 0)
    return `${count(call.thinking.tokens)} tokens, ${percentOf(call.thinking.tokens, call.thinking.tokens + call.answer.tokens)}`;
  return call.open ? 'none so far' : 'None in its own field';
}

/** `Answered after thinking, 312 tokens`: what came of it, and what the thinking took. */
function readText(reading: CallReasoning): string {
  const word = readingWord(reading);
  const thought = reading.split?.thinkingTokens ?? 0;
  const figure = thought > 0 ? `, ${splitFigure(reading, 'thinkingTokens')} tokens` : '';
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}${figure}`;
}

function ContextPanel({ call }: { call: CallView }) {
  if (call.verdict === null || call.figures === null)
    return (
      <>
        {call.expectation === null ? null : <p className="lead">{call.expectation}</p>}
        <p>The verdict comes with the end of the reply: only then does the server say how much it read.</p>
      </>
    );
  return <VerdictView verdict={call.verdict} figures={call.figures} needles={call.needles} size="headline" />;
}

function ThinkingPanel({ call }: { call: CallView }) {
  const { thinking, answer, reasoning } = call;
  if (reasoning !== null)
    return (
      <div className="flex flex-col gap-2">
        <ReadingView reading={reasoning} headline={readText(reasoning)} />
        <ul className="text-table *:border-t *:py-1.5">
          {reasoning.evidence.map((text) => (
            <li key={text} className="wrap-anywhere">
              {text}
            </li>
          ))}
        </ul>
        {reasoning.next === null ? null : <p className="text-ink wrap-anywhere">{reasoning.next}</p>}
      </div>
    );
  return (
    <div className="flex flex-col gap-2">
      <p className="text-ink">
        {count(thinking.tokens)} tokens came in the thinking field, {count(answer.tokens)} in the answer, of at most{' '}
        {count(call.numPredict)}.
      </p>
      <p>
        {thinking.tokens > 0 && answer.tokens > 0
          ? 'The split is counted in chunks, which are tokens on most models: an estimate.'
          : 'Thinking that a model writes into its answer is not told apart here.'}
      </p>
      {!call.open && thinking.text !== '' && answer.text === '' ? (
        <p className="text-ink">There is thinking and no answer. Raise num_predict, or turn think off.</p>
      ) : null}
    </div>
  );
}

function NextRow({ call, loadRecord, onSendWith, onContinue, onOpenRaw }: VerdictStripProps) {
  const { verdict } = call;
  const fits = verdict?.fitsNumCtx ?? null;
  const offer =
    fits !== null && fits !== (call.numCtxRunning ?? call.numCtxRequested) && verdict?.next !== null ? fits : null;
  return (
    <div className="flex min-h-11 flex-none flex-wrap items-center justify-end gap-x-2 gap-y-1 border-t py-1.5 pr-3 pl-4">
      <span className="lab">Next</span>
      <span className="min-w-40 flex-1 text-ink wrap-anywhere line-clamp-2" title={nextText(call)}>
        {nextText(call)}
      </span>
      {call.open ? null : (
        <>
          <CopyButton look="icon" label="Copy as curl" text={() => loadRecord().then(curlOfRecord)} />
          <Button look="flat" onClick={onContinue} title="Keep this exchange and write the next message">
            Continue
          </Button>
          <Button look="flat" onClick={onOpenRaw}>
            Details
          </Button>
        </>
      )}
      {offer === null ? null : (
        <Button
          title={`1 call: at most ${count((call.figures?.sent ?? 0) + call.numPredict)} tokens, prompt and reply together`}
          onClick={() => {
            onSendWith(offer);
          }}
        >
          Send with {count(offer)}
        </Button>
      )}
    </div>
  );
}

function nextText({ verdict, denial, open }: CallView): string {
  if (denial !== null) return denial.next ?? denial.message;
  if (verdict === null) return open ? 'Wait for the end, or stop it.' : 'Nothing to do.';
  return verdict.next ?? 'Nothing to do.';
}

function curlOfRecord(record: CallRecord | null): string {
  return record === null ? '' : curlOf(record.server, record.path, record.sentBody);
}

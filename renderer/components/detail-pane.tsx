/**
 * The one detail pane of the console: Verdict · Request · Reply · Evidence · Raw. Esc closes it, the arrow keys move to the
 * next row. Texts come from models and servers: text nodes only.
 */
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import type { CallRecord } from '../../shared/contract/calls.ts';
import { byteSize, count, DASH, dateAndTime, duration } from '../format/numbers.ts';
import { readingSentence, readingSeverity, readingWord } from '../format/reasoning.ts';
import { endingOfRecord, kindsText, severityOf, verdictHeadline } from '../format/verdicts.ts';
import { curlOf } from '../format/curl.ts';
import { Badge } from './badge.tsx';
import { BudgetSection } from './budget-view.tsx';
import { Button, IconButton } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { KeptMessages } from './kept-messages.tsx';
import { LongText } from './long-text.tsx';
import { SimulatedTag } from './chip.tsx';
import { ReadingEvidence } from './reading-view.tsx';
import { Tabs, TabPanel } from './tabs.tsx';
import { EvidenceList, VerdictView, figuresOf } from './verdict-view.tsx';

export type PaneTab = 'verdict' | 'request' | 'reply' | 'evidence' | 'raw';

const tabs = [
  { id: 'verdict', text: 'Verdict' },
  { id: 'request', text: 'Request' },
  { id: 'reply', text: 'Reply' },
  { id: 'evidence', text: 'Evidence' },
  { id: 'raw', text: 'Raw' },
] as const;

export interface DetailPaneProps {
  readonly title: string;
  readonly note?: string;
  /** null while it is on its way, or when there is no call to show (then `placeholder` says why). */
  readonly record: CallRecord | null;
  readonly placeholder?: string;
  readonly onClose: () => void;
  readonly onMove?: (step: 1 | -1) => void;
  /** In place of the verdict's usual parts, where a page knows more about the call than its record does. */
  readonly verdict?: ReactNode;
  /** Stands over the evidence on truncation, such as what a reading of the reply rests on. */
  readonly evidence?: ReactNode;
  /** Below the verdict's own parts, such as the repeats of a cell. */
  readonly verdictExtra?: ReactNode;
  /** Lies over the page instead of taking its room. */
  readonly floating?: boolean;
  /** Stays at the bottom: the next step and its button. */
  readonly footer?: ReactNode;
}

export function DetailPane(props: DetailPaneProps) {
  const {
    title,
    note,
    record,
    placeholder = 'Loading',
    onClose,
    onMove,
    verdict,
    evidence,
    verdictExtra,
    floating = false,
    footer,
  } = props;
  const [tab, setTab] = useState<PaneTab>('verdict');
  usePaneKeys(onClose, onMove);
  return (
    <aside
      aria-label={`Details of ${title}`}
      data-presents="no"
      className={`reveal flex w-(--pane) min-w-0 flex-none flex-col border-l bg-page max-[1100px]:w-80 ${floating ? 'absolute inset-y-0 right-0 z-10 shadow-pane' : ''}`}
    >
      <div className="flex items-center gap-2 px-4 pt-3 pb-1">
        <span className="lead truncate">{title}</span>
        {note === undefined ? null : <span className="lab truncate">{note}</span>}
        {record?.simulated === true ? <SimulatedTag /> : null}
        <span className="flex-1" />
        {onMove === undefined ? null : <span className="kbd">↑↓</span>}
        <IconButton icon={X} label="Close (Esc)" onClick={onClose} />
      </div>
      <Tabs label="Parts" value={tab} onValue={setTab} items={tabs} className="flex-1 [&>div:first-child]:px-4">
        {record === null ? (
          <p className="px-4 py-3 text-ink-3">{placeholder}</p>
        ) : (
          <>
            <TabPanel id="verdict" className="overflow-auto px-4 py-3">
              {verdict ?? <PaneVerdict record={record} />}
              {record.budget ? <BudgetSection budget={record.budget} /> : null}
              {verdictExtra}
            </TabPanel>
            <TabPanel id="request" className="flex flex-col data-[state=inactive]:hidden">
              <PaneRequest record={record} />
            </TabPanel>
            <TabPanel id="reply" className="flex flex-col data-[state=inactive]:hidden">
              <PaneReply record={record} />
            </TabPanel>
            <TabPanel id="evidence" className="overflow-auto px-4 py-3">
              {evidence ?? (record.reasoning ? <ReadingEvidence reading={record.reasoning} /> : null)}
              <EvidenceList evidence={record.truncation.evidence} needles={record.needles} />
              <KeptMessages key={record.id} record={record} />
            </TabPanel>
            <TabPanel id="raw" className="flex flex-col data-[state=inactive]:hidden">
              <PaneRaw record={record} />
            </TabPanel>
          </>
        )}
      </Tabs>
      {footer === undefined ? null : <div className="flex-none border-t px-4 py-2">{footer}</div>}
    </aside>
  );
}

function PaneVerdict({ record }: { record: CallRecord }) {
  const figures = figuresOf({
    ...record,
    numCtxRequested: record.request.numCtx,
    promptEvalCount: record.reply.promptEvalCount,
  });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-start gap-2">
        <span className="flex h-6 items-center">
          <Badge meaning="context" severity={severityOf(record.truncation)} />
        </span>
        <div className="min-w-0">
          <div className="figure whitespace-normal!">{verdictHeadline(record.truncation)}</div>
          <div className="lab">
            {kindsText(record.truncation.kinds)} · {record.truncation.confidence}
          </div>
        </div>
      </div>
      <VerdictView verdict={record.truncation} needles={record.needles} figures={figures} />
      {record.truncation.next === null ? null : <p className="text-ink wrap-anywhere">{record.truncation.next}</p>}
      {record.reasoning ? (
        <div className="flex items-start gap-2 border-t pt-3">
          <span className="flex h-5 items-center">
            <Badge meaning="thinking" severity={readingSeverity(record.reasoning)} size="small" />
          </span>
          <div className="min-w-0">
            <b>{readingWord(record.reasoning)}</b>
            <p className="wrap-anywhere">{readingSentence(record.reasoning)}</p>
            {record.reasoning.next === null ? null : <p className="text-ink wrap-anywhere">{record.reasoning.next}</p>}
          </div>
        </div>
      ) : null}
    </div>
  );
}

function PaneRequest({ record }: { record: CallRecord }) {
  const { request } = record;
  return (
    <>
      <Facts
        facts={[
          ['started', dateAndTime(record.startedAt)],
          ['server', `${record.server}${record.serverVersion === null ? '' : ` · ${record.serverVersion}`}`],
          ['model', request.model],
          ['route', record.path],
          ['num_ctx', request.numCtx === null ? 'server default' : count(request.numCtx)],
          ['num_predict', count(request.numPredict)],
          ['think', String(request.think)],
          ['temperature', String(request.temperature)],
          ['seed', String(request.seed)],
          ['policy', request.policy],
          ['characters', count(record.promptCharacters)],
        ]}
      />
      <div className="flex gap-1 px-2">
        <CopyButton label="Copy as curl" text={() => curlOf(record.server, record.path, record.sentBody)} />
        <CopyButton label="Copy body" text={() => record.sentBody} />
      </div>
      <LongText text={record.sentBody} label="Request body as it went out" />
    </>
  );
}

function PaneReply({ record }: { record: CallRecord }) {
  const { reply } = record;
  return (
    <>
      <Facts
        facts={[
          ['status', reply.status === null ? DASH : String(reply.status)],
          ['ended', endingOfRecord(record)],
          ['done_reason', reply.doneReason ?? DASH],
          ['first token', duration(reply.timeToFirstTokenMs)],
          ['load', duration(reply.loadDurationMs)],
          ['prompt', `${count(reply.promptEvalCount)} tokens · ${duration(reply.promptEvalDurationMs)}`],
          ['output', `${count(reply.evalCount)} tokens · ${duration(reply.evalDurationMs)}`],
          ['memory', `${byteSize(record.memoryBytes)} · GPU ${byteSize(record.vramBytes)}`],
        ]}
      />
      {reply.thinking === '' ? null : (
        <>
          <PartHead text="Thinking" copy={() => reply.thinking} />
          <LongText text={reply.thinking} label="Thinking" />
        </>
      )}
      <PartHead text="Answer" copy={() => reply.answer} />
      {reply.answer === '' ? (
        <p className="px-4 text-ink-3">The answer is empty.</p>
      ) : (
        <LongText text={reply.answer} label="Answer" />
      )}
    </>
  );
}

function PaneRaw({ record }: { record: CallRecord }) {
  return (
    <>
      <div className="flex items-center gap-2 px-2 py-2">
        <CopyButton label="Copy reply" text={() => record.rawReply} />
        <CopyButton label="Copy record as JSON" text={() => JSON.stringify(record, null, 2)} />
        {record.rawReplyClipped ? <span className="lab">The end was not stored.</span> : null}
      </div>
      <LongText text={record.rawReply} label="Reply as it came" />
    </>
  );
}

function PartHead({ text, copy }: { text: string; copy: () => string }) {
  return (
    <div className="flex items-center gap-2 border-t px-4 pt-1">
      <b>{text}</b>
      <span className="flex-1" />
      <CopyButton text={copy} />
    </div>
  );
}

/** Label and value, one line each. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, string])[] }) {
  return (
    <dl className="grid flex-none grid-cols-[88px_minmax(0,1fr)] px-4 py-2 text-table leading-5">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="wrap-anywhere text-ink">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A footer with the next step. */
export function NextStep({
  text,
  note,
  action,
  onAction,
}: {
  text: string;
  note?: string;
  action?: string;
  onAction?: () => void;
}) {
  return (
    <div className="flex items-center gap-2">
      <span className="min-w-0 flex-1">
        <span className="block text-ink wrap-anywhere">{text}</span>
        {note === undefined ? null : <span className="lab block">{note}</span>}
      </span>
      {action === undefined ? null : <Button onClick={onAction}>{action}</Button>}
    </div>
  );
}

/** Esc closes, the arrow keys move on; not while a dialog is open or something else takes them. */
export function usePaneKeys(onClose: () => void, onMove: ((step: 1 | -1) => void) | undefined): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector('[role=dialog],[role=menu]') !== null) return;
      if (event.key === 'Escape') return onClose();
      const target = event.target instanceof HTMLElement ? event.target : null;
      if (target !== null && target.closest('input,textarea,select,[role=tablist],[role=grid],[data-scrolls]') !== null)
        return;
      if (onMove === undefined || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
      event.preventDefault();
      onMove(event.key === 'ArrowDown' ? 1 : -1);
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, [onClose, onMove]);
}

/** This call and the one before it, side by side: time, thinking and answer, growing as they stream. */
import type { ModelFacts } from '../../../shared/contract/server.ts';
import { Badge } from '../../components/badge.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { StreamText } from '../../components/stream-text.tsx';
import { count, duration, percentOf, rate, seconds, timeOfDay } from '../../format/numbers.ts';
import { needleWords } from '../../format/verdicts.ts';
import type { CallView, Lane } from './call-view.ts';
import { useNow } from './use-live.ts';

export interface ReplyColumnsProps {
  readonly current: CallView;
  readonly last: CallView | null;
  readonly facts: ModelFacts | null;
  /** What `current` is called; this call, unless it is shown in place of one that never left. */
  readonly title?: string;
}

export function ReplyColumns({ current, last, facts, title = 'This call' }: ReplyColumnsProps) {
  const calls = last === null ? [current] : [current, last];
  const mixed = last !== null && last.model !== current.model;
  const longestMs = Math.max(...calls.map(lengthMs));
  const nowMs = useNow(current.open);
  const spanMs = Math.max(longestMs, current.open ? nowMs - current.seenAtMs : 0, 1);
  const columns = last === null ? 'grid-cols-[72px_minmax(0,1fr)]' : 'grid-cols-[72px_minmax(0,1fr)_minmax(0,1fr)]';
  return (
    <div
      className={`grid flex-none grid-rows-[auto_auto_auto_max(164px,20vh)] gap-x-4 [&>*:not(.head)]:border-t ${columns}`}
    >
      <div className="head" />
      {calls.map((call, index) => (
        <ColumnHead key={call.id} call={call} text={index === 0 ? title : 'The call before'} names={mixed} />
      ))}
      <div className="lab py-2">
        time
        <br />0 to {seconds(spanMs)} s
      </div>
      {calls.map((call) => (
        <TimeBar key={call.id} call={call} spanMs={spanMs} nowMs={nowMs} />
      ))}
      <LaneName meaning="thinking" text="thinking" />
      {calls.map((call) => (
        <ThinkingLane key={call.id} call={call} facts={facts?.name === call.model ? facts : null} />
      ))}
      <LaneName meaning="plain" text="answer" />
      {calls.map((call) => (
        <AnswerLane key={call.id} call={call} />
      ))}
    </div>
  );
}

/** A server may report phases that are longer together than the call was here; the scale holds both. */
function lengthMs({ phases }: CallView): number {
  if (phases === null) return 0;
  return Math.max(phases.wholeMs, (phases.loadMs ?? 0) + (phases.promptMs ?? 0) + (phases.answerMs ?? 0));
}

function ColumnHead({ call, text, names }: { call: CallView; text: string; names: boolean }) {
  const window = call.numCtxRunning ?? call.numCtxRequested;
  return (
    <div className="head min-w-0 pb-2">
      <div className="lab flex min-w-0 items-center gap-2">
        <span className="min-w-0 flex-1 truncate">
          {text} · {timeOfDay(call.startedAt)}
          {names ? ` · ${call.model}` : ''}
        </span>
        {call.simulated ? <SimulatedTag /> : null}
      </div>
      <div className="figure truncate">{window === null ? 'window: default' : `window ${count(window)}`}</div>
    </div>
  );
}

function LaneName({ meaning, text }: { meaning: 'thinking' | 'plain'; text: string }) {
  return (
    <div className="flex items-start gap-1.5 py-2">
      <Badge meaning={meaning} size="small" />
      <span className="lab">{text}</span>
    </div>
  );
}

/** Load, prompt and answer on one scale for both calls. */
function TimeBar({ call, spanMs, nowMs }: { call: CallView; spanMs: number; nowMs: number }) {
  const share = (ms: number | null): string => `${((ms ?? 0) * 100) / spanMs}%`;
  if (call.phases === null) {
    const elapsedMs = Math.max(0, nowMs - call.seenAtMs);
    return (
      <div className="min-w-0 py-2">
        <div className="c-context relative flex h-3 items-center border-b">
          <i className="hatch block h-2.5" style={{ width: share(elapsedMs) }} />
        </div>
        <div className="lab truncate">{waitingText(call, elapsedMs)}</div>
      </div>
    );
  }
  const { loadMs, promptMs, answerMs, wholeMs } = call.phases;
  const parts = [
    loadMs === null ? null : `load ${seconds(loadMs)}`,
    promptMs === null ? null : `prompt ${seconds(promptMs)}`,
    answerMs === null ? null : `answer ${seconds(answerMs)}`,
  ].filter((part) => part !== null);
  return (
    <div className="min-w-0 py-2">
      <div className="relative flex h-3 items-center gap-px overflow-hidden border-b">
        <i
          className="block h-2 flex-none shadow-[inset_0_0_0_1px_var(--line-field)]"
          style={{ width: share(loadMs) }}
        />
        <i className="c-context fill block h-2.5 flex-none" style={{ width: share(promptMs) }} />
        <i className="c-plain fill block h-2.5 flex-none" style={{ width: share(answerMs) }} />
      </div>
      <div className="lab">
        <span className="text-ink">{duration(wholeMs)}</span>
        {parts.length === 0 ? '' : ` · ${parts.join(' · ')}`}
      </div>
    </div>
  );
}

const phaseWords = {
  estimating: 'estimating the prompt',
  sent: 'sent, no answer yet',
  loading: 'loading the model',
  evaluating: 'reading the prompt',
  streaming: 'streaming',
  judging: 'judging',
} as const;

function waitingText(call: CallView, elapsedMs: number): string {
  const elapsed = `${Math.floor(elapsedMs / 1_000)} s`;
  if (call.phase === 'streaming') return `streaming, ${elapsed}`;
  return `waiting for the first token, ${elapsed} (${phaseWords[call.phase ?? 'sent']})`;
}

function ThinkingLane({ call, facts }: { call: CallView; facts: ModelFacts | null }) {
  const cannot = facts !== null && !facts.capabilities.includes('thinking');
  return (
    <div className="min-w-0 py-2">
      <LaneFigures lane={call.thinking} whole={call.thinking.tokens + call.answer.tokens} />
      {call.thinking.tokens === 0 ? (
        <div className="my-1.5 h-3 border border-dashed border-field" />
      ) : (
        <LaneBar lane={call.thinking} cap={call.numPredict} meaning="thinking" />
      )}
      {call.thinking.text === '' ? (
        <div className="lab truncate">
          {cannot ? 'This model cannot think.' : call.open ? 'No thinking so far.' : 'No thinking.'}
        </div>
      ) : (
        <div className="flex h-16 flex-col">
          <StreamText text={call.thinking.text} label="Thinking" open={call.open} quiet />
        </div>
      )}
    </div>
  );
}

function AnswerLane({ call }: { call: CallView }) {
  const needle = needleWords[call.needle];
  return (
    <div className="flex min-h-0 min-w-0 flex-col py-2">
      <LaneFigures lane={call.answer} whole={call.thinking.tokens + call.answer.tokens} />
      <LaneBar lane={call.answer} cap={call.numPredict} meaning="plain" />
      {call.answer.text === '' ? (
        <p className="lab mt-2">{call.open || call.figures?.evaluated === null ? '' : 'The answer is empty.'}</p>
      ) : (
        <StreamText text={call.answer.text} label="Answer" open={call.open} />
      )}
      <div className="mt-1 flex items-end gap-1">
        <div className="lab line-clamp-3 min-w-0 flex-1 wrap-anywhere">
          {call.incomplete ? 'Some of the text came before this page was open. ' : ''}
          {call.ending ?? ''} {call.needle === 'none' ? null : <span className="text-ink">Needle {needle.word}.</span>}
        </div>
        {call.answer.text === '' ? null : (
          <CopyButton look="icon" label="Copy the answer" text={() => call.answer.text} />
        )}
      </div>
    </div>
  );
}

function LaneFigures({ lane, whole }: { lane: Lane; whole: number }) {
  return (
    <div className="flex h-6 items-center gap-2 whitespace-nowrap max-[1100px]:gap-1">
      <b>{count(lane.tokens)} tokens</b>
      <span className="lab min-w-0 truncate">{lane.tokens === 0 ? '–' : rate(lane.ratePerSecond)}</span>
      <span className="flex-1" />
      <span className="lab" title="Share of the output">
        {whole === 0 ? '–' : percentOf(lane.tokens, whole)}
      </span>
    </div>
  );
}

const TICKS_MAX = 32;

/** The bar's right end is the cap (num_predict). Few tokens are drawn one by one. */
function LaneBar({ lane, cap, meaning }: { lane: Lane; cap: number; meaning: 'thinking' | 'plain' }) {
  const share = Math.min(100, (lane.tokens * 100) / Math.max(1, cap));
  return (
    <div
      role="img"
      aria-label={`${count(lane.tokens)} of at most ${count(cap)} tokens`}
      title={`at most ${count(cap)} tokens (num_predict)`}
      className={`c-${meaning} my-1.5 flex h-3 gap-0.5 border-r border-ink`}
    >
      {cap <= TICKS_MAX ? (
        Array.from({ length: Math.min(lane.tokens, cap) }, (_, index) => (
          <i
            key={index}
            className="fill block h-3 min-w-0"
            style={{ flex: `0 1 calc((100% - ${cap * 2}px) / ${cap})` }}
          />
        ))
      ) : (
        <i className="fill moves block h-3" style={{ width: `${share}%` }} />
      )}
    </div>
  );
}

/** Bars of tokens: what stays, the reply's reserve, what is free, and in hatching what would be lost. */
import { count } from '../format/numbers.ts';

export interface GaugeProps {
  readonly windowTokens: number | null;
  /** Prompt tokens that stay, by part. */
  readonly parts: { readonly system: number; readonly history: number; readonly prompt: number };
  readonly replyReserve: number;
  readonly lost: number;
  /** `lost` and the prompt are estimates. */
  readonly estimated?: boolean;
  /** Said in words to readers who do not see the bar. */
  readonly label: string;
}

/** One bar = the window; what does not fit hangs over its right edge. Without a window only the prompt is drawn. */
export function Gauge({ windowTokens, parts, replyReserve, lost, estimated = false, label }: GaugeProps) {
  const kept = parts.system + parts.history + parts.prompt;
  const windowShown = windowTokens ?? Math.max(kept + replyReserve, 1);
  // Over the edge hang: what is lost, or the part of the reply that finds no room.
  const replyFits = Math.max(0, Math.min(replyReserve, windowShown - kept));
  const replyOver = windowTokens === null || lost > 0 ? 0 : replyReserve - replyFits;
  const promptOver = Math.max(0, kept - windowShown);
  const over = lost + replyOver + promptOver;
  const whole = windowShown + over;
  const share = (tokens: number): string => `${(tokens * 100) / whole}%`;
  // Too narrow a window has no room for its own label, which then stands over what does not fit.
  const narrow = windowShown / whole < 0.3;
  const free = Math.max(0, windowShown - kept - replyFits);
  return (
    <div role="img" aria-label={label}>
      <div className="flex h-5 text-table whitespace-nowrap text-ink-3">
        <span
          className={`moves flex-none pr-2 ${narrow ? '' : 'text-right'}`}
          style={narrow ? { paddingLeft: `calc(${share(windowShown)} + 8px)` } : { width: share(windowShown) }}
        >
          <b>{windowTokens === null ? 'window not known' : `window ${count(windowTokens)}`}</b>
        </span>
        {over > 0 ? <span className="min-w-0 truncate pl-2.5">{narrow ? 'the rest ' : ''}does not fit</span> : null}
      </div>
      <div className="relative h-8">
        <div
          className="moves absolute inset-y-0 left-0 flex gap-px bg-sunk shadow-[inset_0_0_0_1px_var(--line-field)]"
          style={{ width: share(windowShown) }}
        >
          <Segment className="c-context fill opacity-60" tokens={parts.system} whole={windowShown} />
          <Segment className="c-context fill opacity-80" tokens={parts.history} whole={windowShown} />
          <Segment className="c-context fill" tokens={Math.min(parts.prompt, windowShown)} whole={windowShown} />
          <Segment className="c-plain fill" tokens={replyFits} whole={windowShown} />
        </div>
        {over > 0 ? (
          <div
            className={`hatch moves absolute inset-y-0 right-0 ${lost > 0 || promptOver > 0 ? 'c-context' : 'c-plain'}`}
            style={{ left: share(windowShown) }}
          />
        ) : null}
        <div
          className="moves absolute -top-2 -bottom-1 w-[3px] -translate-x-1/2 bg-ink"
          style={{ left: over > 0 ? share(windowShown) : 'calc(100% - 1.5px)' }}
        />
      </div>
      <div className="mt-1 flex gap-3 text-table whitespace-nowrap text-ink-3">
        <b>
          {count(kept)} {lost > 0 ? 'stay' : 'prompt'}
        </b>
        {parts.system > 0 && lost === 0 ? <span className="truncate">system {count(parts.system)}</span> : null}
        <span className="truncate">reply {count(replyReserve)}</span>
        {windowTokens === null ? null : <span className="truncate">{count(free)} free</span>}
        <span className="flex-1" />
        {lost > 0 ? (
          <b>
            {estimated ? '~' : ''}
            {count(lost)} lost
          </b>
        ) : null}
        {lost === 0 && replyOver > 0 ? <b>{count(replyOver)} of the reply may not fit</b> : null}
      </div>
    </div>
  );
}

function Segment({ tokens, whole, className }: { tokens: number; whole: number; className: string }) {
  if (tokens <= 0) return null;
  return (
    <i className={`moves block h-full min-w-[2px] ${className}`} style={{ width: `${(tokens * 100) / whole}%` }} />
  );
}

export interface TextStripProps {
  readonly headKept: number;
  readonly lost: number;
  readonly tailKept: number;
  /** `lost` is an estimate, and says so. */
  readonly estimated?: boolean;
  /** Where needles were planted, percent of the text. */
  readonly needleDepths?: readonly number[];
}

/** The text in its own order: what stayed at both ends, what was lost between, where the needles stood. */
export function TextStrip({ headKept, lost, tailKept, estimated = false, needleDepths = [] }: TextStripProps) {
  const whole = Math.max(1, headKept + lost + tailKept);
  const share = (tokens: number): string => `${(tokens * 100) / whole}%`;
  const label = `The text in its order: ${count(headKept)} tokens stay, ${count(lost)} are lost, ${count(tailKept)} stay`;
  return (
    <div role="img" aria-label={label}>
      <div className="lab flex justify-between">
        <span className="text-ink">
          {needleDepths.length === 0 ? '' : `needle at ${needleDepths.map((depth) => `${depth} %`).join(', ')}`}
        </span>
        <span>the text, in its order</span>
      </div>
      <div className="c-context relative my-1 h-4">
        <i className="hatch absolute inset-y-0" style={{ left: share(headKept), width: share(lost) }} />
        <i
          className="fill absolute inset-y-0 left-0"
          style={{ width: headKept === 0 ? 0 : `max(2px, ${share(headKept)})` }}
        />
        <i className="fill absolute inset-y-0 right-0" style={{ width: share(tailKept) }} />
        {needleDepths.map((depth) => (
          <i
            key={depth}
            className="absolute -inset-y-1 w-0.5 bg-ink"
            style={{ left: `clamp(1px, ${depth}%, calc(100% - 3px))` }}
          />
        ))}
      </div>
      <div className="lab flex justify-between gap-2">
        <span>first {count(headKept)} stay</span>
        <b>
          {estimated ? '~' : ''}
          {count(lost)} lost
        </b>
        <span>last {count(tailKept)} stay</span>
      </div>
    </div>
  );
}

/** A thin bar of how much of a whole: run progress, what a window kept. */
export function ShareBar({
  part,
  whole,
  label,
  hatched = false,
}: {
  part: number;
  whole: number;
  label: string;
  hatched?: boolean;
}) {
  const width = whole <= 0 ? 0 : Math.min(100, (part * 100) / whole);
  return (
    <span
      role="img"
      aria-label={label}
      className="c-context block h-2 w-full shadow-[inset_0_0_0_1px_var(--line-field)]"
    >
      <i className={`moves block h-2 ${hatched ? 'hatch' : 'fill'}`} style={{ width: `${width}%` }} />
    </span>
  );
}

/** Whether a call may be the owner of lines: every rule excludes for sure, or leaves the question open. */
import type { LogLine, MatchEnded, MatchSent } from './log-match.ts';
import type { LogRecord } from './log-record.ts';

export interface CallState {
  readonly sent: MatchSent;
  readonly gapsBefore: number;
  /** Lines that were lost may have begun a prompt whose later lines look like those of this call. */
  readonly isDoubtful: boolean;
  end: MatchEnded | null;
  group: Group | null;
  /** Kinds of single lines that it has, or is known not to have. */
  readonly has: Set<LogRecord['kind']>;
  isTaken: boolean;
  /** Calls are numbered as they are sent. */
  readonly number: number;
  /** The last number when this call's time for lines ran out; null before. */
  expiredAt: number | null;
}

/** The lines of one prompt in the runner, from `new prompt` to `stop processing`. */
export interface Group {
  readonly slot: string;
  readonly task: string;
  readonly tokens: number;
  readonly window: number;
  readonly at: number;
  readonly readMs: number;
  readonly lines: LogLine[];
  discarded: number;
  released: { readonly tokens: number; readonly truncated: boolean; readonly readMs: number } | null;
  owner: string | null;
  /** No line of it is known to be missing. */
  isWhole: boolean;
  isClosed: boolean;
}

/** A line that stands by itself. */
export interface Loose {
  readonly line: LogLine;
  readonly record: LogRecord;
  owner: string | null;
}

/** A reply's end and the lines about it come within this; a call whose lines came by then gets no others. */
export const SETTLE_MS = 100;
/** A call that ended without its lines may still be their owner for so long. */
const OWED_MS = 1_000;
/** How far an estimate may be beside the count. */
const ESTIMATE_SLACK = 1.5;
/** The server's own total ends before its access line; /api/generate makes tokens of the whole text in between. */
const ACCESS_LATER_MS = 250;

export function isOwed(call: CallState, nowMs: number): boolean {
  return call.end === null || nowMs - call.end.endedMs <= OWED_MS;
}

/** The runner may write its first line after the reply has arrived: it logs from a thread of its own. */
export function couldBe(call: CallState, group: Group, nowMs: number): boolean {
  if (group.at < call.sent.sentAt) return false;
  const { end } = call;
  // What has stopped is no call that goes on.
  if (end === null) return group.released === null || nowMs - group.released.readMs < SETTLE_MS;
  if (group.readMs > end.endedMs + OWED_MS) return false;
  if (end.needs !== null) return group.tokens === end.needs;
  if (end.promptEvalCount === null) return end.status === 200 || end.status === null;
  if (group.tokens !== end.promptEvalCount) return false;
  const { released } = group;
  if (released === null || !group.isWhole || end.evalCount === null) return true;
  // The last token is sampled and never stored; a shift took tokens away.
  return released.tokens === end.promptEvalCount + Math.max(0, end.evalCount - 1) - group.discarded;
}

export function couldBeCut(call: CallState, { line, record }: Loose): boolean {
  if (record.kind !== 'cut' || line.at < call.sent.sentAt) return false;
  const { sent, end } = call;
  if (record.prompt < sent.low / ESTIMATE_SLACK || record.prompt > sent.high * ESTIMATE_SLACK) return false;
  if (end === null) return true;
  if (line.at > end.endedAt || end.needs !== null) return false;
  return end.promptEvalCount === null ? end.status === 200 || end.status === null : record.kept === end.promptEvalCount;
}

/** Native paths write the index of the first message kept, the other one how many are; also where only system messages stand before. */
export function couldBeDrop(call: CallState, { line, record }: Loose): boolean {
  if (record.kind !== 'dropped' || line.at < call.sent.sentAt) return false;
  if (call.end !== null && line.at > call.end.endedAt) return false;
  return (
    call.sent.messages > 1 && record.messages >= 1 && record.messages < call.sent.messages + MODELFILE_MESSAGES_MAX
  );
}

/** Messages and a system text of the Modelfile stand before those of the call. */
const MODELFILE_MESSAGES_MAX = 20;

export function couldBeAccess(call: CallState, { line, record }: Loose, nowMs: number): boolean {
  if (record.kind !== 'access' || record.path !== call.sent.path || line.at < call.sent.sentAt) return false;
  const { end } = call;
  if (end === null) return nowMs - line.readMs < SETTLE_MS;
  if (line.readMs > end.endedMs + OWED_MS) return false;
  if (end.status !== null && record.status !== end.status) return false;
  if (end.totalDurationMs === null) return true;
  const [shortest, longest] = record.latencyMs;
  return longest >= end.totalDurationMs - 1 && shortest <= end.totalDurationMs + ACCESS_LATER_MS;
}

/**
 * Which lines of the server's log belong to which call. Several calls run at once, other programs use the same server, and lines
 * get lost: so a line is given to a call only where no other reading is possible, and stays unmatched else. Pure: lines, calls
 * and times come in from outside, the same order gives the same answer.
 */
import { type LogRecord, readRecord } from './log-record.ts';
import {
  type CallState,
  SETTLE_MS,
  type Group,
  type Loose,
  couldBe,
  couldBeAccess,
  couldBeCut,
  couldBeDrop,
  isOwed,
} from './log-could-be.ts';

/** `at`: place of the line's beginning in the log, rising. readMs: when it was read, monotonic. */
export interface LogLine {
  readonly text: string;
  readonly at: number;
  readonly readMs: number;
}

/** A call that leaves. `sentAt`: all places below it were written before. */
export interface MatchSent {
  readonly id: string;
  readonly path: string;
  readonly numCtx: number | null;
  /** Estimated prompt tokens, both ends. */
  readonly low: number;
  readonly high: number;
  readonly messages: number;
  readonly sentAt: number;
}

/** `endedAt`: what the server itself wrote about the prompt stands below this place. */
export interface MatchEnded {
  readonly status: number | null;
  readonly promptEvalCount: number | null;
  readonly evalCount: number | null;
  readonly needs: number | null;
  readonly totalDurationMs: number | null;
  readonly endedAt: number;
  readonly endedMs: number;
}

/**
 * lines: those of the call, in order; empty = none can be told to be its own. isSettled: waiting cannot change it. debug: debug
 * lines are written, and none about dropping may be this call's. isShared: there are lines that fit this call and another.
 */
export interface LogFinding {
  readonly lines: readonly string[];
  readonly isSettled: boolean;
  readonly debug: boolean;
  readonly isShared: boolean;
}

export interface LogMatcher {
  line(line: LogLine): void;
  /** Lines may be missing from here on: what was begun is not known to its end, and silence proves nothing. */
  gap(): void;
  sent(call: MatchSent): void;
  ended(id: string, end: MatchEnded): void;
  /** What can be said now; takes nothing. */
  look(id: string, nowMs: number): LogFinding;
  /** The last look at a call: its lines are its own from here on. */
  take(id: string, nowMs: number): LogFinding;
  /** Lines about calls that fit no call of this console, or more than one: how many, and the last of them. */
  unmatched(nowMs: number): { readonly count: number; readonly last: readonly string[] };
  /** Lines of each call that was taken, for inspection. */
  owned(id: string): readonly LogLine[];
}

const GROUPS_MAX = 512;
const GROUP_LINES_MAX = 20_000;
const LOOSE_MAX = 2_000;
const CALLS_MAX = 256;
const LAST_MAX = 20;
const LAST_CHARACTERS_MAX = 400;

export function createLogMatcher(): LogMatcher {
  let groups: Group[] = [];
  let loose: Loose[] = [];
  const calls = new Map<string, CallState>();
  const last: string[] = [];
  let lost = 0;
  let numbers = 0;
  let gaps = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let debugSeen = false;
  let slotsSeen = false;

  function unmatch(text: string): void {
    lost += 1;
    last.push(text.slice(0, LAST_CHARACTERS_MAX));
    if (last.length > LAST_MAX) last.shift();
  }

  function take(line: LogLine, record: LogRecord): void {
    if (record.kind === 'other') return;
    if (record.kind === 'new') {
      slotsSeen = true;
      groups.push(newGroup(line, record));
      return;
    }
    if (
      record.kind === 'cached' ||
      record.kind === 'shift' ||
      record.kind === 'release' ||
      record.kind === 'overflow'
    ) {
      const own = groups.filter((group) => continues(group, record));
      const [group] = own;
      if (group !== undefined && own.length === 1) return addTo(group, line, record);
      for (const each of own) each.isWhole = false;
      return unmatch(line.text);
    }
    loose.push({ line, record, owner: null });
  }

  /**
   * A call that got no lines may still be the owner of those that another, running one seems to own: it is remembered until every
   * call that ran beside it has been taken.
   */
  function forgetCalls(nowMs: number): void {
    const running = [...calls.values()].filter((call) => !call.isTaken).map((call) => call.number);
    const oldest = Math.min(...running, Number.POSITIVE_INFINITY);
    for (const [id, call] of calls) {
      if (!call.isTaken) continue;
      if (call.expiredAt === null && !isOwed(call, nowMs)) call.expiredAt = numbers;
      if ((call.expiredAt !== null && call.expiredAt < oldest) || calls.size > CALLS_MAX) calls.delete(id);
    }
  }

  /** The access line often comes just after the reply and the runner's lines. */
  function giveLate(nowMs: number): void {
    for (const call of calls.values()) {
      if (!call.isTaken || call.has.has('access')) continue;
      const { one } = findLoose(call, (each, access) => couldBeAccess(each, access, nowMs));
      if (one === null) continue;
      one.owner = call.sent.id;
      call.has.add('access');
    }
  }

  /** Forgets what no call can claim any more; whatever has no owner is told as unmatched. */
  function prune(nowMs: number): void {
    giveLate(nowMs);
    forgetCalls(nowMs);
    const open = [...calls.values()];
    const from = Math.min(...open.map((call) => call.sent.sentAt), Number.POSITIVE_INFINITY);
    const isAlive = (at: number): boolean => at >= from;
    const goneGroups = groups.filter((group, index) =>
      group.owner === null
        ? !isAlive(group.at) || index < groups.length - GROUPS_MAX
        : (group.released !== null && !calls.has(group.owner)) || index < groups.length - GROUPS_MAX,
    );
    const goneLoose = loose.filter((one, index) =>
      one.owner === null ? !isAlive(one.line.at) || index < loose.length - LOOSE_MAX : !calls.has(one.owner),
    );
    for (const line of [
      ...goneGroups.filter((group) => group.owner === null).flatMap((group) => group.lines),
      ...goneLoose.filter((one) => one.owner === null).map((one) => one.line),
    ].sort(inOrder))
      unmatch(line.text);
    if (goneGroups.length > 0) groups = groups.filter((group) => !goneGroups.includes(group));
    if (goneLoose.length > 0) loose = loose.filter((one) => !goneLoose.includes(one));
  }

  const rivals = (call: CallState): CallState[] => [...calls.values()].filter((other) => other !== call);

  function findGroup(call: CallState, nowMs: number): Found<Group> {
    // Runners number alike: a line after a loss may go on with a prompt whose beginning was lost.
    if (call.isDoubtful || call.gapsBefore !== gaps) return nothing;
    const fitting = groups.filter((group) => group.owner === null && couldBe(call, group, nowMs));
    const [group] = fitting;
    if (group === undefined) return nothing;
    if (call.end !== null && call.end.promptEvalCount === null && call.end.needs === null) {
      // Without counts only a call that was alone has lines of its own.
      const isAlone = rivals(call).every((other) => !isOwed(other, nowMs)) && fitting.length === 1;
      return isAlone ? only(group) : { ...nothing, isShared: true };
    }
    const others = rivals(call).filter((other) => other.group === null && couldBe(other, group, nowMs));
    if (fitting.length === 1 && others.length === 0) return only(group);
    return {
      one: null,
      isShared: true,
      mayTell: others.some(isRunning) || fitting.some((each) => each.released === null),
    };
  }

  function findLoose(call: CallState, fits: (call: CallState, one: Loose) => boolean): Found<Loose> {
    const fitting = loose.filter((one) => one.owner === null && fits(call, one));
    const [one] = fitting;
    if (one === undefined) return nothing;
    const others = rivals(call).filter((other) => !other.has.has(one.record.kind) && fits(other, one));
    if (fitting.length === 1 && others.length === 0) return only(one);
    return { one: null, isShared: true, mayTell: others.some(isRunning) };
  }

  function decide(call: CallState, nowMs: number): Decision {
    const found = findGroup(call, nowMs);
    const group = call.group ?? found.one;
    const before = group?.at ?? Number.POSITIVE_INFINITY;
    const cut = findLoose(call, (each, one) => one.line.at < before && couldBeCut(each, one));
    const drop = findLoose(call, (each, one) => one.line.at < before && couldBeDrop(each, one));
    // A line about dropping has no size: with a stranger's prompt around it could be the stranger's.
    const isAmongStrangers = groups.some(
      (other) => other !== group && other.owner === null && drop.one !== null && other.at > drop.one.line.at,
    );
    const clamp = findLoose(call, couldBeClamp);
    const access = findLoose(call, (each, one) => couldBeAccess(each, one, nowMs));
    return { found, group, cut, drop: isAmongStrangers ? { ...nothing, isShared: true } : drop, clamp, access };
  }

  function findingOf(call: CallState, decision: Decision, nowMs: number): LogFinding {
    const { group, cut, drop, clamp, access } = decision;
    const isComplete = call.gapsBefore === gaps;
    // Silence about a cut means something only where no line about one may be this call's.
    const noCut = !loose.some(
      (one) =>
        one.owner === null &&
        one.record.kind === 'cut' &&
        one.line.at >= call.sent.sentAt &&
        one.record.kept === call.end?.promptEvalCount,
    );
    const isProven =
      cut.one !== null || (call.end !== null && call.end.needs !== null) || (isComplete && noCut && !cut.isShared);
    const own = [drop.one, cut.one, clamp.one, access.one].flatMap((one) => (one === null ? [] : [one.line]));
    const says = cut.one !== null || (group !== null && isProven);
    const lines = says ? [...own, ...(group === null ? [] : linesOf(group, isComplete))].sort(inOrder) : [];
    const isShared = decision.found.isShared || cut.isShared;
    return {
      lines: lines.map((line) => line.text),
      isSettled: isSettled(call, decision, slotsSeen, nowMs),
      debug: debugSeen && isComplete && !drop.isShared,
      isShared: !says && isShared,
    };
  }

  return {
    line(line) {
      lastMs = line.readMs;
      debugSeen ||= line.text.includes('level=DEBUG');
      take(line, readRecord(line.text));
      if (groups.length > 2 * GROUPS_MAX || loose.length > 2 * LOOSE_MAX) prune(line.readMs);
    },
    gap() {
      gaps += 1;
      for (const group of groups) {
        if (group.released !== null) continue;
        group.isWhole = false;
        group.isClosed = true;
      }
    },
    sent(sent) {
      numbers += 1;
      const isDoubtful = [...calls.values()].some(
        (call) => call.gapsBefore !== gaps && (!call.isTaken || isOwed(call, lastMs)),
      );
      calls.set(sent.id, {
        sent,
        number: numbers,
        expiredAt: null,
        end: null,
        group: null,
        has: new Set(),
        isTaken: false,
        gapsBefore: gaps,
        isDoubtful,
      });
    },
    ended(id, end) {
      const call = calls.get(id);
      if (call !== undefined) call.end = end;
      lastMs = end.endedMs;
    },
    look(id, nowMs) {
      const call = calls.get(id);
      return call === undefined ? noFinding : findingOf(call, decide(call, nowMs), nowMs);
    },
    take(id, nowMs) {
      const call = calls.get(id);
      if (call === undefined) return noFinding;
      const decision = decide(call, nowMs);
      const finding = findingOf(call, decision, nowMs);
      call.group = decision.group;
      if (call.group !== null) call.group.owner = id;
      for (const { one } of [decision.cut, decision.drop, decision.clamp, decision.access])
        if (one !== null) {
          one.owner = id;
          call.has.add(one.record.kind);
        }
      if (finding.lines.length > 0) call.has.add('cut');
      call.isTaken = true;
      prune(nowMs);
      return finding;
    },
    unmatched(nowMs) {
      prune(nowMs);
      return { count: lost, last: [...last] };
    },
    owned: (id) =>
      [
        ...groups.filter((group) => group.owner === id).flatMap((group) => group.lines),
        ...loose.filter((one) => one.owner === id).map((one) => one.line),
      ].sort(inOrder),
  };
}

interface Found<One> {
  readonly one: One | null;
  readonly isShared: boolean;
  /** What comes yet may say whose it is. */
  readonly mayTell: boolean;
}
const nothing = { one: null, isShared: false, mayTell: false } as const;
const only = <One>(one: One): Found<One> => ({ one, isShared: false, mayTell: false });
const isRunning = (call: CallState): boolean => call.end === null;

interface Decision {
  readonly found: Found<Group>;
  readonly group: Group | null;
  readonly cut: Found<Loose>;
  readonly drop: Found<Loose>;
  readonly clamp: Found<Loose>;
  readonly access: Found<Loose>;
}

const noFinding: LogFinding = { lines: [], isSettled: true, debug: false, isShared: false };
const inOrder = (a: LogLine, b: LogLine): number => a.at - b.at;

function newGroup(line: LogLine, record: Extract<LogRecord, { kind: 'new' }>): Group {
  return {
    slot: record.slot,
    task: record.task,
    tokens: record.tokens,
    window: record.window,
    at: line.at,
    readMs: line.readMs,
    lines: [line],
    discarded: 0,
    released: null,
    owner: null,
    isWhole: true,
    isClosed: false,
  };
}

/** Two runners number their slots and tasks alike; then the sizes have to tell. */
function continues(
  group: Group,
  record: Extract<LogRecord, { kind: 'cached' | 'shift' | 'release' | 'overflow' }>,
): boolean {
  if (group.isClosed) return false;
  if (record.kind === 'overflow')
    return (record.task === null || record.task === group.task) && record.needs === group.tokens;
  if (group.slot !== record.slot || group.task !== record.task || group.released !== null) return false;
  if (record.kind === 'cached') return record.tokens <= group.tokens;
  if (record.kind === 'shift') return Math.abs(group.window - 1 - record.before) <= 1;
  return record.tokens <= group.window;
}

function addTo(group: Group, line: LogLine, record: LogRecord): void {
  if (record.kind === 'shift') group.discarded += record.discard;
  if (record.kind === 'release')
    group.released = { tokens: record.tokens, truncated: record.truncated, readMs: line.readMs };
  if (group.lines.length < GROUP_LINES_MAX) group.lines.push(line);
  else group.isWhole = false;
}

/** Shifts are counted by their lines, so a group with lines missing says nothing about them. */
function linesOf(group: Group, isComplete: boolean): readonly LogLine[] {
  if (group.isWhole && isComplete) return group.lines;
  return group.lines.filter((line) => readRecord(line.text).kind !== 'shift');
}

function couldBeClamp(call: CallState, one: Loose): boolean {
  return (
    one.record.kind === 'clamped' &&
    one.line.at >= call.sent.sentAt &&
    (call.end === null || one.line.at <= call.end.endedAt) &&
    one.record.requested === call.sent.numCtx
  );
}

/** Waiting helps while lines may still come, or while another call may still turn out not to be the owner. */
function isSettled(call: CallState, decision: Decision, slotsSeen: boolean, nowMs: number): boolean {
  const { end } = call;
  if (end === null) return false;
  if (end.promptEvalCount === null && end.needs === null) return true;
  if (decision.cut.isShared || decision.found.isShared) return !decision.cut.mayTell && !decision.found.mayTell;
  if (decision.group !== null) return decision.group.released !== null;
  // Older servers have no lines of slots: the access line is the last one.
  const access = decision.access.one;
  return !slotsSeen && access !== null && nowMs - access.line.readMs >= SETTLE_MS;
}

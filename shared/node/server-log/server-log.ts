/**
 * Watches the server's log beside the calls: picks the source that fits the server and the setting, hands its lines to the
 * matcher, and gives each call its own. Nothing here is needed: without a log every verdict rests on the fields, as before.
 */
import type { ServerLogState } from '../../contract/server.ts';
import type { Clock, LogCallEnded, LogCallSent, LogLines, LogPort } from '../../engine/ports.ts';
import { type LogFinding, type LogMatcher, createLogMatcher } from '../../engine/truncation/log-match.ts';
import { childSource, journalCommand, serveCommand } from './child-source.ts';
import type { LogPlan } from './places.ts';
import { type LogSink, type LogSource, noSource } from './source.ts';
import { tailFile } from './tail.ts';

/** No call waits longer for its lines. */
export const LOG_WAIT_MS_MAX = 280;
const LOOK_EVERY_MS = 15;
/** After so many calls without any line nobody waits, until a line is matched again: it is the log of another server. */
const MISSES_MAX = 3;
const IDLE_POLL_MS = 250;
const TELL_MS_MIN = 1_000;

export interface ServerLog extends LogPort {
  state(): ServerLogState;
  /** Opens the source of this plan, unless it is open already. isSimulated: a simulator writes it, here or elsewhere. */
  use(plan: LogPlan, isSimulated?: boolean): void;
  /** Looks at the file now; the timer does the same. */
  poll(): void;
  stop(): Promise<void>;
}

export interface ServerLogOptions {
  readonly clock: Clock;
  readonly onChange: (state: ServerLogState) => void;
  /** Lines of the simulator in this process. */
  readonly simulatorLines: (listener: (line: string) => void) => () => void;
  readonly environment: NodeJS.ProcessEnv;
  /** For tests on simulated time. */
  readonly wait?: (ms: number) => Promise<void>;
}

export function createServerLog(options: ServerLogOptions): ServerLog {
  const { clock } = options;
  const wait = options.wait ?? pause;
  let key = '';
  let simulated = false;
  let source: LogSource = noSource();
  let matcher: LogMatcher = createLogMatcher();
  let lines = 0;
  let misses = 0;
  let told: ServerLogState | null = null;
  let toldMs = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  function open(plan: LogPlan): void {
    matcher = createLogMatcher();
    lines = 0;
    misses = 0;
    const own = matcher;
    // Lines of a source that was left come to nobody.
    const sink: LogSink = {
      line(text, at) {
        if (own !== matcher) return;
        lines += 1;
        matcher.line({ text, at, readMs: clock.monotonicMs() });
      },
      gap: () => own.gap(),
    };
    source = sourceOf(plan, sink, options);
  }

  function state(): ServerLogState {
    const unmatched = matcher.unmatched(clock.monotonicMs());
    return {
      ...source.state(),
      source: source.name,
      simulated,
      lines,
      unmatched: unmatched.count,
      unmatchedLast: [...unmatched.last],
    };
  }

  /** A new state at once, new counts once a second. */
  function tell(): void {
    if (isStopped) return;
    const now = state();
    const isNews =
      told === null ||
      now.state !== told.state ||
      now.source !== told.source ||
      now.problem !== told.problem ||
      now.simulated !== told.simulated;
    const isCounted = now.lines !== told?.lines || now.unmatched !== told.unmatched;
    if (!isNews && (!isCounted || clock.monotonicMs() - toldMs < TELL_MS_MIN)) return;
    told = now;
    toldMs = clock.monotonicMs();
    options.onChange(now);
  }

  function poll(): void {
    source.poll();
    tell();
  }

  const timer = setInterval(poll, IDLE_POLL_MS);
  timer.unref();

  const isOpen = (): boolean => source.state().state === 'open';

  async function lookUntil(id: string, deadlineMs: number): Promise<LogFinding> {
    const own = matcher;
    while (own === matcher) {
      source.poll();
      const finding = own.look(id, clock.monotonicMs());
      if (finding.isSettled || misses >= MISSES_MAX || clock.monotonicMs() >= deadlineMs) break;
      await wait(Math.min(LOOK_EVERY_MS, Math.max(1, deadlineMs - clock.monotonicMs())));
    }
    return own.take(id, clock.monotonicMs());
  }

  async function linesFor(ended: LogCallEnded): Promise<LogLines | null> {
    if (!isOpen()) return null;
    const endedMs = clock.monotonicMs();
    source.poll();
    const { id, ...counts } = ended;
    matcher.ended(id, { ...counts, endedAt: source.writtenUpTo(), endedMs });
    const finding = await lookUntil(id, endedMs + LOG_WAIT_MS_MAX);
    if (counts.promptEvalCount !== null) misses = finding.lines.length > 0 ? 0 : misses + 1;
    return isOpen() ? { lines: finding.lines, debug: finding.debug, isShared: finding.isShared } : null;
  }

  return {
    state,
    use(plan, isSimulated = false) {
      simulated = isSimulated || plan.kind === 'simulator';
      const wanted = JSON.stringify(plan);
      if (wanted === key || isStopped) return;
      key = wanted;
      void source.stop();
      open(plan);
      tell();
    },
    poll,
    sent(call: LogCallSent) {
      if (!isOpen()) return;
      source.poll();
      matcher.sent({ ...call, sentAt: source.mark() });
    },
    // Whatever goes wrong with a log must not cost a verdict.
    linesFor: (ended) => linesFor(ended).catch(() => null),
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await source.stop();
    },
  };
}

function sourceOf(plan: LogPlan, sink: LogSink, options: ServerLogOptions): LogSource {
  switch (plan.kind) {
    case 'off':
      return noSource();
    case 'none':
      return noSource('No log of this server is known here. Give its path, or journal.');
    case 'simulator':
      return simulatorSource(options.simulatorLines, sink);
    case 'file':
      return tailFile(plan.path, sink);
    case 'journal':
      return childSource(journalCommand, sink);
    case 'serve':
      return childSource(serveCommand(options.environment, plan.address), sink);
  }
}

function simulatorSource(subscribe: ServerLogOptions['simulatorLines'], sink: LogSink): LogSource {
  let count = 0;
  const release = subscribe((line) => sink.line(line, count++));
  return {
    name: "the simulator's own log",
    state: () => ({ state: 'open', problem: null }),
    poll: () => undefined,
    mark: () => count,
    writtenUpTo: () => count,
    stop: async () => release(),
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * One connected screen, whatever carries its texts: answers its requests, and sends it what happens as numbered frames.
 *
 * A frame goes out at most every FRAME_INTERVAL_MS, the first after a pause at once, and none while the carrier is behind.
 * Around a snapshot the order is exact: what happened before goes out before it, what happens meanwhile comes after it.
 */
import { denied } from '../../contract/denials.ts';
import { FRAME_EVENTS_MAX, FRAME_INTERVAL_MS } from '../../contract/frames.ts';
import type { ToScreen } from '../../contract/frames.ts';
import { dispatch, readEnvelope, responseText } from './dispatcher.ts';
import type { EngineDoor } from './dispatcher.ts';
import { createFrameQueue } from './frame-queue.ts';

/** Requests of one screen that may be under way at once. */
export const REQUESTS_AT_ONCE_MAX = 64;

export interface ScreenCarrier {
  send(text: string): void;
  /** True while earlier texts still wait to be taken: frames are then held back and joined. */
  isBehind(): boolean;
}

export interface ScreenTimers {
  /** Milliseconds on a clock that only goes forward. */
  nowMs(): number;
  after(delayMs: number, run: () => void): () => void;
}

export interface ScreenOptions {
  readonly id: string;
  readonly door: EngineDoor;
  readonly carrier: ScreenCarrier;
  readonly timers?: ScreenTimers;
}

export interface Screen {
  readonly id: string;
  receive(text: string): void;
  /** Ends the subscription and tells running requests; nothing is sent any more. */
  close(): void;
  /** Events this screen has lost since it connected. */
  droppedTotal(): number;
}

export function openScreen(options: ScreenOptions): Screen {
  const { carrier, door } = options;
  const timers = options.timers ?? realTimers;
  const queue = createFrameQueue();
  const gone = new AbortController();
  let seq = 0;
  let lastFrameMs = Number.NEGATIVE_INFINITY;
  let cancelTick: (() => void) | null = null;
  let requestsOpen = 0;
  let snapshotsOpen = 0;
  let droppedTotal = 0;

  const sendFrame = (): void => {
    const { events, dropped } = queue.take();
    seq += 1;
    lastFrameMs = timers.nowMs();
    if (dropped > 0) {
      droppedTotal += dropped;
      door.log?.({
        kind: 'limit',
        event: 'screen-too-slow',
        text: options.id,
        limit: 'events-waiting',
        allowed: FRAME_EVENTS_MAX,
        used: dropped,
      });
    }
    carrier.send(JSON.stringify({ kind: 'frame', seq, dropped, events } satisfies ToScreen));
  };

  const tickIn = (delayMs: number): void => {
    cancelTick = timers.after(delayMs, tick);
  };

  const arm = (): void => {
    if (cancelTick !== null || gone.signal.aborted || !queue.isWaiting()) return;
    tickIn(Math.max(0, lastFrameMs + FRAME_INTERVAL_MS - timers.nowMs()));
  };

  const tick = (): void => {
    cancelTick = null;
    if (gone.signal.aborted || snapshotsOpen > 0) return;
    if (carrier.isBehind()) {
      tickIn(FRAME_INTERVAL_MS);
      return;
    }
    if (queue.isWaiting()) sendFrame();
    arm();
  };

  const answer = async (text: string): Promise<void> => {
    const envelope = readEnvelope(text);
    if (!envelope.ok) {
      carrier.send(responseText(envelope.id, envelope));
      return;
    }
    if (requestsOpen >= REQUESTS_AT_ONCE_MAX) {
      carrier.send(
        responseText(
          envelope.id,
          denied('busy', 'Too many requests are under way.', { next: 'Try again in a moment.', retryAfterMs: 1_000 }),
        ),
      );
      return;
    }
    const isSnapshot = envelope.value.name === 'snapshot.get';
    if (isSnapshot) {
      while (queue.isWaiting()) sendFrame();
      snapshotsOpen += 1;
    }
    requestsOpen += 1;
    const result = await dispatch(door, envelope.value, { screenId: options.id, signal: gone.signal });
    requestsOpen -= 1;
    if (isSnapshot) snapshotsOpen -= 1;
    if (gone.signal.aborted) return;
    carrier.send(responseText(envelope.id, result));
    arm();
  };

  const unsubscribe = door.subscribe((event) => {
    queue.push(event);
    arm();
  });

  return {
    id: options.id,
    receive(text) {
      if (!gone.signal.aborted) void answer(text);
    },
    close() {
      gone.abort();
      unsubscribe();
      cancelTick?.();
      cancelTick = null;
    },
    droppedTotal: () => droppedTotal,
  };
}

const realTimers: ScreenTimers = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
};

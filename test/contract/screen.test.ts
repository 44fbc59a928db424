/** The timing of frames, on a clock that the test moves, and the queue behind them. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { EngineEvent } from '../../shared/contract/events.ts';
import type { CallId, RunId } from '../../shared/contract/ids.ts';
import { FRAME_INTERVAL_MS, toScreenSchema } from '../../shared/contract/frames.ts';
import type { ToScreen } from '../../shared/contract/frames.ts';
import { EVENTS_PER_FRAME_MAX, createFrameQueue } from '../../shared/node/rpc/frame-queue.ts';
import { openScreen } from '../../shared/node/rpc/screen.ts';
import { createFakeDoor } from './fake-door.ts';
import { delta, events, notice, run, runChanged } from './samples.ts';

describe('when frames go out', () => {
  test('the first at once, then one each interval, none when nothing happened', () => {
    const { clock, door, sent } = setUp();
    for (let atMs = 0; atMs < 1_000; atMs += 10) {
      door.emit(notice(String(atMs)));
      clock.advance(10);
    }
    const times = sent.map((one) => one.atMs);
    expect(times[0]).toBe(0);
    expect(times.slice(1).every((atMs, index) => atMs - (times[index] ?? 0) >= FRAME_INTERVAL_MS)).toBe(true);
    expect(times.length).toBe(1_000 / FRAME_INTERVAL_MS + 1);
    clock.advance(FRAME_INTERVAL_MS);
    const count = sent.length;
    clock.advance(10_000);
    expect(sent.length).toBe(count);
    door.emit(notice('after a pause'));
    clock.advance(0);
    expect(sent.at(-1)?.atMs).toBe(clock.nowMs());
  });

  test('none while the carrier is behind; then one that holds it all', () => {
    const { carrier, clock, door, sent } = setUp();
    carrier.behind = true;
    for (let index = 1; index <= 100; index += 1) {
      door.emit(delta('x', index));
      clock.advance(FRAME_INTERVAL_MS);
    }
    expect(sent).toEqual([]);
    carrier.behind = false;
    clock.advance(FRAME_INTERVAL_MS);
    expect(sent.map((one) => one.message)).toEqual([
      { kind: 'frame', seq: 1, dropped: 0, events: [delta('x'.repeat(100), 100)] },
    ]);
  });

  test('a large queue goes out in several frames, each after its interval', () => {
    const { clock, door, sent } = setUp();
    for (let index = 0; index < EVENTS_PER_FRAME_MAX * 2.5; index += 1) door.emit(notice(String(index)));
    clock.advance(FRAME_INTERVAL_MS * 5);
    expect(sent.map((one) => [one.atMs, one.message.kind === 'frame' ? one.message.events.length : 0])).toEqual([
      [0, EVENTS_PER_FRAME_MAX],
      [FRAME_INTERVAL_MS, EVENTS_PER_FRAME_MAX],
      [FRAME_INTERVAL_MS * 2, EVENTS_PER_FRAME_MAX / 2],
    ]);
  });

  test('nothing after closing', () => {
    const { clock, door, screen, sent } = setUp();
    door.emit(notice('before'));
    screen.close();
    clock.advance(1_000);
    expect([sent, door.listeners()]).toEqual([[], 0]);
  });
});

describe('the queue', () => {
  test('a piece of a reply never moves in front of what came between', () => {
    const phase = events['call-phase-changed'];
    expect(through([delta('a', 1), phase, delta('b', 2), delta('c', 3), events['call-closed']])).toEqual([
      delta('a', 1),
      phase,
      delta('bc', 3),
      events['call-closed'],
    ]);
  });

  test('states of different runs and calls are kept apart', () => {
    const other: EngineEvent = { type: 'run-changed', run: { ...run, id: 'run-2' as RunId } };
    const another = delta('y', 1, 'call-2' as CallId);
    expect(through([runChanged(1), delta('x', 1), other, another, runChanged(2), delta('x', 2)])).toEqual([
      runChanged(2),
      delta('xx', 2),
      other,
      another,
    ]);
  });

  test('a joined piece that is lost counts for all that stood in it', () => {
    const queue = createFrameQueue(2);
    for (const event of [delta('a', 1), delta('b', 2), delta('c', 3), notice('1'), notice('2'), notice('3')])
      queue.push(event);
    expect(queue.take()).toEqual({ events: [notice('2'), notice('3')], dropped: 4 });
    expect(queue.take()).toEqual({ events: [], dropped: 0 });
  });

  test('reply text is bounded too', () => {
    const queue = createFrameQueue(100, 1_000);
    for (let index = 1; index <= 200; index += 1) queue.push(delta('x'.repeat(10), index));
    const { events: kept, dropped } = queue.take();
    const length = kept.reduce((sum, event) => sum + (event.type === 'call-delta' ? event.answer.length : 0), 0);
    expect(length).toBeLessThanOrEqual(1_000);
    expect(length / 10 + dropped).toBe(200);
  });

  test('property: bounded, and every event is either there, joined, replaced or counted', () => {
    const event = fc.oneof(
      fc.constantFrom('a', 'b').map((id) => delta('x', 1, id as CallId)),
      fc.nat(3).map(runChanged),
      fc.constant(notice('n')),
      fc.constant(events['call-phase-changed']),
      fc.constant(events['call-closed']),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), fc.integer({ min: 1, max: 20 }), (pushed, eventsMax) => {
        const queue = createFrameQueue(eventsMax);
        for (const one of pushed) {
          queue.push(one);
          expect(queue.size()).toBeLessThanOrEqual(eventsMax);
        }
        const taken = queue.take();
        const letters = taken.events.reduce((sum, one) => sum + (one.type === 'call-delta' ? one.answer.length : 0), 0);
        const others = taken.events.filter((one) => one.type !== 'call-delta' && one.type !== 'run-changed').length;
        const states = taken.events.filter((one) => one.type === 'run-changed').length;
        const statesPushed = pushed.filter((one) => one.type === 'run-changed').length;
        // Replaced states are not lost: the later one holds. At most all but one of them are replaced.
        const accounted = letters + others + states + taken.dropped;
        expect(accounted).toBeLessThanOrEqual(pushed.length);
        expect(accounted).toBeGreaterThanOrEqual(pushed.length - Math.max(0, statesPushed - 1));
      }),
    );
  });
});

function through(pushed: readonly EngineEvent[]): EngineEvent[] {
  const queue = createFrameQueue();
  for (const event of pushed) queue.push(event);
  return queue.take().events;
}

function setUp() {
  const clock = manualClock();
  const door = createFakeDoor();
  const sent: { atMs: number; message: ToScreen }[] = [];
  const carrier = { behind: false };
  const screen = openScreen({
    id: 'test',
    door,
    timers: clock,
    carrier: {
      send: (text) => sent.push({ atMs: clock.nowMs(), message: toScreenSchema.parse(JSON.parse(text)) }),
      isBehind: () => carrier.behind,
    },
  });
  return { carrier, clock, door, screen, sent };
}

function manualClock() {
  let nowMs = 0;
  const due = new Set<{ atMs: number; run: () => void }>();
  return {
    nowMs: () => nowMs,
    after(delayMs: number, run: () => void) {
      const one = { atMs: nowMs + delayMs, run };
      due.add(one);
      return () => due.delete(one);
    },
    advance(byMs: number) {
      const untilMs = nowMs + byMs;
      for (;;) {
        const next = [...due].filter((one) => one.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        due.delete(next);
        nowMs = next.atMs;
        next.run();
      }
      nowMs = untilMs;
    },
  };
}

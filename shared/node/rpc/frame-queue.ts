/**
 * Events on their way to one screen. Bounded in number and in characters: a screen that is too slow loses the oldest, and
 * is told how many. What a later event makes worthless is replaced where it stands, and the pieces of one reply are joined.
 */
import type { EngineEvent } from '../../contract/events.ts';
import { FRAME_EVENTS_MAX } from '../../contract/frames.ts';

/** UTF-16 units of reply text that may wait. Replies of a few hundred thousand tokens fit. */
export const FRAME_CHARACTERS_MAX = 4 * 1024 * 1024;
/** One frame stays small enough to be parsed within a few milliseconds; the rest goes with the next. */
export const EVENTS_PER_FRAME_MAX = 1_000;

export interface FrameQueue {
  push(event: EngineEvent): void;
  /** The oldest events, at most EVENTS_PER_FRAME_MAX, and how many were lost since the last take. */
  take(): { events: EngineEvent[]; dropped: number };
  size(): number;
  /** True when there is something to say: an event, or a loss. */
  isWaiting(): boolean;
}

export function createFrameQueue(eventsMax = FRAME_EVENTS_MAX, charactersMax = FRAME_CHARACTERS_MAX): FrameQueue {
  /** Insertion order is age; a replaced event keeps its place. */
  const slots = new Map<number, Slot>();
  const slotByKey = new Map<string, number>();
  let nextSlot = 0;
  let characters = 0;
  let dropped = 0;

  const remove = (number: number, slot: Slot): void => {
    slots.delete(number);
    characters -= slot.characters;
    if (slot.key !== null && slotByKey.get(slot.key) === number) slotByKey.delete(slot.key);
  };

  const dropOldest = (): void => {
    while (slots.size > eventsMax || characters > charactersMax) {
      const [oldest] = slots;
      if (oldest === undefined) return;
      remove(...oldest);
      dropped += oldest[1].eventsJoined;
    }
  };

  const replace = (number: number, slot: Slot, event: EngineEvent): void => {
    const joined =
      slot.event.type === 'call-delta' && event.type === 'call-delta' ? joinDeltas(slot.event, event) : event;
    const size = charactersOf(joined);
    characters += size - slot.characters;
    // Only the pieces of a reply add up; of a state, the last one is all there is to lose.
    const eventsJoined = event.type === 'call-delta' ? slot.eventsJoined + 1 : 1;
    slots.set(number, { event: joined, key: slot.key, eventsJoined, characters: size });
  };

  return {
    push(event) {
      const ends = keyEndedBy(event);
      if (ends !== null) slotByKey.delete(ends);
      const key = keyOf(event);
      const number = key === null ? undefined : slotByKey.get(key);
      const slot = number === undefined ? undefined : slots.get(number);
      if (number !== undefined && slot !== undefined) {
        replace(number, slot, event);
      } else {
        const size = charactersOf(event);
        slots.set(nextSlot, { event, key, eventsJoined: 1, characters: size });
        if (key !== null) slotByKey.set(key, nextSlot);
        nextSlot += 1;
        characters += size;
      }
      dropOldest();
    },
    take() {
      const events: EngineEvent[] = [];
      for (const [number, slot] of slots) {
        if (events.length >= EVENTS_PER_FRAME_MAX) break;
        events.push(slot.event);
        remove(number, slot);
      }
      const lost = dropped;
      dropped = 0;
      return { events, dropped: lost };
    },
    size: () => slots.size,
    isWaiting: () => slots.size > 0 || dropped > 0,
  };
}

interface Slot {
  readonly event: EngineEvent;
  readonly key: string | null;
  /** How many events stand in this one, for an honest count when it is dropped. */
  readonly eventsJoined: number;
  readonly characters: number;
}

type Delta = Extract<EngineEvent, { type: 'call-delta' }>;

/** Texts in order; the counters are running totals, so the later ones hold. */
function joinDeltas(earlier: Delta, later: Delta): Delta {
  return { ...later, thinking: earlier.thinking + later.thinking, answer: earlier.answer + later.answer };
}

function charactersOf(event: EngineEvent): number {
  return event.type === 'call-delta' ? event.thinking.length + event.answer.length : 0;
}

/**
 * Events with the same key can stand for each other. The pieces of a reply go by the call's id as it stands: a key put together for
 * each of them would have to be hashed each time, which took two thirds of a push. Ids of calls hold no space; every other key does.
 */
function keyOf(event: EngineEvent): string | null {
  switch (event.type) {
    case 'call-delta':
      return event.callId;
    case 'run-changed':
      return `run ${event.run.id}`;
    case 'cell-changed':
      return `cell ${JSON.stringify([event.runId, event.cell.plan.key])}`;
    case 'server-changed':
    case 'server-log-changed':
    case 'settings-changed':
      return `state ${event.type}`;
    default:
      return null;
  }
}

/** After these, a piece of the reply must not move in front of them. */
function keyEndedBy(event: EngineEvent): string | null {
  switch (event.type) {
    case 'call-phase-changed':
      return event.callId;
    case 'call-opened':
    case 'call-closed':
      return event.call.id;
    case 'run-opened':
      return `run ${event.run.id}`;
    default:
      return null;
  }
}

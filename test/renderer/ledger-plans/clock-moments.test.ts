import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  clockMoves,
  instantOfLocal,
  localText,
  movedWord,
  nextClockChange,
  nextMidnight,
  nextMonth,
  offsetWord,
} from '../../../renderer/pages/ledger/clock-moments.ts';

const at = (iso: string): number => Date.parse(iso);
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

describe('the next midnight', () => {
  test.each([
    ['UTC', '2026-11-14T22:44:02Z', '2026-11-15T00:00:00.000Z'],
    ['Asia/Tokyo', '2026-11-14T22:44:02Z', '2026-11-15T15:00:00.000Z'],
    ['America/Los_Angeles', '2026-11-14T22:44:02Z', '2026-11-15T08:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-14T22:44:02Z', '2026-11-15T18:15:00.000Z'],
    // A day of 25 and one of 23 hours.
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00.000Z'],
    // The clocks skip midnight: the day begins at one.
    ['America/Santiago', '2026-09-05T12:00:00Z', '2026-09-06T04:00:00.000Z'],
    // A midnight is not the next one of itself.
    ['UTC', '2026-11-15T00:00:00Z', '2026-11-16T00:00:00.000Z'],
  ])('%s after %s', (zone, from, to) => expect(iso(nextMidnight(at(from), zone))).toBe(to));
});

test.each([
  ['UTC', '2028-02-28T12:00:00Z', '2028-03-01T00:00:00.000Z'],
  ['UTC', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00.000Z'],
  ['Asia/Tokyo', '2026-01-31T15:00:00Z', '2026-02-28T15:00:00.000Z'],
])('the month of %s ends after %s', (zone, from, to) => expect(iso(nextMonth(at(from), zone))).toBe(to));

test.each([
  ['Europe/Berlin', '2026-11-30T00:00:00Z', '2027-03-28T01:00:00.000Z'],
  ['America/Los_Angeles', '2026-07-01T00:00:00Z', '2026-11-01T09:00:00.000Z'],
  ['Australia/Lord_Howe', '2026-11-30T00:00:00Z', '2027-04-03T15:00:00.000Z'],
  ['UTC', '2026-11-30T00:00:00Z', null],
  ['Asia/Kathmandu', '2026-11-30T00:00:00Z', null],
])('the clocks of %s change after %s', (zone, from, to) => expect(iso(nextClockChange(at(from), zone))).toBe(to));

test('a local time that was written is read as the same instant, outside of an hour that comes twice', () => {
  const zones = ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham', 'Asia/Tokyo'];
  fc.assert(
    fc.property(
      fc.integer({ min: at('2020-01-01T00:00:00Z') / 1_000, max: at('2030-01-01T00:00:00Z') / 1_000 }),
      fc.constantFrom(...zones),
      (seconds, zone) => {
        const ms = seconds * 1_000;
        const read = instantOfLocal(localText(ms, zone), zone);
        expect(read).not.toBeNull();
        expect(localText(read ?? 0, zone)).toBe(localText(ms, zone));
      },
    ),
    { numRuns: 200 },
  );
});

test.each(['', 'soon', '2026-13-01 00:00', '2026-02-30 00:00', '2026-11-30 24:00', '2026-11-30 12:61'])(
  '%j is no local time',
  (text) => expect(instantOfLocal(text, 'UTC')).toBeNull(),
);

test('a move that is pressed again leads to the next midnight, not to the same one', () => {
  const first = clockMoves(at('2026-11-30T10:00:00Z'), 'UTC').find(({ text }) => text.includes('midnight'));
  expect(iso(first?.toMs ?? null)).toBe('2026-11-30T23:59:55.000Z');
  const again = clockMoves(first?.toMs ?? 0, 'UTC').find(({ text }) => text.includes('midnight'));
  expect(iso(again?.toMs ?? null)).toBe('2026-12-01T23:59:55.000Z');
});

test.each([
  [3_600_000, '1 h ahead'],
  [-5 * 60_000, '5 min behind'],
  [2 * 86_400_000 + 3_600_000, '2 d 1 h ahead'],
  [10_000, 'under a minute ahead'],
])('an offset of %d is %s', (offset, words) => expect(movedWord(offset)).toBe(words));

test('an offset is written with its sign, and nothing is said of a zone this browser does not know', () => {
  expect(offsetWord('Asia/Kathmandu')).toBe('UTC+05:45');
  expect(offsetWord('America/St_Johns', at('2026-01-15T00:00:00Z'))).toBe('UTC-03:30');
  expect(offsetWord('Mars/Olympus')).toBe('');
});

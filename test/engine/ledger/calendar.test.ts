import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isoOf, msOfIso, periodOf } from '../../../shared/engine/ledger/calendar.ts';
import type { PeriodRule } from '../../../shared/engine/ledger/calendar.ts';
import { walkZone, walkedPeriods } from './zone-walk.ts';
import type { WalkedPeriod, ZoneWalk } from './zone-walk.ts';

const DAY_MS = 86_400_000;
const UTC: PeriodRule = { timeZone: 'UTC', resetHour: 0, weekStartsOn: 1 };
const at = (iso: string): number => Date.parse(iso);
const windows = ['day', 'week', 'month'] as const;
const hours = Array.from({ length: 24 }, (_, hour) => hour);

describe('instants as text', () => {
  const inYears = fc.integer({ min: at('0000-01-01T00:00:00Z'), max: at('9999-12-31T23:59:59.999Z') });

  test('isoOf is what Date says', () => {
    fc.assert(
      fc.property(inYears, (ms) => void expect(isoOf(ms)).toBe(new Date(ms).toISOString())),
      { numRuns: 2_000 },
    );
  });

  test('msOfIso is the way back', () => {
    fc.assert(
      fc.property(inYears, (ms) => void expect(msOfIso(new Date(ms).toISOString())).toBe(ms)),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['0000-01-01T00:00:00.000Z'],
    ['0000-02-29T23:59:59.999Z'],
    ['1900-02-28T23:59:59.999Z'],
    ['1969-12-31T23:59:59.999Z'],
    ['1970-01-01T00:00:00.000Z'],
    ['2000-02-29T12:00:00.000Z'],
    ['2100-03-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z'],
  ])('%s goes there and back', (iso) => {
    expect(msOfIso(iso)).toBe(at(iso));
    expect(isoOf(at(iso))).toBe(iso);
  });

  test.each([
    ['2026-11-14T22:44Z', '2026-11-14T22:44:00.000Z'],
    ['2026-11-14T22:44:02Z', '2026-11-14T22:44:02.000Z'],
    ['2026-11-14T22:44:02.5Z', '2026-11-14T22:44:02.500Z'],
    ['2026-11-14T22:44:02.123999999Z', '2026-11-14T22:44:02.123Z'],
    ['2026-11-14T22:44:02.1239999999999Z', '2026-11-14T22:44:02.123Z'],
  ])('%s is %s', (short, full) => expect(isoOf(msOfIso(short))).toBe(full));

  test.each([
    '',
    'now',
    '2026-11-14',
    '2026-11-14T22:44:02',
    '2026-11-14T22:44:02+08:00',
    '2026-11-14 22:44:02Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-11-14T24:00:00Z',
    '2026-11-14T22:60:00Z',
    '2026-11-14T22:44:60Z',
    '+002026-11-14T22:44:02Z',
  ])('"%s" is no instant', (text) => expect(() => msOfIso(text)).toThrow('not an instant'));

  test.each([NaN, Infinity, -Infinity, 0.5, 1e300, at('9999-12-31T23:59:59.999Z') + 1, -62_167_219_200_001])(
    '%s has no text',
    (ms) => expect(() => isoOf(ms)).toThrow('an instant is'),
  );
});

describe('known periods', () => {
  test('of the golden clock: the day has 4,558 s left, the month 1,386,958 s', () => {
    const clock = at('2026-11-14T22:44:02Z');
    const day = periodOf('day', clock, UTC);
    const month = periodOf('month', clock, UTC);
    expect([day.key, ((day.endsAtMs ?? 0) - clock) / 1_000]).toEqual(['2026-11-14', 4_558]);
    expect([month.key, ((month.endsAtMs ?? 0) - clock) / 1_000]).toEqual(['2026-11', 1_386_958]);
    expect(periodOf('week', clock, UTC).key).toBe('w2026-11-09');
  });

  test('windows without a calendar have one period', () => {
    for (const clock of [0, at('2026-11-14T22:44:02Z')]) {
      expect(periodOf('run', clock, UTC)).toEqual({ key: 'run', startsAtMs: null, endsAtMs: null });
      expect(periodOf('minute', clock, UTC)).toEqual({ key: 'rolling', startsAtMs: null, endsAtMs: null });
    }
  });

  // [zone, reset hour, instant, key, begins, ends], from the zones' published rules.
  test.each([
    ['Asia/Tokyo', 0, '2026-11-14T14:59:59.999Z', '2026-11-14', '2026-11-13T15:00:00Z', '2026-11-14T15:00:00Z'],
    ['Asia/Tokyo', 0, '2026-11-14T15:00:00.000Z', '2026-11-15', '2026-11-14T15:00:00Z', '2026-11-15T15:00:00Z'],
    ['Asia/Kathmandu', 0, '2026-11-14T18:15:00Z', '2026-11-15', '2026-11-14T18:15:00Z', '2026-11-15T18:15:00Z'],
    ['Asia/Kathmandu', 9, '2026-11-14T03:14:59Z', '2026-11-13', '2026-11-13T03:15:00Z', '2026-11-14T03:15:00Z'],
    ['America/Los_Angeles', 0, '2026-11-14T07:59:59Z', '2026-11-13', '2026-11-13T08:00:00Z', '2026-11-14T08:00:00Z'],
    // 23 and 25 hours.
    ['America/Los_Angeles', 0, '2026-03-08T12:00:00Z', '2026-03-08', '2026-03-08T08:00:00Z', '2026-03-09T07:00:00Z'],
    ['America/Los_Angeles', 0, '2026-11-01T12:00:00Z', '2026-11-01', '2026-11-01T07:00:00Z', '2026-11-02T08:00:00Z'],
    ['Europe/Berlin', 0, '2026-03-29T12:00:00Z', '2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['Europe/Berlin', 0, '2026-10-25T12:00:00Z', '2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    // The hour from 2 to 3 is skipped: a day that begins at 2 begins where the clocks jump.
    ['Europe/Berlin', 2, '2026-03-29T01:00:00Z', '2026-03-29', '2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z'],
    ['Europe/Berlin', 2, '2026-03-29T00:59:59.999Z', '2026-03-28', '2026-03-28T01:00:00Z', '2026-03-29T01:00:00Z'],
    // The hour from 2 to 3 is there twice: the day begins with the first and is not begun again.
    ['Europe/Berlin', 2, '2026-10-25T00:00:00Z', '2026-10-25', '2026-10-25T00:00:00Z', '2026-10-26T01:00:00Z'],
    ['Europe/Berlin', 2, '2026-10-25T01:30:00Z', '2026-10-25', '2026-10-25T00:00:00Z', '2026-10-26T01:00:00Z'],
    // No midnight on that day.
    ['America/Sao_Paulo', 0, '2018-11-04T03:00:00Z', '2018-11-04', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'],
    // The hour before midnight is there twice.
    ['America/Sao_Paulo', 0, '2018-02-18T02:30:00Z', '2018-02-17', '2018-02-17T02:00:00Z', '2018-02-18T03:00:00Z'],
    // Midnight is there twice.
    ['America/Havana', 0, '2020-11-01T05:30:00Z', '2020-11-01', '2020-11-01T04:00:00Z', '2020-11-02T05:00:00Z'],
    // Back at 00:01, over midnight: the last hour of October comes again and is November's.
    ['America/St_Johns', 0, '2010-11-07T03:00:00Z', '2010-11-07', '2010-11-07T02:30:00Z', '2010-11-08T03:30:00Z'],
    // 30 December 2011 was not there.
    ['Pacific/Apia', 0, '2011-12-30T09:59:59Z', '2011-12-29', '2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z'],
    ['Pacific/Apia', 0, '2011-12-30T10:00:00Z', '2011-12-31', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
    ['UTC', 23, '2028-02-29T22:59:59Z', '2028-02-28', '2028-02-28T23:00:00Z', '2028-02-29T23:00:00Z'],
  ])('day in %s from %i:00 at %s is %s', (timeZone, resetHour, instant, key, begins, ends) => {
    const expected = { key, startsAtMs: at(begins), endsAtMs: at(ends) };
    expect(periodOf('day', at(instant), { timeZone, resetHour, weekStartsOn: 1 })).toEqual(expected);
  });

  test.each([
    ['UTC', 0, '2028-02-29T23:59:59.999Z', '2028-02', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['UTC', 0, '2027-02-28T23:59:59.999Z', '2027-02', '2027-02-01T00:00:00Z', '2027-03-01T00:00:00Z'],
    ['UTC', 0, '2026-12-31T23:59:59.999Z', '2026-12', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['UTC', 0, '2027-01-01T00:00:00Z', '2027-01', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z'],
    ['UTC', 5, '2027-01-01T04:59:59Z', '2026-12', '2026-12-01T05:00:00Z', '2027-01-01T05:00:00Z'],
    ['Asia/Tokyo', 0, '2026-10-31T15:00:00Z', '2026-11', '2026-10-31T15:00:00Z', '2026-11-30T15:00:00Z'],
    ['America/Los_Angeles', 0, '2026-11-01T06:59:59Z', '2026-10', '2026-10-01T07:00:00Z', '2026-11-01T07:00:00Z'],
    ['America/Los_Angeles', 0, '2026-11-30T12:00:00Z', '2026-11', '2026-11-01T07:00:00Z', '2026-12-01T08:00:00Z'],
    ['Pacific/Apia', 0, '2011-12-30T12:00:00Z', '2011-12', '2011-12-01T10:00:00Z', '2011-12-31T10:00:00Z'],
  ])('month in %s from %i:00 at %s is %s', (timeZone, resetHour, instant, key, begins, ends) => {
    const expected = { key, startsAtMs: at(begins), endsAtMs: at(ends) };
    expect(periodOf('month', at(instant), { timeZone, resetHour, weekStartsOn: 1 })).toEqual(expected);
  });

  test('a week begins on each of its seven days', () => {
    // 2026-11-14 is a Saturday.
    const keys = [1, 2, 3, 4, 5, 6, 7].map(
      (weekStartsOn) => periodOf('week', at('2026-11-14T22:44:02Z'), { ...UTC, weekStartsOn }).key,
    );
    expect(keys).toEqual([
      'w2026-11-09',
      'w2026-11-10',
      'w2026-11-11',
      'w2026-11-12',
      'w2026-11-13',
      'w2026-11-14',
      'w2026-11-08',
    ]);
  });

  test('a zone that the platform does not know throws', () => {
    expect(() => periodOf('day', 0, { ...UTC, timeZone: 'Mars/Olympus' })).toThrow(RangeError);
  });
});

/** Zones with the days on which their clocks do something. */
const scenes: readonly (readonly [zone: string, date: string])[] = [
  ['UTC', '2028-02-29'],
  ['Asia/Tokyo', '2026-12-31'],
  ['Asia/Kathmandu', '2028-02-29'],
  ['Asia/Kathmandu', '1986-01-01'],
  ['America/Los_Angeles', '2026-03-08'],
  ['America/Los_Angeles', '2026-11-01'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['America/Sao_Paulo', '2018-02-18'],
  ['Africa/Cairo', '2024-04-26'],
  ['Africa/Cairo', '2024-10-31'],
  ['Africa/Cairo', '2014-05-15'],
  ['Asia/Beirut', '2024-03-31'],
  ['Asia/Beirut', '2024-10-27'],
  ['America/Havana', '2020-11-01'],
  ['America/St_Johns', '2010-11-07'],
  ['America/St_Johns', '2011-03-13'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Antarctica/Troll', '2026-03-29'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Kwajalein', '1993-08-21'],
  ['Asia/Pyongyang', '2018-05-05'],
  ['America/Caracas', '2016-05-01'],
  ['Africa/Casablanca', '2026-02-15'],
  ['Africa/Monrovia', '1972-01-07'],
];

const walks = new Map<string, ZoneWalk>();
function walkAround(zone: string, date: string): ZoneWalk {
  const key = `${zone} ${date}`;
  const walk = walks.get(key) ?? walkZone(zone, at(date) - 75 * DAY_MS, at(date) + 75 * DAY_MS);
  walks.set(key, walk);
  return walk;
}

function theOneWith(periods: readonly WalkedPeriod[], instant: number): WalkedPeriod {
  const found = periods.filter((one) => one.startsAtMs <= instant && instant < one.endsAtMs);
  expect(found).toHaveLength(1);
  return found[0]!;
}

describe.each(scenes)('%s around %s', (zone, date) => {
  // Days and months from every hour; weeks from every day, at hours that are never skipped, often skipped, and the last.
  const daily = hours.map((resetHour) => ({ resetHour, weekStartsOn: 1 }));
  const weekly = [0, 2, 12, 23].flatMap((resetHour) =>
    [1, 2, 3, 4, 5, 6, 7].map((weekStartsOn) => ({ resetHour, weekStartsOn })),
  );

  test('at both sides of every boundary and of every change of the clocks, for every reset hour and first weekday', () => {
    const walk = walkAround(zone, date);
    for (const window of windows) {
      for (const rule of window === 'week' ? weekly : daily) {
        const periods = walkedPeriods(walk, window, rule);
        const near = periods.filter((one) => window !== 'day' || Math.abs(one.startsAtMs - at(date)) < 4 * DAY_MS);
        const first = periods[0]!.startsAtMs;
        const last = periods.at(-1)!.endsAtMs;
        const instants = [...near.flatMap((one) => [one.startsAtMs, one.endsAtMs]), ...walk.changes]
          .flatMap((ms) => [ms - 1_000, ms - 1, ms, ms + 1, ms + 1_800_000])
          .filter((ms) => ms >= first && ms < last);
        for (const instant of instants) {
          const period = periodOf(window, instant, { timeZone: zone, ...rule });
          if (period.key !== theKeyOnly(periods, instant) || !within(period, instant)) {
            expect(period).toEqual(theOneWith(periods, instant));
          }
        }
      }
    }
  });

  test('any instant lies in exactly one period, and periods tile time under keys that are unique and in order', () => {
    const walk = walkAround(zone, date);
    const rule = fc.record({
      timeZone: fc.constant(zone),
      resetHour: fc.integer({ min: 0, max: 23 }),
      weekStartsOn: fc.integer({ min: 1, max: 7 }),
    });
    const instant = fc.integer({ min: at(date) - 34 * DAY_MS, max: at(date) + 34 * DAY_MS });
    fc.assert(
      fc.property(fc.constantFrom(...windows), rule, instant, (window, rules_, ms) => {
        const period = periodOf(window, ms, rules_);
        expect(period).toEqual(theOneWith(walkedPeriods(walk, window, rules_), ms));
        const next = periodOf(window, period.endsAtMs!, rules_);
        const previous = periodOf(window, period.startsAtMs! - 1, rules_);
        expect([previous.endsAtMs, next.startsAtMs]).toEqual([period.startsAtMs, period.endsAtMs]);
        expect(previous.key < period.key && period.key < next.key).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

/** Cheap comparison for the long loops; what differs is compared as a whole. */
function theKeyOnly(periods: readonly WalkedPeriod[], instant: number): string | undefined {
  return periods.find((one) => one.startsAtMs <= instant && instant < one.endsAtMs)?.key;
}
const within = (period: { startsAtMs: number | null; endsAtMs: number | null }, instant: number): boolean =>
  period.startsAtMs !== null && period.endsAtMs !== null && period.startsAtMs <= instant && instant < period.endsAtMs;

test('any zone of the platform at any instant since 1970', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
  const instant = fc.integer({ min: at('1970-04-01'), max: at('2037-12-01') });
  const rule = fc.record({ resetHour: fc.integer({ min: 0, max: 23 }), weekStartsOn: fc.integer({ min: 1, max: 7 }) });
  fc.assert(
    fc.property(zone, instant, rule, (timeZone, ms, rest) => {
      const walk = walkZone(timeZone, ms - 36 * DAY_MS, ms + 36 * DAY_MS);
      for (const window of windows) {
        expect(periodOf(window, ms, { timeZone, ...rest })).toEqual(theOneWith(walkedPeriods(walk, window, rest), ms));
      }
    }),
    { numRuns: 150 },
  );
});

describe('what was asked before', () => {
  test('does not change the answer: rules alternate, time goes back and forth, the app is closed for days', () => {
    const zones = ['UTC', 'Asia/Tokyo', 'Europe/Berlin', 'America/Los_Angeles'];
    const middle = at('2026-10-25T12:00:00Z');
    const walked = new Map(zones.map((zone) => [zone, walkZone(zone, middle - 75 * DAY_MS, middle + 75 * DAY_MS)]));
    const question = fc.record({
      window: fc.constantFrom(...windows),
      timeZone: fc.constantFrom(...zones),
      resetHour: fc.constantFrom(0, 2, 3, 23),
      weekStartsOn: fc.constantFrom(1, 6, 7),
      // Mostly small steps, so that the period asked for last is often the one of the next question as well.
      stepMs: fc.oneof(
        fc.integer({ min: -3_600_000, max: 3_600_000 }),
        fc.constantFrom(3 * DAY_MS, -3 * DAY_MS, DAY_MS, -DAY_MS),
      ),
    });
    fc.assert(
      fc.property(fc.array(question, { minLength: 1, maxLength: 40 }), (questions) => {
        let clock = middle;
        for (const { window, timeZone, resetHour, weekStartsOn, stepMs } of questions) {
          clock = Math.max(middle - 30 * DAY_MS, Math.min(middle + 30 * DAY_MS, clock + stepMs));
          const rule = { resetHour, weekStartsOn };
          const expected = theOneWith(walkedPeriods(walked.get(timeZone)!, window, rule), clock);
          expect(periodOf(window, clock, { timeZone, ...rule })).toEqual(expected);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('is forgotten when there were very many rules', () => {
    const clock = at('2026-11-14T22:44:02Z');
    const expected = periodOf('day', clock, UTC);
    for (const timeZone of Intl.supportedValuesOf('timeZone').slice(0, 60)) {
      for (const resetHour of hours) periodOf('day', clock, { timeZone, resetHour, weekStartsOn: 1 });
    }
    expect(periodOf('day', clock, UTC)).toEqual(expected);
  });
});

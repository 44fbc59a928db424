/** Tanks, rows, outlook, words and pages of the journal: pure parts of the page. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountKey } from '../../../shared/contract/ledger.ts';
import { budgetScopes, budgetUnits, budgetWindows, nameSchema } from '../../../shared/contract/plans.ts';
import { chargeText, holdRows } from '../../../renderer/pages/ledger/hold-rows.ts';
import { withNewest, withOlder } from '../../../renderer/pages/ledger/journal-pages.ts';
import { alertText, nextAlerts, outlookOf, thresholdsNote } from '../../../renderer/pages/ledger/outlook.ts';
import { fullest, refusedSentence } from '../../../renderer/pages/ledger/presented-ledger.tsx';
import { readGrant } from '../../../renderer/pages/ledger/grant-dialog.tsx';
import { auditText, auditTitle } from '../../../renderer/pages/ledger/audit-button.tsx';
import { refusedWho } from '../../../renderer/pages/ledger/refusal-card.tsx';
import { steadyGroups } from '../../../renderer/pages/ledger/steady.ts';
import { withFound } from '../../../renderer/pages/ledger/use-found-accounts.ts';
import { conservationText, leftText, tankGroups, tankModel } from '../../../renderer/pages/ledger/tank-model.ts';
import { askOf } from '../../../renderer/pages/ledger/use-journal.ts';
import { rowCounter } from '../../../renderer/stores/export-run.ts';
import {
  accountNote,
  accountOfKey,
  age,
  codeText,
  countdown,
  needSentence,
  retryReason,
  shortId,
  storeText,
} from '../../../renderer/pages/ledger/words.ts';
import {
  closed,
  makeAccount,
  makeAlert,
  makeBalance,
  makeEntry,
  makeGoldenView,
  makeHold,
  makeLedgerState,
  makeRefusal,
} from './make-ledger.ts';

const golden = makeGoldenView();
const balances = new Map(golden.balances.map((balance) => [balance.key, balance]));

describe('a tank', () => {
  test('of the golden trace: spent, held, the alert and the wall', () => {
    const model = tankModel(makeBalance({ scope: 'tenant' }, { limit: 9_000, spent: 5_905, held: 2_434 }));
    expect(model.spentPercent).toBeCloseTo(65.611, 3);
    expect(model.heldPercent).toBeCloseTo(27.044, 3);
    expect(model).toMatchObject({ limitPercent: 100, over: 0, alerts: [{ percent: 80, at: 7_200, place: 80 }] });
  });

  test('over its limit: the wall stands inside, and what is beyond is counted', () => {
    const model = tankModel(makeBalance({}, { limit: 6_000, spent: 6_300, overrun: 300 }));
    expect(model).toMatchObject({ spentPercent: 100, over: 300 });
    expect(model.limitPercent).toBeCloseTo(95.238, 3);
  });

  test('without a limit there is no wall, with a limit of 0 there is nothing but the wall', () => {
    expect(tankModel(makeBalance({}, { limit: null, spent: 41_234 }))).toMatchObject({
      limitPercent: null,
      alerts: [],
      over: 0,
    });
    expect(tankModel(makeBalance({}, { limit: 0 }))).toMatchObject({ limitPercent: 0, spentPercent: 0 });
    expect(leftText(makeBalance({}, { limit: null, spent: 41_234 }))).toEqual({ figure: '41,234', note: 'no limit' });
    expect(leftText(makeBalance({}, { limit: 0 }))).toEqual({ figure: '0', note: 'nothing allowed' });
  });

  test('property: parts never leave the drawn width, and keep their order', () => {
    const amount = fc.oneof(fc.nat({ max: 20_000 }), fc.nat({ max: 1_000_000_000_000_000 }));
    fc.assert(
      fc.property(fc.option(amount), amount, amount, (limit, spent, held) => {
        const { spentPercent, heldPercent, limitPercent } = tankModel(makeBalance({}, { limit, spent, held }));
        expect(Math.min(spentPercent, heldPercent)).toBeGreaterThanOrEqual(0);
        expect(spentPercent + heldPercent).toBeLessThanOrEqual(100.000001);
        if (limit === null) expect(limitPercent).toBeNull();
        else if (spent + held <= limit && limit > 0) expect(limitPercent).toBe(100);
      }),
    );
  });

  test('says its sum, also beyond the limit', () => {
    expect(conservationText(golden.balances[0] ?? makeBalance())).toBe('9,000 = 5,905 + 2,434 + 661');
    expect(conservationText(makeBalance({}, { spent: 6_240 }))).toBe('6,000 + 240 over = 6,240 + 0 + 0');
    expect(conservationText(makeBalance({}, { limit: null }))).toBeNull();
    expect(conservationText(makeBalance({ unit: 'nano-dollars' }, { limit: 1_000_000_000, spent: 1, held: 0 }))).toBe(
      '$1 = $0.000000001 + $0 + $0.999999999',
    );
  });
});

describe('groups', () => {
  const recent = [
    makeBalance({ tenant: 'b', name: 'one' }),
    makeBalance({ scope: 'tenant', tenant: 'a' }, { spent: 1 }),
    makeBalance({ tenant: 'a', name: 'old' }, { spent: 1 }),
    makeBalance({ tenant: 'a', name: 'new' }, { spent: 1 }),
  ];
  const names = (groups: ReturnType<typeof tankGroups>): unknown =>
    groups.map(({ tenant, balances: all }) => [tenant, ...all.map(({ account }) => account.name)]);

  test('stand by tenant, touched last first, the nearest to a person first', () => {
    expect(names(tankGroups(recent, ''))).toEqual([
      ['a', 'new', 'old', 'a'],
      ['b', 'one'],
    ]);
  });

  test('show what was never used last', () => {
    const unused = makeBalance({ tenant: 'a', name: 'unused' });
    expect(names(tankGroups([...recent, unused], ''))).toEqual([
      ['a', 'new', 'old', 'a', 'unused'],
      ['b', 'one'],
    ]);
  });

  test('are found by words, in any order and case', () => {
    expect(names(tankGroups(recent, 'DAY a  old'))).toEqual([['a', 'old']]);
    expect(tankGroups(recent, 'nobody')).toEqual([]);
  });

  test('have what a search found before what is here, which is younger and stays in its order', () => {
    const here = new Map(recent.map((one) => [one.key, one]));
    const [far, further] = ['far', 'further'].map((name) => makeBalance({ name }));
    if (far === undefined || further === undefined || recent[2] === undefined) throw new Error('three');
    const all = withFound(here, [far, { ...recent[2], spent: 9 }, further]);
    expect([...all.values()]).toEqual([further, far, ...recent]);
    expect(withFound(here, [recent[2]])).toBe(here);
  });

  test('keep their places while the pointer is over them', () => {
    const held = tankGroups(recent, '');
    const [one, tenant, old, newest] = recent;
    if (one === undefined || tenant === undefined || old === undefined || newest === undefined) throw new Error('four');
    const touched = { ...one, spent: 5 };
    const fresh = tankGroups(
      [tenant, newest, old, makeBalance({ tenant: 'a', name: 'fresh' }, { spent: 1 }), touched],
      '',
    );
    expect(names(fresh)).toEqual([
      ['b', 'one'],
      ['a', 'fresh', 'old', 'new', 'a'],
    ]);
    const steady = steadyGroups(fresh, held);
    expect(names(steady)).toEqual([
      ['a', 'new', 'old', 'a', 'fresh'],
      ['b', 'one'],
    ]);
    expect(steady[1]?.balances[0]?.spent).toBe(5);
    expect(steadyGroups(fresh, null)).toBe(fresh);
  });
});

describe('what comes next', () => {
  test('the golden sentence: r5 uses all it holds', () => {
    expect(outlookOf(balances, golden.reservations)).toEqual({
      text: 'If r5 uses all it holds, acme stands at 8,339 and the alert at 7,200 goes out.',
      key: golden.balances[0]?.key,
    });
  });

  test('without an alert it names the account that comes nearest its limit; without a hold it says so', () => {
    const told = new Map([...balances].map(([key, one]) => [key, { ...one, alerts: [] }]));
    expect(outlookOf(told, golden.reservations).text).toBe(
      'If r5 uses all it holds, acme stands at 8,339 of 9,000. No alert goes out.',
    );
    expect(outlookOf(balances, [makeHold('a', 'ada'), makeHold('b', 'ada')]).text).toBe(
      'If both open holds use all they hold, ada stands at 8,805 and the alert at 4,800 goes out.',
    );
    expect(outlookOf(balances, [closed(makeHold('a', 'ada'), 1, 1)]).text).toBe('Nothing is held right now.');
    expect(outlookOf(new Map(), [makeHold('a', 'ada')]).text).toBe('If a uses all it holds, no limit is touched.');
  });

  test('an alert that was told does not go out again', () => {
    const told = makeBalance({ scope: 'tenant' }, { limit: 9_000, spent: 7_300, held: 100, raised: [80] });
    const hold = makeHold('r9', 'ada', { lines: [{ account: told.key, unit: 'tokens', amount: 100 }] });
    expect(outlookOf(new Map([[told.key, told]]), [hold]).text).toBe(
      'If r9 uses all it holds, acme stands at 7,400 of 9,000. No alert goes out.',
    );
  });

  test('next alerts: the nearest first, each threshold once, none of what was told', () => {
    // Shares of the limit to go: 863 of 6,000 is the nearest (14.4 %), 1,295 of 9,000 comes 14.4 % too, a hair later.
    expect(nextAlerts(golden.balances).map(({ balance, at, toGo }) => [balance.account.name, at, toGo])).toEqual([
      ['ada', 4_800, 863],
      ['acme', 7_200, 1_295],
      ['grace', 4_800, 2_832],
    ]);
    const two = makeBalance({}, { spent: 3_100, alertPercents: [50, 80, 95], raised: [50] });
    expect(
      nextAlerts([two, makeBalance(), makeBalance({}, { limit: 0 }), makeBalance({}, { limit: null, spent: 9 })]).map(
        ({ at }) => at,
      ),
    ).toEqual([4_800]);
    expect(thresholdsNote([{ percent: 80 }, { percent: 50 }, { percent: 80 }])).toBe('at 50, 80 %, once a period');
  });

  test('alerts are worded as used and left', () => {
    expect(alertText(makeAlert())).toBe('tenant acme: 7,877 of 9,000 used, 1,123 left');
  });
});

describe('rows', () => {
  test('the youngest on top, refusals among them, a filter for each kind', () => {
    const rows = (filter: 'all' | 'open' | 'closed' | 'refused'): unknown =>
      holdRows([...golden.reservations].reverse(), golden.refusals, filter).map(({ state, tokens }) => [state, tokens]);
    expect(rows('all')).toEqual([
      ['refused', '371 short'],
      ['open', '2,034 in + 400 out'],
      ['settled', '1,968, 466 back'],
      ['settled', '1,968, 466 back'],
      ['settled', '1,969, 465 back'],
    ]);
    expect(rows('open')).toEqual([['open', '2,034 in + 400 out']]);
    expect(rows('refused')).toEqual([['refused', '371 short']]);
    expect(holdRows(golden.reservations, golden.refusals, 'closed')).toHaveLength(3);
  });

  test('how each ending is told', () => {
    const hold = makeHold('r', 'ada');
    expect(
      [
        closed(hold, 2_034, 400, { state: 'forfeited', charge: { source: 'reserved' } }),
        closed(hold, 0, 0, { state: 'voided', charge: { source: 'none' } }),
        closed(hold, 2_334, 400, { charge: { overrunTokens: 300 } }),
        closed(hold, 44, 75, { charge: { source: 'observed' } }),
      ].map(chargeText),
    ).toEqual(['2,434, nothing back', '0, 2,434 back', '2,734, 300 over', '119, 2,315 back']);
    expect(holdRows([closed(hold, 44, 75, { charge: { source: 'observed' } })], [], 'all')[0]?.note).toBe('estimate');
  });
});

describe('words', () => {
  test('a countdown is exact at its edges', () => {
    expect([0, -5, 1, 999, 1_000, 59_001, 4_558_000, 1_386_958_000].map(countdown)).toEqual([
      '0:00',
      '0:00',
      '0:01',
      '0:01',
      '0:01',
      '1:00',
      '1:15:58',
      '16 d 1:15:58',
    ]);
    expect([0, 89_000, 90_000, 5_400_000, 172_800_000].map(age)).toEqual(['0 s', '89 s', '1 min', '1 h', '2 d']);
  });

  test('a refusal says what it needs, by its kind', () => {
    const facts = makeRefusal().refusal;
    if (facts === null) throw new Error('the golden refusal has its figures');
    expect(needSentence(facts)).toBe('It needs 2,434 and 2,063 are free: 371 short.');
    expect(needSentence({ ...facts, kind: 'held', free: 661, held: 2_434 })).toBe(
      'It needs 2,434 and 661 are free: 1,773 short. 2,434 are held by calls under way.',
    );
    expect(needSentence({ ...facts, kind: 'too-small', limit: 2_000 })).toBe(
      'It needs 2,434, and the limit is 2,000: waiting does not help.',
    );
  });

  test('and what its time rests on', () => {
    const line = makeRefusal();
    const facts = line.refusal;
    if (facts === null) throw new Error('the golden refusal has its figures');
    const tenant = makeAccount({ scope: 'tenant' });
    const reason = (patch: Partial<typeof facts>): string =>
      retryReason({ ...line, refusal: { ...facts, ...patch } }, 'UTC');
    expect(reason({})).toBe('the end of the day in UTC.');
    expect(reason({ account: tenant, retryAfterSeconds: 3_600 })).toBe('an hour, as for every tenant.');
    expect(reason({ retryAfterSeconds: 60 })).toBe('as its plan says.');
    expect(reason({ kind: 'held', retryAfterSeconds: 9 })).toBe('then the first hold is over at the latest.');
    expect(reason({ account: makeAccount({ window: 'minute', period: 'rolling' }) })).toBe(
      'then enough of the last minute has passed.',
    );
    expect(retryReason({ ...line, refusal: null }, null)).toBe('');
  });

  test('a refusal names who was refused, and whose limit it was', () => {
    const facts = makeRefusal().refusal;
    if (facts === null) throw new Error('the golden refusal has its figures');
    expect(refusedWho(makeRefusal())).toBe('user ada');
    expect(refusedWho(makeRefusal({ refusal: null }))).toBe('user ada');
    const tenant = makeAccount({ scope: 'tenant' });
    expect(refusedWho(makeRefusal({ user: 'linus', refusal: { ...facts, account: tenant } }))).toBe(
      'user linus · tenant acme',
    );
  });

  test('codes carry the status a client sees', () => {
    expect(['user-day-limit-reached', 'conversation-too-long', 'body-too-large', 'made-up'].map(codeText)).toEqual([
      '429 user-day-limit-reached',
      '422 conversation-too-long',
      '413 body-too-large',
      'made-up',
    ]);
  });

  test('accounts, ids, stores', () => {
    expect(accountNote(makeAccount())).toBe('acme · day 2026-11-14');
    expect(accountNote(makeAccount({ scope: 'tenant' }))).toBe('month 2026-11');
    expect(accountNote(makeAccount({ window: 'minute', period: 'rolling', unit: 'requests' }))).toBe(
      'acme · each minute · requests',
    );
    expect([shortId('r5'), shortId('reservation-0123456789')]).toEqual(['r5', '…456789']);
    expect(storeText(makeLedgerState({ store: 'redis', state: 'local-share' }))).toBe('Redis, on a local share');
  });

  test('property: an account is read back from its key, whatever its names hold', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter((text) => nameSchema.safeParse(text).success && text.trim() === text);
    fc.assert(
      fc.property(
        name,
        name,
        fc.constantFrom(...budgetScopes),
        fc.constantFrom(...budgetWindows),
        fc.constantFrom(...budgetUnits),
        (tenant, who, scope, window, unit) => {
          const account = { book: 'real' as const, tenant, scope, name: who, window, period: 'p', unit };
          expect(accountOfKey(accountKey(account))).toEqual(account);
        },
      ),
    );
    expect([accountOfKey(''), accountOfKey('a:b'), accountOfKey('%3a:b:c:d:e:f:g')?.book ?? null]).toEqual([
      null,
      null,
      ':',
    ]);
  });
});

describe('the journal', () => {
  const page = (from: number, to: number, hasMore: boolean) => ({
    entries: Array.from({ length: from - to + 1 }, (_, index) => makeEntry(from - index)),
    hasMore,
  });
  const seqs = ({ entries }: { entries: readonly { seq: number }[] }): number[] => entries.map(({ seq }) => seq);

  test('grows downwards by pages, without doubles', () => {
    const pages = withOlder(page(10, 6, true), page(6, 1, false));
    expect(seqs(pages)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(pages.hasMore).toBe(false);
  });

  test('grows upwards by what happened; a hole in between is never hidden', () => {
    const before = { ...page(10, 6, true) };
    expect(seqs(withNewest(before, page(12, 8, true)))).toEqual([12, 11, 10, 9, 8, 7, 6]);
    expect(withNewest(before, page(10, 6, true))).toBe(before);
    expect(seqs(withNewest(before, page(30, 20, true)))).toEqual(seqs(page(30, 20, true)));
    expect(withNewest(null, page(2, 1, false)).hasMore).toBe(false);
  });

  test('empty filters ask for everything', () => {
    const none = { operations: [], tenant: ' ', user: '', account: '', book: null };
    expect(askOf(none)).toEqual({ tenant: null, user: null, account: null });
    expect(askOf({ ...none, operations: ['settle', 'reserve'], user: ' ada ', book: 'real' })).toEqual({
      tenant: null,
      user: 'ada',
      account: null,
      operations: ['reserve', 'settle'],
      book: 'real',
    });
  });
});

test('a grant is read in the unit of its account', () => {
  const of = (typed: string, unit: 'tokens' | 'nano-dollars' = 'tokens'): unknown => {
    const read = readGrant(typed, makeBalance({ unit }));
    return typeof read === 'number' ? read : read.text;
  };
  expect([of('2,000'), of('2k'), of('0'), of('some'), of('1.5'), of('0.50', 'nano-dollars')]).toEqual([
    2_000,
    2_000,
    'Amount: grant at least 1.',
    'Amount: "some" is not a whole number.',
    'Amount: "1.5" is not a whole number.',
    500_000_000,
  ]);
  expect(of('9e15', 'nano-dollars')).toBe('Amount: so much cannot be granted.');
  expect(of('-5')).toBe('Amount: grant at least 1.');
});

test('an audit is told in words', () => {
  const audit = { at: '2026-11-14T22:44:02.000Z', sound: true, entries: 12, accounts: 3, openHolds: 1, faults: [] };
  expect([auditTitle(audit), auditText(audit)]).toEqual([
    'The ledger is sound',
    '12 entries replayed over 3 accounts, 1 hold open. Every balance is the sum of its entries, and no hold was resolved twice.',
  ]);
  expect(auditTitle({ ...audit, sound: false, faults: ['x'] })).toBe('The ledger does not add up: 1 fault');
});

test('presenter mode: the fullest tanks, and the refusal as long as it counts', () => {
  expect(fullest(golden.balances).map(({ account }) => account.name)).toEqual(['acme', 'grace', 'ada']);
  const atMs = Date.parse('2026-11-14T22:44:02.000Z');
  expect(refusedSentence(makeRefusal(), atMs)).toBe(
    'ada is refused for 1:15:58. It needs 2,434 and 2,063 are free: 371 short.',
  );
  expect(refusedSentence(makeRefusal(), atMs + 4_558_000)).toBeNull();
  expect(refusedSentence(undefined, atMs)).toBeNull();
});

test('rows of an export are counted while it is read, line ends within quotes are none', () => {
  const counter = rowCounter();
  for (const chunk of ['seq,reason\r\n1,"two\nli', 'nes, ""quoted"""\r\n2,plain\r\n']) counter.read(chunk);
  expect(counter.rows()).toBe(2);
});

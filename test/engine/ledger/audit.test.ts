/** A journal that was tampered with: each way is found, and the journal as it was is sound. */
import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../../shared/contract/ledger.ts';
import { auditJournal } from '../../../shared/engine/ledger/audit.ts';
import type { AuditedBalance } from '../../../shared/engine/ledger/audit.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import { kinds, lineFor, reserveAsk, resolveAsk } from './ledger-world.ts';
import type { Who } from './ledger-world.ts';

const start = Date.parse('2026-11-14T22:44:02Z');
const who: Who = { book: 'real', tenant: 0, user: 0, model: 0 };

interface Books {
  entries: LedgerEntry[];
  balances: AuditedBalance[];
  open: string[];
}
type Draft = { -readonly [Key in keyof LedgerEntry]: LedgerEntry[Key] } & {
  lines: { account: string; unit: string; amount: number; overrun: number }[];
};

/** settle with an overrun, forfeit, void, expire, a grant, and one that is open. */
async function soundBooks(): Promise<Books> {
  const store = createMemoryStore({ nowMs: () => start });
  const lines = (tokens: number): ReturnType<typeof lineFor>[] =>
    [1, 4, 5].map((kind) => lineFor(who, kind, tokens, 60, start));
  for (const id of ['settled', 'forfeited', 'voided', 'expired', 'open']) {
    await store.reserve(reserveAsk(who, lines(10), { id, key: id, atMs: start }));
  }
  const hold = (id: string) => ({ id, book: 'real', tenant: 'acme' }) as const;
  await store.resolve(resolveAsk(hold('settled'), 'settle', 13, start));
  await store.resolve(resolveAsk(hold('forfeited'), 'forfeit', 0, start));
  await store.resolve(resolveAsk(hold('voided'), 'void', 0, start));
  await store.resolve(resolveAsk(hold('expired'), 'expire', 0, start));
  await store.grant({ ...lines(0)[0]!, amount: 7, atMs: start, owner: 'home/1', reason: 'more' });
  const entries = await store.entries({ book: 'real', limit: 100 });
  const keys = lines(0).map((line) => line.key);
  const states = await store.accounts({ book: 'real', keys, atMs: start });
  if (!entries.ok || !states.ok) throw new Error('the store in memory answers');
  return {
    entries: structuredClone([...entries.value].reverse()),
    balances: states.value.map(({ key, spent, held, overrun, granted }) => ({
      key,
      spent,
      held,
      overrun,
      granted,
      limitMax: 60,
      rolling: key.includes(':minute:'),
    })),
    open: ['open'],
  };
}

const audit = (books: Books): ReturnType<typeof auditJournal> =>
  auditJournal({ at: '2026-11-14T22:44:02.000Z', ...books });

test('as it was written it is sound', async () => {
  const books = await soundBooks();
  expect(kinds[5]?.alertsPercent).toContain(1);
  expect(audit(books)).toEqual({
    at: '2026-11-14T22:44:02.000Z',
    sound: true,
    entries: books.entries.length,
    accounts: 3,
    openHolds: 1,
    faults: [],
  });
  expect(books.entries.map((entry) => entry.operation)).toContain('alert');
});

const of = (books: Books, operation: string): Draft =>
  books.entries.find((entry) => entry.operation === operation) as unknown as Draft;
const renumber = (books: Books): void => books.entries.forEach((entry, index) => ((entry as Draft).seq = index + 1));
const balance = (books: Books, index: number, change: Partial<AuditedBalance>): void => {
  books.balances[index] = { ...books.balances[index]!, ...change };
};

test.each<[string, (books: Books) => unknown, RegExp]>([
  [
    'an entry is gone: a hold',
    (books) => void books.entries.splice(0, 1),
    /settled was never reserved or was resolved before/,
  ],
  [
    'an entry is gone: a resolution',
    (books) => void books.entries.splice(books.entries.indexOf(of(books, 'forfeit') as never), 1),
    /forfeited is open in the journal/,
  ],
  [
    'an entry is gone: a grant',
    (books) => void books.entries.splice(books.entries.indexOf(of(books, 'grant') as never), 1),
    /granted is 7, its entries sum to 0/,
  ],
  ['two entries changed places', (books) => void books.entries.reverse(), /comes after/],
  [
    'two entries have one number',
    (books) => (
      (of(books, 'settle').seq = books.entries[books.entries.indexOf(of(books, 'settle') as never) - 1]!.seq),
      undefined
    ),
    /entry 5 comes after 5/,
  ],
  ['an entry has the number of another', (books) => ((of(books, 'settle').seq = 1), undefined), /entry 1 comes after/],
  [
    'a hold is in it twice',
    (books) => (books.entries.splice(1, 0, structuredClone(books.entries[0]!)), renumber(books)),
    /settled was reserved before/,
  ],
  [
    'a resolution is in it twice',
    (books) => (books.entries.push(structuredClone(of(books, 'settle')) as never), renumber(books)),
    /settled was never reserved or was resolved before/,
  ],
  [
    'a hold is opened again',
    (books) => (books.entries.push(structuredClone(books.entries[0]!)), renumber(books)),
    /settled is open in the journal and not among the holds/,
  ],
  [
    'a resolution of nothing',
    (books) => ((of(books, 'void').reservationId = 'nobody'), undefined),
    /nobody was never reserved or/,
  ],
  [
    'a key is given again before its hold was resolved',
    (books) => ((books.entries[1] as Draft).key = 'settled'),
    /entry 2: the key settled of forfeited is another hold's/,
  ],
  [
    'an entry that its store found damaged',
    (books) => void Object.assign(books.entries[1]!, { faults: ['is not what was written'] }),
    /^entry 2 is not what was written$/,
  ],
  [
    'less is held',
    (books) => ((of(books, 'reserve').lines[0]!.amount -= 1), undefined),
    /an overrun of 3 on .*, charged 13 of 9/,
  ],
  [
    'less is charged, with its overrun',
    (books) => (Object.assign(of(books, 'settle').lines[0]!, { amount: 12, overrun: 2 }), undefined),
    /spent is .*, its entries sum to/,
  ],
  [
    'an overrun is not marked',
    (books) => ((of(books, 'settle').lines[0]!.overrun = 0), undefined),
    /says an overrun of 0/,
  ],
  ['an account is not charged', (books) => (of(books, 'settle').lines.shift(), undefined), /is not charged on/],
  [
    'another account is charged',
    (books) => ((of(books, 'settle').lines[0]!.account = 'elsewhere'), undefined),
    /is charged on elsewhere, where it held nothing/,
  ],
  ['a void that charges', (books) => ((of(books, 'void').lines[0]!.amount = 1), undefined), /is void and charged 1/],
  [
    'a forfeit that gives back',
    (books) => ((of(books, 'forfeit').lines[0]!.amount = 9), undefined),
    /keeps 10 .* is charged 9/,
  ],
  [
    'an expiry that gives back',
    (books) => ((of(books, 'expire').lines[0]!.amount = 0), undefined),
    /keeps 10 .* is charged 0/,
  ],
  [
    'a negative charge',
    (books) => (Object.assign(of(books, 'settle').lines[0]!, { amount: -1, overrun: 0 }), undefined),
    /-1 on/,
  ],
  ['half a token', (books) => ((of(books, 'grant').lines[0]!.amount = 6.5), undefined), /6.5 on/],
  [
    'a grant was raised',
    (books) => ((of(books, 'grant').lines[0]!.amount = 8), undefined),
    /granted is 7, its entries sum to 8/,
  ],
  ['a balance was lowered', (books) => balance(books, 0, { spent: books.balances[0]!.spent - 1 }), /spent is/],
  ['a hold was let go', (books) => balance(books, 1, { held: 0 }), /held is 0, its entries sum to 10/],
  ['an overrun was forgotten', (books) => balance(books, 2, { overrun: 0 }), /overrun is 0, its entries sum to 3/],
  ['a balance is gone', (books) => void books.balances.pop(), /entries, but no balance/],
  [
    'a balance without entries',
    (books) => void books.balances.push({ ...books.balances[0]!, key: 'other' }),
    /other: spent is/,
  ],
  ['a limit was passed', (books) => balance(books, 0, { limitMax: 39 }), /are over the limit 39 with an overrun of 3/],
  [
    'an open hold is not known',
    (books) => void books.open.pop(),
    /open is open in the journal and not among the holds/,
  ],
  ['a hold that nobody opened', (books) => void books.open.push('ghost'), /ghost is held and not open in the journal/],
])('%s', async (_what, tamper, fault) => {
  const books = await soundBooks();
  tamper(books);
  const found = audit(books);
  expect(found.sound).toBe(false);
  expect(found.faults.join('\n')).toMatch(fault);
});

test('a limit that was just reached is none that was passed', async () => {
  const books = await soundBooks();
  const { spent, held, overrun } = books.balances[0]!;
  balance(books, 0, { limitMax: spent + held - overrun });
  expect(audit(books).sound).toBe(true);
});

test('a limit of a minute says nothing about the sums of all time', async () => {
  const books = await soundBooks();
  const minute = books.balances.findIndex((one) => one.rolling);
  balance(books, minute, { limitMax: 1 });
  expect(audit(books).sound).toBe(true);
});

test('very many faults are counted out, not listed', async () => {
  const books = await soundBooks();
  books.open.push(...Array.from({ length: 500 }, (_, index) => `ghost-${index}`));
  expect(audit(books).faults).toHaveLength(100);
});

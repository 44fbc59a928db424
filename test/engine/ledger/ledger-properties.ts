/**
 * What must hold of any store, whatever happens in whatever order. `open` gives a fresh store; `reopen` the same one after a
 * crash, where there is something to come back to. A failure prints the seed that repeats it.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Book } from '../../../shared/contract/ledger.ts';
import { LedgerRun } from './ledger-run.ts';
import type { Ask, Ending, OpenStore, Step } from './ledger-run.ts';
import { kinds, models, owners, tenants, users } from './ledger-world.ts';
import type { Who } from './ledger-world.ts';

export interface StoreUnderTest {
  readonly name: string;
  readonly runs: number;
  open(clock: { nowMs(): number }): Promise<OpenStore>;
}

export function ledgerProperties({ name, runs, open }: StoreUnderTest): void {
  const run = async (
    steps: readonly Step[],
    overruns: boolean,
    happens: (what: string) => void = () => undefined,
  ): Promise<void> => {
    const ledger = new LedgerRun(overruns, happens);
    await ledger.start(open);
    try {
      for (const step of steps) await ledger.take(step);
      ledger.checkRollingMinutes();
    } finally {
      await ledger.end();
    }
  };

  describe(`ledger in ${name}`, () => {
    test.each([
      ['as reserved or less: no limit is ever passed', false],
      ['sometimes more than reserved: passed by what is marked, and by nothing else', true],
    ])('charges %s', async (_words, overruns) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }), (steps) =>
          run(steps, overruns),
        ),
        { numRuns: runs, endOnFailure: false },
      );
    });

    test('one user, one limit, and everything at once', async () => {
      const narrow = anyAsk.map((ask) => ({
        ...ask,
        who: { ...ask.who, tenant: 0, user: 0, model: 0 },
        limits: NARROW,
      }));
      const burst = fc.record({
        kind: fc.constant('burst' as const),
        asks: fc.array(narrow, { minLength: 2, maxLength: 20, size: 'max' }),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ weight: 2, arbitrary: burst }, { weight: 3, arbitrary: anyStep }), {
            minLength: 1,
            maxLength: 12,
            size: 'max',
          }),
          (steps) => run(steps, false),
        ),
        { numRuns: Math.ceil(runs / 2) },
      );
    });

    test('of all that, everything happens in such runs', async () => {
      // A property that never meets a refusal would say little. The seed stands, so that this is no matter of luck.
      const happened = new Map<string, number>();
      const count = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1);
      const long = fc.array(anyStep, { minLength: 40, maxLength: 60, size: 'max' });
      const samples = fc.sample(long, { seed: 20_261_114, numRuns: SAMPLES });
      for (const [index, steps] of samples.entries()) await run(steps, index % 2 === 1, count);
      const ways = ['reserved', 'refused', 'settle', 'forfeit', 'void', 'expire', 'grant', 'alert'];
      const all = [...ways, 'overrun', 'crashed', 'retried', 'retried anew', 'rolling'];
      expect(all.filter((what) => !happened.has(what))).toEqual([]);
    });
  });
}

const SAMPLES = 24;
const DAY_MS = 86_400_000;
const NARROW = kinds.map(() => 20);
const who: fc.Arbitrary<Who> = fc.record({
  book: fc.constantFrom<Book>('real', 'simulated'),
  tenant: fc.nat(tenants.length - 1),
  user: fc.nat(users.length - 1),
  model: fc.nat(models.length - 1),
});
const anyAsk: fc.Arbitrary<Ask> = fc.record({
  who,
  mask: fc.integer({ min: 1, max: 2 ** kinds.length - 1 }),
  limits: fc.tuple(...kinds.map(() => fc.constantFrom(null, 0, 1, 5, 10, 20, 40, 40))),
  tokens: fc.nat(12),
  ttlMs: fc.constantFrom(1, 900, 45_000, 3_600_000, 2 * DAY_MS),
  owner: fc.nat(owners.length - 1),
});
const ending = fc.constantFrom<Ending>('settle', 'settle', 'settle', 'forfeit', 'void', 'expire');
const pick = fc.nat(1_000);
const share = fc.integer({ min: 0, max: 200 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('reserve' as const), ask: anyAsk }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('resolve' as const), operation: ending, pick, share }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('twice' as const), operations: fc.tuple(ending, ending), pick, share }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), operation: ending, pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retry' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('anew' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reuse' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), max: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), owner: fc.nat(owners.length - 1) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      who,
      line: fc.nat(kinds.length - 1),
      amount: fc.nat(15),
      limit: fc.constantFrom(0, 5, 20),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.oneof(fc.constantFrom(1, 750, 1_000, 30_000, 59_999, 60_000, 60_999, DAY_MS, 31 * DAY_MS), fc.nat(61_000)),
    }),
  },
);

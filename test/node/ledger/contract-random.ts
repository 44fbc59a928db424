/**
 * The part of the stores' contract that nobody thought of: random operations over many scopes, in many orders, some at once.
 * The store must answer as the one in memory does, and a model of its own, written without the law, must find every limit kept.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore, ReserveAsk } from '../../../shared/engine/ledger/store.ts';
import type { BudgetWindow } from '../../../shared/contract/plans.ts';
import { value } from '../storage/records.ts';
import { START_MS, forfeitOf, grantOf, lineOf, reserveOf, settleOf, voidOf } from './asks.ts';
import type { LineAsk } from './asks.ts';
import type { FreshLedger } from './store-contract.ts';

const RUNS = 40;

export function testRandomly(fresh: FreshLedger): void {
  test('random operations: answered as in memory, no limit passed, all of it conserved', async () => {
    const { store } = await fresh();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 60 }), async (steps) => {
        // A tenant of its own for every run, so that one store does for all.
        runs += 1;
        await compare(store, `tenant-${runs}`, steps);
      }),
      { numRuns: RUNS },
    );
    const audit = value(await store.audit(START_MS));
    expect(audit.faults).toEqual([]);
  });
}

type Step =
  | { readonly do: 'reserve'; readonly lines: readonly LineAsk[]; readonly key: number | null; readonly holdMs: number }
  | { readonly do: 'settle' | 'forfeit' | 'void'; readonly which: number; readonly tokens: number }
  | { readonly do: 'grant'; readonly line: LineAsk; readonly amount: number }
  | { readonly do: 'wait'; readonly ms: number };

const limits = { ada: 1_000, grace: null, linus: 0, acme: 2_500, a: 700, b: 300 } as const;

const lineArbitrary = (amount: fc.Arbitrary<number>): fc.Arbitrary<LineAsk> =>
  fc
    .record({
      name: fc.constantFrom('ada', 'grace', 'linus', 'acme', 'a', 'b'),
      window: fc.constantFrom<BudgetWindow>('day', 'month', 'minute', 'run'),
      unit: fc.constantFrom('tokens', 'tokens', 'tokens', 'nano-dollars', 'requests'),
      amount,
    })
    .map((line) => ({ ...line, limit: limits[line.name as keyof typeof limits], alertsPercent: [50, 80] }) as LineAsk);

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      lines: fc.uniqueArray(lineArbitrary(fc.integer({ min: 0, max: 400 })), {
        minLength: 1,
        maxLength: 4,
        selector: (line) => `${line.name} ${line.window} ${line.unit}`,
      }),
      key: fc.option(fc.integer({ min: 0, max: 5 })),
      holdMs: fc.integer({ min: 1, max: 200_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('settle' as const, 'forfeit' as const, 'void' as const),
      which: fc.nat(20),
      tokens: fc.integer({ min: 0, max: 500 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      line: lineArbitrary(fc.constant(0)),
      amount: fc.integer({ min: 0, max: 300 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 50_000_000 }) }),
  },
);

async function compare(store: LedgerStore, tenant: string, steps: readonly Step[]): Promise<void> {
  let nowMs = START_MS;
  const memory = createMemoryStore({ nowMs: () => nowMs });
  const asks: ReserveAsk[] = [];
  const touched = new Set<string>();
  const limitsSeen = new Map<string, number | null>();
  for (const [index, step] of steps.entries()) {
    const where = { tenant, atMs: nowMs };
    if (step.do === 'wait') {
      nowMs += step.ms;
    } else if (step.do === 'reserve') {
      const ask = reserveOf(step.lines, {
        ...where,
        id: `${tenant}-${index}`,
        key: step.key === null ? `own-${index}` : `key-${step.key}`,
        expiresAtMs: nowMs + step.holdMs,
      });
      const answer = await store.reserve(ask);
      expect(answer).toEqual(await memory.reserve(ask));
      if (!answer.ok || answer.value.outcome !== 'reserved' || answer.value.repeated) continue;
      asks.push(ask);
      for (const { key, limit } of ask.lines) limitsSeen.set(key, limit);
      for (const { key } of ask.lines) touched.add(key);
    } else if (step.do === 'grant') {
      const line = lineOf(step.line, where);
      const ask = grantOf(step.amount, line, { atMs: nowMs });
      expect(await store.grant(ask)).toEqual(await memory.grant(ask));
      touched.add(line.key);
    } else {
      const of = asks[step.which % Math.max(1, asks.length)];
      if (of === undefined) continue;
      const ask =
        step.do === 'settle'
          ? settleOf(of, step.tokens, { atMs: nowMs })
          : (step.do === 'forfeit' ? forfeitOf : voidOf)(of, { atMs: nowMs });
      expect(await store.resolve(ask)).toEqual(await memory.resolve(ask));
    }
  }
  const query = { book: 'simulated', keys: [...touched], atMs: nowMs } as const;
  const states = value(await store.accounts(query));
  expect(states).toEqual(value(await memory.accounts(query)));
  for (const state of states) {
    const limit = limitsSeen.get(state.key) ?? null;
    if (limit === null || state.account.window === 'minute') continue;
    expect(state.spent + state.held).toBeLessThanOrEqual(limit + state.granted + state.overrun);
  }
  const withoutSeq = async (of: LedgerStore): Promise<unknown> =>
    value(await of.entries({ book: 'simulated', tenant, limit: 1_000 })).map(({ seq: _seq, ...entry }) => entry);
  expect(await withoutSeq(store)).toEqual(await withoutSeq(memory));
}

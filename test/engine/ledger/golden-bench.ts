/** The ledger's service over a store in memory and a clock in hand, with the plans every installation starts with. */
import type { Directory } from '../../../shared/contract/plans.ts';
import { DEFAULT_DIRECTORY } from '../../../shared/contract/plans.ts';
import type { Book } from '../../../shared/contract/ledger.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { createLedger } from '../../../shared/engine/ledger/ledger.ts';
import type { Ledger, ReservationAsk, Settlement } from '../../../shared/engine/ledger/ledger.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore } from '../../../shared/engine/ledger/store.ts';
import { golden } from './golden-file.ts';

export const goldenClockMs = Date.parse(golden.clock);
/** System prompt and message, and the output cap. */
export const GOLDEN_INPUT = golden.estimate.systemTokens + golden.estimate.messageTokens;
export const GOLDEN_OUTPUT = golden.estimate.maxOutput;

export interface LedgerBench {
  readonly ledger: Ledger;
  readonly store: LedgerStore;
  readonly events: EngineEvent[];
  readonly clock: { nowMs: number };
  /** Spent and held of an account by the golden key, such as `user:ada:2026-11-14`; 0 where it was never touched. */
  used(key: string, tenant?: string): Promise<number>;
}

export function ledgerBench(directory: Directory = DEFAULT_DIRECTORY, atMs = goldenClockMs): LedgerBench {
  const clock = { nowMs: atMs };
  const events: EngineEvent[] = [];
  const store = createMemoryStore({ nowMs: () => clock.nowMs });
  let ids = 0;
  const ledger = createLedger({
    store,
    directory: () => directory,
    prices: () => null,
    newId: () => `hold-${(ids += 1)}`,
    owner: 'home/1',
    clockOffsetMs: () => 0,
    events: { emit: (event) => void events.push(event) },
  });
  return {
    ledger,
    store,
    events,
    clock,
    async used(key, tenant = 'acme') {
      const [scope, name, period] = key.split(':');
      const window = scope === 'user' ? 'day' : 'month';
      const full = `real:${tenant}:${scope}:${name}:${window}:${period}:tokens`;
      const found = await store.accounts({ book: 'real', keys: [full], atMs: clock.nowMs });
      if (!found.ok) throw new Error(found.denial.message);
      return found.value.reduce((sum, { spent, held }) => sum + spent + held, 0);
    },
  };
}

export function askOf(user: string, key: string, change: Partial<ReservationAsk> = {}): ReservationAsk {
  return {
    key,
    book: 'real' satisfies Book,
    payer: { tenant: 'acme', user },
    model: 'probe',
    experiment: null,
    callId: null,
    inputTokens: GOLDEN_INPUT,
    outputTokens: GOLDEN_OUTPUT,
    sentTokensEstimated: null,
    wallClockMs: 30_000,
    strict: false,
    ...change,
  };
}

export const reported = (inputTokens: number, outputTokens: number): Settlement => ({
  operation: 'settle',
  inputTokens,
  outputTokens,
  source: 'reported',
  reason: '',
});

/** The default directory with other limits for the plan of acme. */
export function withLimits(limits: { user?: number | null; tenant?: number | null }, change: object = {}): Directory {
  return {
    ...DEFAULT_DIRECTORY,
    plans: DEFAULT_DIRECTORY.plans.map((plan) =>
      plan.name !== 'assistant'
        ? plan
        : {
            ...plan,
            ...change,
            budgets: plan.budgets.map((budget) => {
              const limit = budget.scope === 'user' ? limits.user : limits.tenant;
              return limit === undefined ? budget : { ...budget, limit };
            }),
          },
    ),
  };
}

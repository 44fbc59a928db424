/** An engine with a ledger in memory over a real door, for tests of budgets over real HTTP. */
import type { CallRecord, CallRequest } from '../../shared/contract/calls.ts';
import { ok } from '../../shared/contract/denials.ts';
import type { CallId, RunId } from '../../shared/contract/ids.ts';
import { type Budget, type PlanInput, budgetSchema, directorySchema } from '../../shared/contract/plans.ts';
import { never } from '../../shared/engine/cancel.ts';
import { type Engine, createEngine } from '../../shared/engine/engine.ts';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import { createLedger } from '../../shared/engine/ledger/ledger.ts';
import { createMemoryStore } from '../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore } from '../../shared/engine/ledger/store.ts';
import { preflight } from '../../shared/engine/truncation/preflight.ts';
import type { OllamaDoor } from '../../shared/node/ollama/door.ts';
import { systemClock } from '../../shared/node/runtime.ts';

export interface BudgetedEngine {
  readonly engine: Engine;
  readonly store: LedgerStore;
}

export function budgetedEngine(options: {
  readonly door: OllamaDoor;
  /** null = a server that says nothing of itself. */
  readonly simulator: { readonly url: string; readonly version: string } | null;
  /** false: the model's facts are not known. */
  readonly knows?: boolean;
  readonly plan: Omit<PlanInput, 'name'>;
}): BudgetedEngine {
  const { door, simulator } = options;
  let count = 0;
  const store = createMemoryStore({ nowMs: () => Date.now() });
  const directory = directorySchema.parse({ plans: [{ name: 'plan', ...options.plan }], defaultPlan: 'plan' });
  const ledger = createLedger({
    store,
    directory: () => directory,
    prices: () => null,
    newId: () => `hold-${(count += 1)}`,
    owner: 'console/start',
    clockOffsetMs: () => 0,
    events: { emit: () => undefined },
  });
  const engine = createEngine({
    clock: systemClock,
    ids: { call: () => `call-${(count += 1)}` as CallId, run: () => 'run' as RunId },
    model: door,
    subjects: {
      async of(model) {
        const facts = options.knows === false || simulator === null ? null : await door.show(model, never);
        return ok({
          server: simulator?.url ?? 'nobody',
          serverVersion: simulator?.version ?? null,
          simulated: true,
          facts: facts?.ok === true ? facts.value : null,
          digest: null,
          learned: null,
          defaultNumCtx: null,
          running: simulator === null ? [] : ((await door.running(never)) ?? []),
        });
      },
    },
    estimator: {
      estimate: async (messages, learned) => estimateMessages(messages, learned),
      preflight: async (input) => preflight(input),
    },
    journal: { callClosed: () => ok(undefined) },
    budgets: { ledger, payer: () => ({ tenant: 't', user: 'u' }), wallClockMs: () => 60_000 },
    events: { emit: () => undefined },
  });
  return { engine, store };
}

export const userDay = (limit: number): Budget =>
  budgetSchema.parse({ scope: 'user', window: 'day', unit: 'tokens', limit });

export async function callOn(engine: Engine, request: CallRequest): Promise<CallRecord> {
  const opened = engine.open(request);
  if (!opened.ok) throw new Error(opened.denial.message);
  return (await opened.value.done).record;
}

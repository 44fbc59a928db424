/** An engine with a ledger in memory, a wall clock that stands until it is moved, and a scripted model. */
import type { CallRecord, CallRequest, Message } from '../../../shared/contract/calls.ts';
import { callRequestSchema } from '../../../shared/contract/calls.ts';
import type { PriceSet } from '../../../shared/contract/costs.ts';
import { type Denial, type Result, denied, ok } from '../../../shared/contract/denials.ts';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import type { CallId, RunId } from '../../../shared/contract/ids.ts';
import type { Balance, LedgerEntry, RefusalLine, Reservation } from '../../../shared/contract/ledger.ts';
import { type Directory, type PlanInput, directorySchema } from '../../../shared/contract/plans.ts';
import type { CallOutcome } from '../../../shared/engine/call.ts';
import { type Engine, createEngine } from '../../../shared/engine/engine.ts';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';
import { type Ledger, createLedger } from '../../../shared/engine/ledger/ledger.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import type { LedgerStore } from '../../../shared/engine/ledger/store.ts';
import type { EnginePorts, ModelEvent, ReplyEnd, Subject } from '../../../shared/engine/ports.ts';
import { preflight } from '../../../shared/engine/truncation/preflight.ts';
import { type ScriptedModel, chunk, end, scriptedModel } from '../../support/scripted-model.ts';

export const START_MS = Date.parse('2026-11-14T22:44:02.000Z');
export const WALL_CLOCK_MS = 120_000;

export const request: CallRequest = callRequestSchema.parse({
  model: 'probe',
  route: 'chat',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  numCtx: 4_096,
  numPredict: 100,
  think: 'default',
  temperature: 0,
  seed: 7,
  policy: 'warn',
});

export interface Bench {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly store: LedgerStore;
  readonly model: ScriptedModel;
  readonly events: EngineEvent[];
  readonly records: CallRecord[];
  /** Moves the wall clock. */
  advance(byMs: number): void;
  nowMs(): number;
  call(change?: Partial<CallRequest>): Promise<CallOutcome>;
  open(
    change?: Partial<CallRequest>,
    place?: Parameters<Engine['open']>[1],
  ): { id: CallId; done: Promise<CallOutcome> };
  /** The journal, oldest first. */
  entries(): Promise<LedgerEntry[]>;
  holds(): Promise<Reservation[]>;
  balance(scope: string, unit?: string, name?: string): Promise<Balance>;
  refusals(): Promise<RefusalLine[]>;
}

export interface BenchOptions {
  readonly plan?: Omit<PlanInput, 'name'>;
  readonly directory?: Directory;
  readonly scripts?: readonly (ModelEvent | 'wait')[][];
  readonly subject?: Partial<Subject>;
  readonly prices?: PriceSet;
  readonly wrap?: (store: LedgerStore) => LedgerStore;
  readonly payer?: { readonly tenant: string; readonly user: string };
}

export function bench(options: BenchOptions = {}): Bench {
  let nowMs = START_MS;
  let monotonicMs = 0;
  let count = 0;
  const id = (kind: string): string => `${kind}-${(count += 1)}`;
  const events: EngineEvent[] = [];
  const records: CallRecord[] = [];
  const memory = createMemoryStore({ nowMs: () => nowMs });
  const store = options.wrap?.(memory) ?? memory;
  const directory = options.directory ?? onePlan(options.plan ?? {});
  const model = scriptedModel([...(options.scripts ?? [])], []);
  const ledger = createLedger({
    store,
    directory: () => directory,
    prices: () => options.prices ?? null,
    newId: () => id('hold'),
    owner: 'console/start',
    clockOffsetMs: () => 0,
    events: { emit: (event) => events.push(event) },
  });
  const subject: Subject = {
    server: '127.0.0.1:11434',
    serverVersion: '0.33.0',
    simulated: false,
    facts: null,
    digest: 'd1',
    learned: null,
    defaultNumCtx: null,
    running: [],
    ...options.subject,
  };
  const ports: EnginePorts = {
    clock: { now: () => new Date(nowMs).toISOString(), monotonicMs: () => (monotonicMs += 5) },
    ids: { call: () => id('call') as CallId, run: () => id('run') as RunId },
    model,
    subjects: { of: async () => ok(subject) },
    estimator: {
      estimate: async (messages, learned) => estimateMessages(messages, learned),
      preflight: async (input) => preflight(input),
    },
    journal: { callClosed: (record) => (records.push(record), ok(undefined)) },
    budgets: {
      ledger,
      payer: () => options.payer ?? { tenant: 'acme', user: 'ada' },
      wallClockMs: () => WALL_CLOCK_MS,
    },
    events: { emit: (event) => events.push(event) },
  };
  const engine = createEngine(ports);
  const open: Bench['open'] = (change = {}, place) => {
    const opened = engine.open({ ...request, ...change }, place);
    if (!opened.ok) throw new Error(opened.denial.message);
    return opened.value;
  };
  const view = async (): Promise<Awaited<ReturnType<Ledger['view']>>> => ledger.view('real');
  return {
    engine,
    ledger,
    store,
    model,
    events,
    records,
    advance: (byMs) => (nowMs += byMs),
    nowMs: () => nowMs,
    open,
    call: (change) => open(change).done,
    entries: async () => [...must(await memory.entries({ book: 'real', limit: 10_000 }))].reverse(),
    holds: async () =>
      must(await memory.reservations({ book: 'real', closed: 0 })).filter((one) => one.state === 'open'),
    async balance(scope, unit, name) {
      const found = must(await view()).balances.find(
        ({ account }) =>
          account.scope === scope &&
          (unit === undefined || account.unit === unit) &&
          (name === undefined || account.name === name),
      );
      if (found === undefined) throw new Error(`there is no balance of ${scope} ${name ?? ''}`);
      return found;
    },
    refusals: async () => must(await view()).refusals,
  };
}

/** Everybody has this plan. */
export function onePlan(plan: Omit<PlanInput, 'name'>): Directory {
  return directorySchema.parse({ plans: [{ name: 'plan', ...plan }], defaultPlan: 'plan' });
}

/** Nothing is open, the journal adds up, and every hold was resolved exactly once. */
export async function conserved(made: Bench): Promise<void> {
  const audit = must(await made.store.audit(made.nowMs()));
  if (!audit.sound || audit.openHolds !== 0) throw new Error(`${audit.openHolds} open, ${audit.faults.join('; ')}`);
  const resolved = new Map<string, number>();
  for (const { operation, reservationId } of await made.entries()) {
    if (reservationId === null || operation === 'alert') continue;
    resolved.set(reservationId, (resolved.get(reservationId) ?? 0) + (operation === 'reserve' ? 0 : 1));
  }
  for (const [id, times] of resolved) if (times !== 1) throw new Error(`${id} was resolved ${times} times`);
}

export const user = (content: string): Message => ({ role: 'user', content });
export const system = (content: string): Message => ({ role: 'system', content });
export const head: readonly ModelEvent[] = [{ kind: 'sent' }, { kind: 'headers', status: 200 }];
/** A reply that goes well, with the counts of the server. */
export const reply = (promptEvalCount: number | null, evalCount: number | null, answer = 'Because.'): ModelEvent[] => [
  ...head,
  chunk(answer),
  end({ promptEvalCount, evalCount } as Partial<ReplyEnd>),
];

/** English of so many characters, at three to a token on the pessimistic side. */
export const prose = (length: number): string =>
  'We open our doors at nine and close them at six on all days of the week. '
    .repeat(Math.ceil(length / 72) + 1)
    .slice(0, length);

export async function until(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !done(); turn += 1) await Promise.resolve();
  if (!done()) throw new Error('it did not happen');
}

export function must<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`refused: ${result.denial.message}`);
  return result.value;
}

export const away = (what = 'The ledger does not answer.'): { ok: false; denial: Denial } =>
  denied('ledger-unavailable', what, { next: 'Try again.' });

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type Denial, type Result } from '../../../shared/contract/denials.ts';
import { type EngineEvent, eventSchema } from '../../../shared/contract/events.ts';
import { type Storm, type StormAsk, stormAskSchema, stormSchema } from '../../../shared/contract/ledger.ts';
import { planStorm } from '../../../shared/engine/storm/plan.ts';
import { stormHandlers } from '../../../shared/node/ledger/storm-handlers.ts';
import { type Storms, createStorms } from '../../../shared/node/ledger/storm.ts';
import { systemClock } from '../../../shared/node/runtime.ts';
import { createSimulatorHost } from '../../../shared/node/simulator/host.ts';
import {
  type SimulatorOptions,
  type Simulator,
  profileOf,
  startSimulator,
} from '../../../shared/node/simulator/index.ts';

interface Console {
  readonly storms: Storms;
  readonly seen: Storm[];
  /** Starts one and waits for the frame that says that it is over. */
  run(ask?: Partial<StormAsk>): Promise<Storm>;
  ended(): Promise<Storm>;
  until(isSo: (storm: Storm) => boolean): Promise<Storm>;
}

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

function consoleAt(address: () => string | null = () => null): Console {
  const seen: Storm[] = [];
  const listeners = new Set<() => void>();
  const storms = createStorms({
    simulator: { address },
    emit(event: EngineEvent) {
      const parsed = eventSchema.parse(event);
      if (parsed.type !== 'storm-changed') throw new Error(`a storm tells only of itself, not ${parsed.type}`);
      seen.push(parsed.storm);
      for (const listener of listeners) listener();
    },
    clock: systemClock,
    timeScale: () => 0,
  });
  opened.push(() => storms.stop());
  const until = (isSo: (storm: Storm) => boolean): Promise<Storm> =>
    new Promise((resolve) => {
      const look = (): void => {
        const storm = seen.at(-1);
        if (storm === undefined || !isSo(storm)) return;
        listeners.delete(look);
        resolve(storm);
      };
      listeners.add(look);
      look();
    });
  const ended = (): Promise<Storm> => until((storm) => storm.state !== 'running');
  return {
    storms,
    seen,
    until,
    ended,
    async run(ask = {}) {
      seen.length = 0;
      valueOf(await storms.start(stormAskSchema.parse(ask)));
      return ended();
    },
  };
}

async function simulatorWith(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, timeScale: 0, ...options });
  opened.push(() => simulator.stop());
  return simulator;
}

/** A token in twenty seconds: what is sent to it stays open. */
const endless = [
  profileOf({
    name: 'sim-quick:latest',
    rates: { loadMs: 0, promptTokensPerSecond: 1_000_000, outputTokensPerSecond: 0.05 },
  }),
];

describe('the classic storm', () => {
  test('check-after admits all 20 and spends 39,380 of 9,000; reserve-first admits 3 and holds 7,302', async () => {
    const simulator = await simulatorWith();
    const storm = await consoleAt(() => simulator.url).run();
    expect(storm).toEqual({
      id: expect.any(String),
      ask: stormAskSchema.parse({}),
      state: 'done',
      problem: null,
      reservedTokensEach: 2_434,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
      checkAfter: {
        admitted: 20,
        refused: 0,
        spentTokens: 39_380,
        heldTokens: 0,
        heldTokensMax: 0,
        calls: Array.from({ length: 20 }, () => 'done' as const),
        refusedCode: null,
        retryAfterSeconds: null,
      },
      reserveFirst: {
        admitted: 3,
        refused: 17,
        spentTokens: 3 * 1_969,
        heldTokens: 0,
        heldTokensMax: 7_302,
        calls: Array.from({ length: 20 }, (_, index) => (index < 3 ? 'done' : 'refused')),
        // Held, not used up: with what the three give back a fourth one fits. Their holds last as long as a call may, and a minute.
        refusedCode: 'tenant-month-limit-held',
        retryAfterSeconds: 180,
      },
    } satisfies Storm);
    expect(simulator.state.turns.count).toBe(23);
    expect(simulator.aborted).toEqual([]);
  });

  test('is told while it runs: 20 and 3 under way, each with its hold, before anything is spent', async () => {
    const simulator = await simulatorWith({ profiles: endless, timeScale: 1 });
    const one = consoleAt(() => simulator.url);
    const started = valueOf(await one.storms.start(stormAskSchema.parse({})));
    expect(started).toMatchObject({ state: 'running', endedAt: null });
    const sent = (side: Storm['checkAfter']): number => side.calls.filter((state) => state === 'running').length;
    const storm = await one.until(({ checkAfter, reserveFirst }) => sent(checkAfter) + sent(reserveFirst) === 23);
    expect(storm).toMatchObject({
      id: started.id,
      state: 'running',
      checkAfter: { admitted: 20, refused: 0, spentTokens: 0 },
      reserveFirst: { admitted: 3, refused: 17, spentTokens: 0, heldTokens: 7_302 },
    });
    expect(one.storms.last()).toEqual(storm);
  });

  test('200 calls, told some 20 times a second at most, and once at the end', async () => {
    const storm = consoleAt();
    const beganMs = performance.now();
    await storm.run({ calls: 200 });
    const tookMs = performance.now() - beganMs;
    expect(storm.seen.length).toBeLessThanOrEqual(Math.ceil(tookMs / 50) + 2);
    expect(storm.seen.filter((one) => one.state !== 'running')).toHaveLength(1);
    expect(storm.seen.at(-1)).toMatchObject({
      checkAfter: { admitted: 200, spentTokens: 200 * 1_969 },
      reserveFirst: { admitted: 3, refused: 197, heldTokensMax: 7_302 },
    });
  });
});

describe('limits', () => {
  test('one user: 2 of 20 under 6,000, refused by the user', async () => {
    const storm = await consoleAt().run({ users: 'one' });
    expect(storm.reserveFirst).toMatchObject({
      admitted: 2,
      refused: 18,
      heldTokensMax: 4_868,
      spentTokens: 3_938,
      refusedCode: 'user-day-limit-held',
    });
    expect(storm.checkAfter).toMatchObject({ admitted: 20, refused: 0, spentTokens: 39_380 });
  });

  test('without limits both sides are the same', async () => {
    const storm = await consoleAt().run({ calls: 5, userLimit: null, tenantLimit: null });
    expect(storm.checkAfter).toMatchObject({ admitted: 5, spentTokens: 9_845 });
    expect(storm.reserveFirst).toMatchObject({ admitted: 5, refused: 0, spentTokens: 9_845, heldTokensMax: 12_170 });
  });

  test('a limit of 0 lets nothing out, on either side', async () => {
    const simulator = await simulatorWith();
    const storm = await consoleAt(() => simulator.url).run({ calls: 4, tenantLimit: 0 });
    const refused = { admitted: 0, refused: 4, spentTokens: 0, heldTokensMax: 0, retryAfterSeconds: null };
    expect(storm.state).toBe('done');
    expect(storm.checkAfter).toMatchObject({ ...refused, refusedCode: 'tenant-month-limit-reached' });
    expect(storm.reserveFirst).toMatchObject({ ...refused, refusedCode: 'tenant-month-limit-too-small' });
    expect(simulator.state.turns.count).toBe(0);
  });

  test('property: what is reserved first stays within its limits, and check-after adds up what the replies said', async () => {
    const limit = fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: null });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          calls: fc.integer({ min: 1, max: 15 }),
          users: fc.constantFrom('one' as const, 'one-each' as const),
          messageCharacters: fc.oneof(fc.integer({ min: 1, max: 8_000 }), fc.integer({ min: 1, max: 100_000 })),
          outputTokensMax: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 10_000 })),
          userLimit: limit,
          tenantLimit: limit,
        }),
        async (ask) => {
          const simulator = await startSimulator({ port: 0, timeScale: 0 });
          const storm = await consoleAt(() => simulator.url).run(ask);
          const reported = await reportedTokens(simulator, ask);
          await simulator.stop();
          const { checkAfter, reserveFirst, reservedTokensEach } = storm;
          const most = Math.min(
            ask.tenantLimit ?? Infinity,
            ask.users === 'one' ? (ask.userLimit ?? Infinity) : Infinity,
          );
          expect(storm.state).toBe('done');
          expect(reserveFirst.heldTokensMax).toBeLessThanOrEqual(most);
          expect(reserveFirst.spentTokens).toBeLessThanOrEqual(most);
          // As many as fit, not one less.
          const fits = reservedTokensEach > (ask.userLimit ?? Infinity) ? 0 : Math.floor(most / reservedTokensEach);
          expect(reserveFirst.admitted).toBe(Math.min(ask.calls, fits));
          expect(reserveFirst.heldTokensMax).toBe(reserveFirst.admitted * reservedTokensEach);
          expect(reserveFirst.spentTokens).toBe(reserveFirst.admitted * reported);
          expect(checkAfter.admitted).toBe(ask.userLimit === 0 || ask.tenantLimit === 0 ? 0 : ask.calls);
          expect(checkAfter.spentTokens).toBe(checkAfter.admitted * reported);
          for (const side of [checkAfter, reserveFirst]) {
            expect(side.admitted + side.refused).toBe(ask.calls);
            expect(side.heldTokens).toBe(0);
          }
        },
      ),
      { numRuns: 12 },
    );
  }, 60_000);
});

test('the simulator of the console is used while it runs, and stays; else there is one for as long as the storm', async () => {
  const lines: string[] = [];
  const host = createSimulatorHost({ timeScale: () => 0 });
  opened.push(() => host.stop());
  host.onLogLine((line) => lines.push(line));
  const one = consoleAt(host.address);
  expect(host.address()).toBeNull();
  await one.run({ calls: 1 });
  expect([host.address(), lines.length]).toEqual([null, 0]);
  const url = await host.start();
  expect(host.address()).toBe(url);
  await one.run({ calls: 1 });
  expect(lines.some((line) => line.includes('/api/chat'))).toBe(true);
  expect((await fetch(`${url}/api/version`)).status).toBe(200);
  const stopping = host.stop();
  expect(host.address()).toBeNull();
  await stopping;
  // Stopped while it starts.
  const starting = host.start();
  await host.stop();
  await starting;
  expect(host.address()).toBeNull();
});

describe('endings', () => {
  test('a cancel reaches the simulator, gives every hold an end, and says cancelled', async () => {
    const simulator = await simulatorWith({ profiles: endless, timeScale: 1 });
    const one = consoleAt(() => simulator.url);
    const { id } = valueOf(await one.storms.start(stormAskSchema.parse({})));
    await one.until((storm) => storm.reserveFirst.calls.filter((state) => state === 'running').length === 3);
    expect.soft(denialOf(one.storms.cancel('storm_other')).code).toBe('not-found');
    expect(one.storms.cancel(id)).toEqual({ ok: true, value: {} });
    const storm = await one.ended();
    expect(storm).toMatchObject({
      state: 'cancelled',
      problem: null,
      // The work may have been done: what was held stays charged.
      reserveFirst: { admitted: 3, heldTokens: 0, spentTokens: 7_302 },
      checkAfter: { admitted: 20, spentTokens: 0 },
    });
    expect(storm.checkAfter.calls.every((state) => state === 'failed')).toBe(true);
    await expect.poll(() => simulator.aborted.length).toBe(23);
    expect(denialOf(one.storms.cancel(id))).toMatchObject({
      code: 'not-found',
      message: 'The storm has ended already.',
    });
  });

  test('a second one is busy while the first runs, and can start after it', async () => {
    const one = consoleAt();
    const [first, second] = await Promise.all([one.storms.start(asked({ calls: 2 })), one.storms.start(asked())]);
    expect(first.ok).toBe(true);
    expect(denialOf(second)).toMatchObject({ code: 'busy', next: expect.any(String) });
    await one.ended();
    expect((await one.run({ calls: 1 })).state).toBe('done');
  });

  test('a simulator that is closed in the middle: failed, with how many and why; no hold is left', async () => {
    const simulator = await simulatorWith({ profiles: endless, timeScale: 1 });
    const one = consoleAt(() => simulator.url);
    valueOf(await one.storms.start(asked({ calls: 3 })));
    await one.until((storm) => storm.checkAfter.calls.filter((state) => state === 'running').length === 3);
    await simulator.stop();
    const storm = await one.ended();
    expect(storm).toMatchObject({ state: 'failed', reserveFirst: { heldTokens: 0 } });
    expect(storm.problem).toMatch(/^6 of 6 calls failed: \S.+/);
  });

  test('a simulator that fails: failed, with its words', async () => {
    const simulator = await simulatorWith({ faults: ['server-error'] });
    const storm = await consoleAt(() => simulator.url).run({ calls: 2 });
    expect(storm).toMatchObject({ state: 'failed', checkAfter: { spentTokens: 0 }, reserveFirst: { heldTokens: 0 } });
    expect(storm.problem).toMatch(/^4 of 4 calls failed: \S.+/);
  });

  test('no simulator at its address, or one without the model: no storm, and the next one can start', async () => {
    const gone = await simulatorWith();
    await gone.stop();
    const other = await simulatorWith({ profiles: [profileOf({ name: 'sim-reader:latest' })] });
    let address: string | null = gone.url;
    const one = consoleAt(() => address);
    expect(denialOf(await one.storms.start(asked())).code).toBe('no-server');
    address = other.url;
    expect(denialOf(await one.storms.start(asked())).code).toBe('unknown-model');
    expect(one.storms.last()).toBeNull();
    address = null;
    expect((await one.run({ calls: 1 })).state).toBe('done');
  });

  test('stop ends what runs, waits for it, and lets nothing start', async () => {
    const simulator = await simulatorWith({ profiles: endless, timeScale: 1 });
    const one = consoleAt(() => simulator.url);
    const starting = one.storms.start(asked());
    valueOf(await starting);
    await one.storms.stop();
    expect(one.storms.last()).toMatchObject({ state: 'cancelled', reserveFirst: { heldTokens: 0 } });
    expect(denialOf(await one.storms.start(asked())).code).toBe('cancelled');
    const early = consoleAt();
    const late = early.storms.start(asked());
    await early.storms.stop();
    expect(denialOf(await late).code).toBe('cancelled');
  });
});

test('requests: start, get, cancel', async () => {
  const one = consoleAt();
  const handlers = stormHandlers({ storms: one.storms });
  expect(await handlers['storm.get']({})).toEqual({ ok: true, value: { storm: null } });
  const storm = valueOf(await handlers['storm.start'](asked({ calls: 1 })));
  expect(stormSchema.parse(storm)).toEqual(storm);
  await one.ended();
  expect(await handlers['storm.get']({})).toEqual({ ok: true, value: { storm: one.seen.at(-1) } });
  expect(denialOf(await handlers['storm.cancel']({ stormId: storm.id })).code).toBe('not-found');
});

const asked = (ask: Partial<StormAsk> = {}): StormAsk => stormAskSchema.parse(ask);

/** What the simulator itself says one call of this storm costs, asked once more without any of our code on the way. */
async function reportedTokens(simulator: Simulator, ask: StormAsk): Promise<number> {
  const { messages, numCtx } = planStorm(asked(ask));
  const reply = await fetch(`${simulator.url}/api/chat`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'sim-quick',
      messages,
      stream: false,
      options: { num_ctx: numCtx, num_predict: ask.outputTokensMax },
    }),
  });
  const { prompt_eval_count, eval_count } = (await reply.json()) as Record<string, number>;
  return (prompt_eval_count ?? NaN) + (eval_count ?? NaN);
}

function valueOf<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.denial.message);
  return result.value;
}

function denialOf(result: Result<unknown>): Denial {
  if (result.ok) throw new Error('was not denied');
  return result.denial;
}

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { GuardSettings } from '../../../shared/contract/agents.ts';
import type { TurnAsk } from '../../../shared/engine/agent/model.ts';
import type { ToolAsk } from '../../../shared/engine/gateway/gateway.ts';
import type { Turn } from '../agent/harness.ts';
import { always, call, openCalls, runAgents, script, sha256, tool, turnsOf } from '../agent/harness.ts';

interface Case {
  name: string;
  modelCalls: number;
  toolCalls: number;
  terminated: boolean;
  firstEvents: { call: number; tool: string; state: string; seen: number; tripped: boolean }[];
}
const golden = JSON.parse(readFileSync(new URL('../../golden/loopguard.json', import.meta.url), 'utf8')) as {
  document000: Case[];
  document002: { name: string; executed: number; events: { n: number; ran?: boolean; refused?: string }[] }[];
  publishedStateHash: {
    preimage: string;
    sha256: string;
    publishedPrefix: string;
    jcsEnvelope: string;
    jcsSha256: string;
  };
};

const ORDER = 1_042;
const askAgain = `Status is not final yet. Call get_shipment_status again with the same orderId before answering the customer.`;
const pending = JSON.stringify({ orderId: ORDER, status: 'pending', message: askAgain });
const shipped = JSON.stringify({ orderId: ORDER, status: 'shipped', message: 'done' });
const ask = call('get_shipment_status', { orderId: ORDER });

/** What each case of the golden file does: the guard, the rounds, what the carrier says at its n-th call, what the model asks. */
const cases: Record<
  string,
  {
    guard: number | null;
    rounds?: number;
    carrier?: (n: number) => string;
    model?: () => (ask: TurnAsk) => Turn;
    tool?: string;
  }
> = {
  'guard off, max 40': { guard: null },
  'guard on, maxRepeats 2': { guard: 2 },
  'guard on, maxRepeats 1': { guard: 1 },
  'guard on, maxRepeats 0': { guard: 0 },
  'guard on, maxRepeats 5': { guard: 5 },
  'guard off, max 1': { guard: null, rounds: 1 },
  'guard off, max 10': { guard: null, rounds: 10 },
  'guard on 50 but max 40': { guard: 50 },
  'result changes every time, guard on 2: never trips': { guard: 2, carrier: (n) => `changing ${n}` },
  'status really changes, then the model answers': {
    guard: 2,
    carrier: (n) => (n < 3 ? pending : shipped),
    model: () => turnsOf([ask], [ask], [ask], 'It is on its way.'),
  },
  'two alternating states, guard on 2: trips on the 3rd A = 5th call': {
    guard: 2,
    carrier: (n) => (n % 2 === 1 ? 'A' : 'B'),
  },
  'key order differs, guard on 2 with JCS: trips on 3rd': {
    guard: 2,
    tool: 't',
    carrier: () => 'same',
    model: () => {
      let turn = 0;
      return () => [call('t', (turn += 1) % 2 === 0 ? '{"a":1,"b":{"c":1,"d":2}}' : '{"b":{"d":2,"c":1},"a":1}')];
    },
  },
  'four identical parallel calls in one turn, guard on 2: stops inside the turn': {
    guard: 2,
    carrier: () => 'x',
    model: () => always(ask, ask, ask, ask),
  },
  'model answers at once': { guard: 2, model: () => () => 'I know.' },
};

const only = (guards: Partial<GuardSettings>): Partial<GuardSettings> => guards;

describe('the guard that looks at the result', () => {
  test('every case of the golden file is played', () => {
    expect(Object.keys(cases).sort()).toEqual(golden.document000.map(({ name }) => name).sort());
    expect(golden.document000).toHaveLength(14);
  });

  test.each(golden.document000)('$name', async ({ name, modelCalls, toolCalls, terminated, firstEvents }) => {
    const one = cases[name];
    if (one === undefined) throw new Error('no such case');
    const carrier = tool(one.tool ?? 'get_shipment_status', ({ n }) => (one.carrier ?? (() => pending))(n));
    const { view, run } = await runAgents({
      guards: only({ stateHash: one.guard === null ? null : { maxRepeats: one.guard } }),
      task: { rounds: one.rounds ?? 40 },
      model: script((one.model ?? (() => always(ask)))()),
      tools: [carrier],
      rootName: 'agent',
    });
    expect(view.run.totals.modelTurns).toBe(modelCalls);
    expect(view.run.totals.toolCalls).toBe(toolCalls);
    expect(carrier.ran).toHaveLength(toolCalls);
    expect(view.run.reason === 'state-hash').toBe(terminated);
    expect(openCalls(run, ['agent'])).toEqual([]);
    const ran = view.calls.filter(({ outcome }) => outcome === 'done');
    const isPublished = one.carrier === undefined || name.startsWith('status really');
    for (const { call: number, state, seen, tripped } of firstEvents) {
      const hash = ran[number - 1]?.stateHash ?? '';
      if (isPublished) expect(hash.slice(0, 8)).toBe(state);
      expect(ran.slice(0, number).filter(({ stateHash }) => stateHash === hash)).toHaveLength(seen);
      expect(terminated && number === toolCalls).toBe(tripped);
    }
    if (terminated)
      expect(view.trips.at(-1)).toMatchObject({ guard: 'state-hash', stage: 'stop', count: (one.guard ?? 0) + 1 });
    else expect(view.trips.filter(({ stage }) => stage !== 'warn')).toEqual([]);
  });

  test('its hash is the canonical one; the published prefix comes from texts put together in the order they came', () => {
    const { preimage, sha256: legacy, publishedPrefix, jcsEnvelope, jcsSha256 } = golden.publishedStateHash;
    const put = `get_shipment_status|${JSON.stringify({ orderId: ORDER })}|${pending}`;
    expect(put).toBe(preimage);
    expect(sha256(put)).toBe(legacy);
    expect(legacy.slice(0, 8)).toBe(publishedPrefix);
    expect(publishedPrefix).toBe('fcc936a3');
    expect(sha256(jcsEnvelope)).toBe(jcsSha256);
  });
});

describe('the guard that looks at the call alone', () => {
  const asks: Record<string, readonly ToolAsk[]> = {
    'identical x5, limit 3': Array.from({ length: 5 }, () => call('fetch', { url: 'https://a.example' })),
    'page=1..5 (arguments differ)': Array.from({ length: 5 }, (_, at) => call('fetch', { page: at + 1 })),
    'key order differs': Array.from({ length: 5 }, (_, at) =>
      call('f', at % 2 === 0 ? '{"a":1,"b":2}' : '{ "b":2,"a":1.0 }'),
    ),
  };

  test.each(golden.document002)('$name', async ({ name, executed, events }) => {
    const sequence = asks[name] ?? [];
    const used = tool(sequence[0]?.name ?? '', ({ n }) => `result ${n}`);
    const { view, run } = await runAgents({
      guards: only({ identicalCalls: { limit: 3, pollingLimit: 60 }, ladder: 'block' }),
      model: script(turnsOf(...sequence.map((one) => [one]))),
      tools: [used],
    });
    expect(used.ran).toHaveLength(executed);
    for (const { n, ran, refused } of events) {
      const one = view.calls[n - 1];
      expect(one?.outcome).toBe(ran === true ? 'done' : 'refused');
      if (refused !== undefined)
        expect(JSON.parse(one?.resultHead ?? '')).toEqual({ error: 'identical-call', message: refused });
    }
    expect(openCalls(run, ['agent'])).toEqual([]);
  });
});

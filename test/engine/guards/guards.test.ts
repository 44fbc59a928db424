import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_GUARDS, type GuardSettings } from '../../../shared/contract/agents.ts';
import { type Json, parseJson } from '../../../shared/engine/guards/canonical.ts';
import { type Guards, type GuardsSnapshot, type Trip, createGuards } from '../../../shared/engine/guards/guards.ts';
import { OFF, sha256 } from '../agent/harness.ts';

const argsOf = (value: unknown): Json => {
  const parsed = parseJson(JSON.stringify(value));
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.value;
};
const guardsOf = (settings: Partial<GuardSettings>, restored?: GuardsSnapshot): Guards =>
  createGuards({ ...DEFAULT_GUARDS, ...OFF, ...settings }, sha256, restored);

interface Call {
  tool?: string;
  args?: unknown;
  result?: string;
  polls?: boolean;
  nodeId?: string;
}

let lastId = 0;
/** One call as the gateway makes it; the trips of before and after, in order. */
function run(guards: Guards, { tool = 't', args = {}, result = '', polls = false, nodeId = 'a' }: Call): Trip[] {
  lastId += 1;
  const call = { id: `c${lastId}`, nodeId, tool, args: argsOf(args), polls };
  const { trip } = guards.before(call);
  if (trip !== null && trip.stage !== 'warn') return [trip];
  const after = guards.after(call, result).trip;
  return [trip, after].filter((one) => one !== null);
}
const stages = (trips: readonly Trip[]): string[] => trips.map(({ guard, stage }) => `${guard} ${stage}`);
const step = (guards: Guards, text: string, more: Partial<{ tool: string; polls: boolean; nodeId: string }> = {}) =>
  guards.stepEnded({
    nodeId: more.nodeId ?? 'a',
    texts: [{ tool: more.tool ?? 't', text, polls: more.polls ?? false }],
    subAgentReturned: false,
  });
const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `word${from + at}`).join(' ');

describe('cycles', () => {
  test.each([1, 2, 3, 4])('a period of %i that came three times is one, with its calls as evidence', (period) => {
    const guards = guardsOf({ cycles: { periodMax: 4, repeats: 3 }, ladder: 'stop' });
    const all: Trip[][] = [];
    for (let at = 0; at < period * 3; at += 1) all.push(run(guards, { tool: `t${at % period}`, result: 'same' }));
    expect(all.slice(0, -1).flat()).toEqual([]);
    expect(all.at(-1)).toMatchObject([{ guard: 'cycle', stage: 'stop', count: 3, limit: 3 }]);
    expect(all.at(-1)?.[0]?.calls).toHaveLength(period * 3);
  });

  test('a longer period than is looked for, a result that changes, and one round less are none', () => {
    const guards = guardsOf({ cycles: { periodMax: 4, repeats: 3 }, ladder: 'stop' });
    for (let at = 0; at < 30; at += 1) expect(run(guards, { tool: `t${at % 5}`, result: 'same' })).toEqual([]);
    for (let at = 0; at < 30; at += 1) expect(run(guards, { tool: `u${at % 3}`, result: `${at}` })).toEqual([]);
    for (let at = 0; at < 8; at += 1) expect(run(guards, { tool: `v${at % 3}`, result: 'same' })).toEqual([]);
  });

  test('begins anywhere: what came before does not hide it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(50), { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 2, max: 5 }),
        (before, period, repeats) => {
          const guards = guardsOf({ cycles: { periodMax: 4, repeats }, ladder: 'stop' });
          for (const one of before) run(guards, { tool: `b${one}`, result: `${(lastId += 1)}` });
          const trips = Array.from({ length: period * repeats }, (_, at) =>
            run(guards, { tool: `t${at % period}`, result: 'same' }),
          );
          expect(trips.flat()).toHaveLength(1);
          expect(trips.at(-1)).toHaveLength(1);
        },
      ),
    );
  });

  test('warned, then blocked, then stopped; what is blocked does not run by any of its names', () => {
    const guards = guardsOf({ cycles: { periodMax: 2, repeats: 3 }, ladder: 'warn-block-stop' });
    const round = (): Trip[] => [
      ...run(guards, { tool: 'a', result: '1' }),
      ...run(guards, { tool: 'b', result: '2' }),
    ];
    expect(stages([1, 2, 3].flatMap(round))).toEqual(['cycle warn']);
    expect(stages([1, 2, 3].flatMap(round))).toEqual(['cycle block']);
    expect(stages(run(guards, { tool: 'b' }))).toEqual(['cycle stop']);
    expect(stages(run(guards, { tool: 'a' }))).toEqual(['cycle block']);
    expect(run(guards, { tool: 'a', args: { other: 1 } })).toEqual([]);
  });
});

describe('identical calls', () => {
  const limit = { identicalCalls: { limit: 3, pollingLimit: 6 } };

  test('keys in another order, other writing of a number and ignored fields are the same call', () => {
    const guards = guardsOf({ ...limit, ladder: 'stop', ignoredFields: { t: ['cursor', 'timeout'] } });
    expect(run(guards, { args: { a: 1, b: { c: 1, d: 2 }, cursor: 'x' } })).toEqual([]);
    expect(run(guards, { args: { b: { d: 2, c: 1 }, a: 1, cursor: 'y', timeout: 9 } })).toEqual([]);
    expect(run(guards, { args: { timeout: 1, a: 1, b: { d: 2, c: 1 } } })).toEqual([]);
    const trip = run(guards, { args: { a: 1, b: { c: 1, d: 2 } } })[0];
    expect(trip).toMatchObject({ guard: 'identical-calls', stage: 'stop', count: 4, limit: 3 });
    expect(trip?.calls).toHaveLength(3);
    expect(trip?.text).toBe('loop: t called 4 times with identical arguments');
  });

  test('a field that is ignored for one tool counts for another', () => {
    const guards = guardsOf({ ...limit, ignoredFields: { t: ['cursor'] } });
    for (let at = 0; at < 9; at += 1) expect(run(guards, { tool: 'u', args: { cursor: at } })).toEqual([]);
  });

  test('a clock dies by it, though every result differs', () => {
    const guards = guardsOf({ ...limit, stateHash: { maxRepeats: 2 }, cycles: DEFAULT_GUARDS.cycles, ladder: 'stop' });
    for (let at = 0; at < 3; at += 1) expect(run(guards, { tool: 'clock', result: `12:00:0${at}` })).toEqual([]);
    expect(stages(run(guards, { tool: 'clock' }))).toEqual(['identical-calls stop']);
  });

  test('a tool that waits may ask longer, and an exempt one for ever', () => {
    const guards = guardsOf({ ...limit, exempt: ['free'], ladder: 'stop' });
    for (let at = 0; at < 6; at += 1) expect(run(guards, { tool: 'wait', polls: true })).toEqual([]);
    expect(stages(run(guards, { tool: 'wait', polls: true }))).toEqual(['identical-calls stop']);
    for (let at = 0; at < 50; at += 1) expect(run(guards, { tool: 'free' })).toEqual([]);
  });

  test('what was let through and did not run does not count', () => {
    const guards = guardsOf({ ...limit, ladder: 'stop' });
    for (let at = 0; at < 20; at += 1) {
      const call = { id: `n${at}`, nodeId: 'a', tool: 't', args: argsOf({}), polls: false };
      expect(guards.before(call).trip).toBeNull();
      guards.notRun(call);
    }
    for (let at = 0; at < 3; at += 1) expect(run(guards, {})).toEqual([]);
    expect(run(guards, {})).toHaveLength(1);
  });

  test('each agent is counted by itself', () => {
    const guards = guardsOf({ ...limit, ladder: 'stop' });
    for (const nodeId of ['a', 'b', 'c']) for (let at = 0; at < 3; at += 1) expect(run(guards, { nodeId })).toEqual([]);
  });

  test('limit 0 lets nothing through', () => {
    expect(stages(run(guardsOf({ identicalCalls: { limit: 0, pollingLimit: 0 }, ladder: 'block' }), {}))).toEqual([
      'identical-calls block',
    ]);
  });
});

describe('states', () => {
  test('alternation is seen at the third of either', () => {
    const guards = guardsOf({ stateHash: { maxRepeats: 2 }, ladder: 'stop' });
    const trips = ['A', 'B', 'A', 'B', 'A'].map((result) => run(guards, { result }));
    expect(trips.map((one) => one.length)).toEqual([0, 0, 0, 0, 1]);
  });

  test('honest polling lives: results that change, and a tool that waits while nothing changes', () => {
    const guards = guardsOf({ ...DEFAULT_GUARDS });
    for (let at = 0; at < 50; at += 1) {
      expect(run(guards, { tool: 'status', polls: true, result: `${Math.floor(at / 10)}0 %` })).toEqual([]);
      // Something else between does not make a cycle of it.
      if (at % 2 === 0) expect(run(guards, { tool: 'note', args: { at }, result: 'ok' })).toEqual([]);
    }
  });

  test('a round that asks whether something has changed is no cycle while it has not', () => {
    const guards = guardsOf({ cycles: { periodMax: 4, repeats: 3 }, ladder: 'stop' });
    for (let at = 0; at < 20; at += 1) expect(run(guards, { tool: 'status', polls: true, result: 'wait' })).toEqual([]);
    for (let at = 0; at < 20; at += 1) {
      expect(run(guards, { tool: 'sleep', result: 'ok' })).toEqual([]);
      expect(run(guards, { tool: 'status', polls: true, result: 'wait' })).toEqual([]);
    }
    expect([1, 2, 3].flatMap(() => run(guards, { tool: 'sleep', result: 'ok' }))).toHaveLength(1);
  });

  test('results that are JSON count by value', () => {
    const guards = guardsOf({ stateHash: { maxRepeats: 1 }, ladder: 'stop' });
    expect(run(guards, { result: '{"a":1,"b":"é"}' })).toEqual([]);
    expect(stages(run(guards, { result: '{ "b":"\\u00e9", "a":1.0 }' }))).toEqual(['state-hash stop']);
  });

  test('blocked by the state, it is named so when it is tried again', () => {
    const guards = guardsOf({ stateHash: { maxRepeats: 1 }, ladder: 'block' });
    expect(run(guards, { result: 'x' })).toEqual([]);
    expect(stages(run(guards, { result: 'x' }))).toEqual(['state-hash block']);
    expect(run(guards, { result: 'x' })).toMatchObject([{ guard: 'state-hash', stage: 'block', count: 3, limit: 1 }]);
  });
});

test.each([
  ['warn-block-stop', ['block', 'block', 'stop', 'stop']],
  ['block-stop', ['block', 'stop', 'stop', 'stop']],
  ['block', ['block', 'block', 'block', 'block']],
  ['stop', ['stop', 'stop', 'stop', 'stop']],
] as const)('ladder %s: what identical calls come to, since they never run there is no warning', (ladder, want) => {
  const guards = guardsOf({ identicalCalls: { limit: 1, pollingLimit: 1 }, ladder });
  run(guards, {});
  expect([1, 2, 3, 4].flatMap(() => run(guards, {})).map(({ stage }) => stage)).toEqual(want);
});

test.each([
  ['warn-block-stop', ['warn', 'block', 'stop', 'stop']],
  ['block-stop', ['block', 'stop', 'stop', 'stop']],
  ['block', ['block', 'block', 'block', 'block']],
  ['stop', ['stop', 'stop', 'stop', 'stop']],
] as const)('ladder %s: what broken arguments come to', (ladder, want) => {
  const guards = guardsOf({ brokenArguments: { limit: 2 }, ladder });
  const broken = (): Trip | null => guards.broken({ id: 'x', nodeId: 'a', tool: 't', polls: false });
  expect(broken()).toBeNull();
  expect([1, 2, 3, 4].map(() => broken()?.stage)).toEqual(want);
});

test('broken arguments are counted in a row, for each tool', () => {
  const guards = guardsOf({ brokenArguments: { limit: 3 }, ladder: 'stop', exempt: ['free'] });
  const broken = (tool: string): Trip | null => guards.broken({ id: 'x', nodeId: 'a', tool, polls: false });
  for (let at = 0; at < 10; at += 1) {
    expect(broken('t')).toBeNull();
    expect(broken('t')).toBeNull();
    expect(broken('u')).toBeNull();
    run(guards, { tool: 't' });
    run(guards, { tool: 'u' });
    expect(broken('free')).toBeNull();
  }
  expect([broken('t'), broken('t'), broken('t')].map((one) => one?.count ?? null)).toEqual([null, null, 3]);
});

describe('no progress', () => {
  const noProgress = { steps: 3, shinglesMin: 400, sharePercentMin: 20, scope: 'agent' as const };

  test('a range that only grows a little brings nothing new', () => {
    const guards = guardsOf({ noProgress, ladder: 'stop' });
    const lines = Array.from({ length: 500 }, (_, at) => words(at * 10, 10));
    const read = (end: number): string[] =>
      stages([step(guards, lines.slice(0, end).join('\n')).trip].filter((one) => one !== null));
    // Ten words a line: 20 lines are 200 phrases, under the 400, and each time less than a fifth of what came back.
    expect([220, 240, 260, 280].map(read)).toEqual([[], [], [], ['no-progress stop']]);
  });

  test('nor does one that grows by more each time: lines 1 to 220, 260, 320, 390', () => {
    const guards = guardsOf({ noProgress, ladder: 'stop' });
    const lines = Array.from({ length: 500 }, (_, at) => words(at * 5, 5));
    const read = (end: number): (string | null)[] => {
      const text = lines.slice(0, end).join('\n');
      // Neither other guard sees it: each call and each state is another one.
      expect(run(guards, { tool: 'read_file', args: { end }, result: text })).toEqual([]);
      return [step(guards, text).trip?.stage ?? null];
    };
    expect([220, 260, 320, 390].flatMap(read)).toEqual([null, null, null, 'stop']);
  });

  test('near-duplicates bring nothing new; new text does, also where the file is the same', () => {
    const guards = guardsOf({ noProgress, ladder: 'stop' });
    const page = words(0, 700);
    expect(step(guards, `Review 1. ${page}`)).toMatchObject({ noProgress: 0 });
    expect(step(guards, `Review 2. ${page}`)).toMatchObject({ noProgress: 1 });
    expect(step(guards, `Review 3. ${page}`)).toMatchObject({ noProgress: 2 });
    expect(step(guards, words(5_000, 700))).toMatchObject({ noProgress: 0, newShingles: 696 });
  });

  test('an agent whose every step brings mostly new short text is never stopped', () => {
    const honest = fc.array(
      fc.record({ fresh: fc.integer({ min: 5, max: 60 }), old: fc.integer({ min: 0, max: 25 }) }),
      {
        minLength: 5,
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(honest, (steps) => {
        const guards = guardsOf({ ...DEFAULT_GUARDS, ladder: 'stop' });
        let at = 0;
        for (const [index, { fresh, old }] of steps.entries()) {
          const text = `${words(at, fresh)} ${words(0, Math.min(old, fresh))}`;
          at += fresh;
          expect(run(guards, { tool: 'read', args: { index }, result: text })).toEqual([]);
          expect(step(guards, text).trip).toBeNull();
        }
      }),
      { numRuns: 60 },
    );
  });

  test('tools that wait and exempt ones are left alone, and do not hide the others', () => {
    const guards = guardsOf({ noProgress, ladder: 'stop', exempt: ['free'] });
    for (let at = 0; at < 20; at += 1) {
      expect(step(guards, 'still running', { polls: true })).toMatchObject({ noProgress: 0, trip: null });
      expect(step(guards, 'the same', { tool: 'free' })).toMatchObject({ noProgress: 0, trip: null });
    }
    step(guards, 'one two three four five six');
    const both = (): Trip | null =>
      guards.stepEnded({
        nodeId: 'a',
        texts: [
          { tool: 'wait', text: words((lastId += 100), 50), polls: true },
          { tool: 't', text: 'one two three four five six', polls: false },
        ],
        subAgentReturned: false,
      }).trip;
    expect([both(), both(), both()].map((trip) => trip?.stage ?? null)).toEqual([null, null, 'stop']);
  });

  test('a sub-agent that came back is progress; steps without any result are none', () => {
    const guards = guardsOf({ noProgress, ladder: 'stop' });
    const empty = (subAgentReturned: boolean): number =>
      guards.stepEnded({ nodeId: 'a', texts: [], subAgentReturned }).noProgress;
    expect([empty(false), empty(false), empty(true), empty(false)]).toEqual([1, 2, 0, 1]);
  });

  test('for the tree as a whole, what one agent read is not new for another', () => {
    const own = guardsOf({ noProgress });
    const shared = guardsOf({ noProgress: { ...noProgress, scope: 'tree' } });
    for (const guards of [own, shared]) step(guards, words(0, 600), { nodeId: 'a' });
    expect(step(own, words(0, 600), { nodeId: 'b' }).noProgress).toBe(0);
    expect(step(shared, words(0, 600), { nodeId: 'b' }).noProgress).toBe(1);
  });

  test('words of any script count', () => {
    const guards = guardsOf({ noProgress, ladder: 'stop' });
    expect(step(guards, 'одно два три четыре пять шесть').newShingles).toBe(2);
    expect(step(guards, '漢字 かな 交じり 文 です ね').newShingles).toBe(2);
    expect(step(guards, 'ОДНО два; три: четыре — пять, шесть!').newShingles).toBe(0);
  });
});

describe('taken up again', () => {
  const settings = fc.record({
    stateHash: fc.option(fc.record({ maxRepeats: fc.integer({ min: 0, max: 3 }) })),
    identicalCalls: fc.option(fc.constant<NonNullable<GuardSettings['identicalCalls']>>({ limit: 2, pollingLimit: 4 })),
    cycles: fc.option(fc.constant<NonNullable<GuardSettings['cycles']>>({ periodMax: 3, repeats: 2 })),
    noProgress: fc.option(
      fc.record({
        steps: fc.integer({ min: 1, max: 4 }),
        shinglesMin: fc.constant(3),
        sharePercentMin: fc.option(fc.constant(20)),
        scope: fc.constantFrom('agent' as const, 'tree' as const),
      }),
    ),
    brokenArguments: fc.option(fc.constant<NonNullable<GuardSettings['brokenArguments']>>({ limit: 2 })),
    ladder: fc.constantFrom('warn-block-stop' as const, 'block-stop' as const, 'block' as const, 'stop' as const),
    exempt: fc.constantFrom<string[][]>([], ['t1']),
    ignoredFields: fc.constantFrom<Record<string, string[]>[]>({}, { t0: ['x'] }),
  });
  const operation = fc.record({
    kind: fc.constantFrom('call', 'call', 'call', 'broken', 'step', 'not-run'),
    nodeId: fc.constantFrom('a', 'b'),
    tool: fc.constantFrom('t0', 't1', 't2'),
    args: fc.record({ x: fc.nat(1), y: fc.nat(1) }),
    result: fc.constantFrom('r', 's', '{"a":1}'),
    polls: fc.boolean(),
    id: fc.nat(5),
  });

  type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

  function verdicts(guards: Guards, operations: readonly Operation[]): unknown[] {
    return operations.map(({ kind, nodeId, tool, args, result, polls, id }, index) => {
      const call = { id: `${id} ${index}`, nodeId, tool, args: argsOf(args), polls };
      if (kind === 'broken') return guards.broken(call);
      if (kind === 'step') {
        return guards.stepEnded({
          nodeId,
          texts: [{ tool, text: `${result} ${words(id, 6)}`, polls }],
          subAgentReturned: id === 5,
        });
      }
      const before = guards.before(call);
      if (kind === 'not-run') guards.notRun(call);
      return [before, kind === 'call' && before.trip?.stage !== 'block' ? guards.after(call, result) : null];
    });
  }

  test('in the middle, the verdicts are those of a run that was never broken off', () => {
    fc.assert(
      fc.property(settings, fc.array(operation, { maxLength: 60 }), fc.nat(), (some, operations, at) => {
        const all: GuardSettings = some;
        const middle = at % (operations.length + 1);
        const straight = createGuards(all, sha256);
        const first = createGuards(all, sha256);
        const want = [
          ...verdicts(straight, operations.slice(0, middle)),
          ...verdicts(straight, operations.slice(middle)),
        ];
        const before = verdicts(first, operations.slice(0, middle));
        const stored = JSON.parse(JSON.stringify(first.snapshot())) as GuardsSnapshot;
        const second = createGuards(all, sha256, stored);
        expect([...before, ...verdicts(second, operations.slice(middle))]).toEqual(want);
        expect(second.snapshot()).toEqual(straight.snapshot());
      }),
      { numRuns: 300 },
    );
  });
});

test('more different calls than are remembered do not end anything, and a loop among them is still seen', () => {
  const guards = guardsOf({
    identicalCalls: { limit: 3, pollingLimit: 3 },
    stateHash: { maxRepeats: 5 },
    ladder: 'stop',
  });
  let trips = 0;
  for (let at = 0; at < 21_000; at += 1) {
    trips += run(guards, { args: { at } }).length;
    if (at % 6_000 === 0) trips += run(guards, { args: 'loop' }).length;
  }
  expect(trips).toBe(1);
});

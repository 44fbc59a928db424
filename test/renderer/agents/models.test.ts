/** The tree, its bars, the lanes and the words of a run, without a screen. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AgentNode, AgentRunView, GatewayCall, GuardTrip } from '../../../shared/contract/agents.ts';
import { endReasons, gatewayCodes, guardNames } from '../../../shared/contract/agents.ts';
import { boxAt, labelledTrips, lanesModel, ticksOf } from '../../../renderer/charts/agent-lanes-model.ts';
import type { LanesInput } from '../../../renderer/charts/agent-lanes-model.ts';
import { barsOf } from '../../../renderer/pages/agents/bars.ts';
import { repeatedCalls, stripOf } from '../../../renderer/pages/agents/guard-model.ts';
import { isDeciding, markedCalls } from '../../../renderer/pages/agents/marked-calls.ts';
import { figuresOf, withoutBudgetsOf } from '../../../renderer/pages/agents/run-figures.ts';
import { transcriptRows } from '../../../renderer/pages/agents/transcript-rows.ts';
import { treeLines } from '../../../renderer/pages/agents/tree-model.ts';
import { callName, clip, codeWords, money, reasonWords, tripLabel } from '../../../renderer/pages/agents/words.ts';
import { emptyDetail, turnKey } from '../../../renderer/stores/agents-state.ts';
import type { AgentDetail } from '../../../renderer/stores/agents-state.ts';
import { crowdedRun, farmRun } from './make-run.ts';

let farm: AgentRunView;
beforeAll(async () => {
  farm = await farmRun();
});

const nodesOf = (view: AgentRunView): Map<string, AgentNode> => new Map(view.nodes.map((node) => [node.id, node]));
const detailOf = (view: AgentRunView): AgentDetail => ({
  ...emptyDetail,
  nodes: nodesOf(view),
  calls: new Map(view.calls.map((call) => [call.id, call])),
  turns: new Map(view.turns.map((turn) => [turnKey(turn), turn])),
  trips: view.trips,
});
const lanesInput = (view: AgentRunView, change: Partial<LanesInput> = {}): LanesInput => ({
  nodes: view.nodes,
  calls: view.calls,
  turns: view.turns,
  trips: view.trips,
  marked: markedCalls(view.trips, view.calls, nodesOf(view)),
  isDeciding: (trip) => isDeciding(trip, nodesOf(view)),
  nowMs: view.run.nowMs,
  width: 640,
  height: 400,
  ...change,
});

describe('the tree', () => {
  test('agents under their parent, refused delegations after them, equal ones as one line', () => {
    const lines = treeLines(farm.nodes, farm.calls).map((line) =>
      line.kind === 'node' ? `${line.level} ${line.key}` : `${line.level} ${line.name}: ${line.text}`,
    );
    expect(lines).toEqual([
      '0 planner',
      '1 planner.1',
      '2 3 agents: refused at 36 s: asked for 15 calls each, nothing left to carve',
      '1 planner.2',
      '2 3 agents: refused at 67 s: asked for 15 calls each, nothing left to carve',
      '1 third agent: refused at 75 s: asked for 15 calls, nothing left to carve',
    ]);
  });

  test('every node has its line once, whatever the parents', () => {
    const root = farm.nodes[0] as AgentNode;
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 30 }), (parents) => {
        const nodes = parents.map((parent, index) => ({
          ...root,
          id: `n${index}`,
          parentId: index === 0 ? null : parent < index ? `n${parent}` : `gone${parent}`,
        }));
        const keys = treeLines(nodes, []).map(({ key }) => key);
        expect([...keys].sort()).toEqual(nodes.map(({ id }) => id).sort());
      }),
    );
  });

  test('bars never reach past their limit, and say so where there is none', () => {
    const bars = barsOf(farm.nodes[0] as AgentNode, farm.run.nowMs);
    expect(bars.map(({ text }) => text)).toEqual([
      '58 / 60',
      '205k',
      '$0.232',
      '93 s',
      '0 / 2',
      '8 / 8',
      '2',
      '16,000',
    ]);
    expect(bars[0]).toMatchObject({ own: 0.3, agents: 40 / 60 });
    expect(bars[6]?.own).toBeNull();
    for (const node of farm.nodes)
      for (const { own, agents } of barsOf({ ...node, limits: { ...node.limits, calls: 0, tokens: 1 } }, 1e9))
        expect((own ?? 0) + agents).toBeLessThanOrEqual(1);
  });
});

describe('the lanes', () => {
  test('one a node; calls of a step stand on each other, and what was not made is on top and hollow', () => {
    const model = lanesModel(lanesInput(farm));
    expect(model.lanes.map(({ node, boxes, waits }) => [node.id, boxes.length, waits.length])).toEqual(
      [
        ['planner', 21, 2],
        ['planner.1', 32, 0],
        ['planner.2', 28, 0],
      ].map(([id, , waits]) => [id, model.lanes.find(({ node }) => node.id === id)?.boxes.length, waits]),
    );
    const step = model.lanes[0]?.boxes.filter(({ call }) => call.step === 3) ?? [];
    expect(step.map(({ look }) => look)).toEqual([...Array<string>(8).fill('done'), 'refused', 'refused']);
    expect(new Set(step.map(({ x }) => x)).size).toBe(1);
    expect(step.every((box, index) => index === 0 || box.y < (step[index - 1]?.y ?? 0))).toBe(true);
  });

  test('the guard colours the calls of the steps that it counted, of the agent that it stopped', () => {
    const model = lanesModel(lanesInput(farm));
    const marked = model.lanes.flatMap(({ boxes }) => boxes.filter(({ look }) => look === 'marked'));
    expect(marked.map(({ call }) => callName(call))).toEqual([
      'fetch list 2',
      'fetch r/009',
      'fetch r/010',
      'fetch r/011',
      'fetch list 3',
      'fetch r/012',
      'fetch r/013',
      'fetch r/014',
    ]);
    expect(model.trips.map(({ deciding, trip }) => [trip.nodeId, deciding])).toEqual([
      ['planner.1', false],
      ['planner', true],
    ]);
  });

  test('a step whose calls were all refused counts as a step, and none of its calls is marked', () => {
    const call = (step: number, outcome: GatewayCall['outcome']): GatewayCall => ({
      ...(farm.calls[0] as GatewayCall),
      id: `s${step}`,
      step,
      outcome,
      startedMs: (step * 1_000) as GatewayCall['startedMs'],
    });
    const calls = [call(1, 'done'), call(2, 'refused'), call(3, 'done')];
    const trip: GuardTrip = { ...(farm.trips.at(-1) as GuardTrip), count: 2, atMs: 3_500 as GuardTrip['atMs'] };
    expect([...markedCalls([trip], calls, nodesOf(farm))]).toEqual(['s3']);
  });

  test('boxes stay in their lane and in the width, however many and however long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 0, max: 600 }),
        fc.integer({ min: 200, max: 2_000 }),
        (agents, calls, width) => {
          const view = crowdedRun(farm, agents, calls);
          const model = lanesModel(lanesInput(view, { width, nowMs: 400_000 }));
          expect(model.lanes.length + model.lanesLeftOut).toBe(agents);
          for (const lane of model.lanes)
            for (const box of lane.boxes) {
              expect(box.y).toBeGreaterThanOrEqual(lane.top - 1);
              expect(box.y + box.height).toBeLessThanOrEqual(lane.bottom);
              expect(box.x).toBeLessThanOrEqual(width);
            }
        },
      ),
      { numRuns: 25 },
    );
  });

  test('a step of 500 calls is as high as its lane', () => {
    const calls = Array.from({ length: 500 }, (_, index): GatewayCall => ({
      ...(farm.calls[0] as GatewayCall),
      id: `c${index}`,
      index,
    }));
    const lane = lanesModel(lanesInput({ ...farm, calls })).lanes[0];
    expect(lane?.boxes.length).toBe(500);
    expect(Math.min(...(lane?.boxes.map(({ y }) => y) ?? []))).toBeGreaterThanOrEqual(lane?.top ?? Infinity);
  });

  test('a point finds its box, and nothing where there is none', () => {
    const model = lanesModel(lanesInput(farm));
    const box = model.lanes[1]?.boxes[5];
    if (box === undefined) throw new Error('planner.1 made calls');
    expect(boxAt(model, box.x + 1, box.y + 1)?.call.id).toBe(box.call.id);
    expect(boxAt(model, 2, 2)).toBeNull();
  });

  test('words of guards never lie on each other; a stop goes before a warning', () => {
    const trip = (stage: GuardTrip['stage'], atMs: number): GuardTrip => ({
      ...(farm.trips.at(-1) as GuardTrip),
      stage,
      atMs: atMs as GuardTrip['atMs'],
    });
    const model = lanesModel(lanesInput(farm, { trips: [trip('warn', 88_000), trip('stop', 90_000)] }));
    expect(labelledTrips(model, ({ trip: one }) => tripLabel(one), 640).map(({ text }) => text)).toEqual([
      'guard: three steps without new text',
    ]);
  });

  test('ticks are round and not more than fit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), fc.integer({ min: 60, max: 2_000 }), (endMs, width) => {
        const ticks = ticksOf(endMs, width);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeLessThanOrEqual(Math.max(2, Math.floor(width / 64)) + 1);
      }),
    );
  });
});

describe('the transcript', () => {
  test('in the order of time, the guard after the calls it is about', () => {
    const rows = transcriptRows(detailOf(farm), 'planner');
    expect(rows.map(({ atMs }) => atMs)).toEqual([...rows.map(({ atMs }) => atMs)].sort((a, b) => a - b));
    const stop = rows.findIndex(({ kind }) => kind === 'trip');
    expect([rows[stop - 1]?.kind, rows[stop - 1]?.atMs]).toEqual(['call', 90_000]);
    expect(transcriptRows(detailOf(farm), null).length).toBeGreaterThan(rows.length);
  });
});

describe('figures', () => {
  test('say which tokens the limit means', () => {
    const billed = farm.nodes.map((node) => ({ ...node, limits: { ...node.limits, tokensMean: 'billed' as const } }));
    expect(figuresOf(farm.run, billed, null)).toMatchObject({
      line: '632,994 billed tokens of 400,000 · $0.232 of $2.00 · 93 s of 300 s · 2 calls unspent',
      other: '205,346 context tokens',
    });
  });

  test('without budgets is said only where somebody tried, and where it is more', () => {
    const other = { ...farm.run, id: 'other' as never, task: { ...farm.run.task, governed: false } };
    const tried = { ...other, totals: { ...other.totals, toolCalls: 1_976 } };
    expect(withoutBudgetsOf(farm.run, [farm.run], [])).toBeNull();
    expect(withoutBudgetsOf(farm.run, [farm.run, tried], [])).toBe(1_976);
    expect(withoutBudgetsOf(farm.run, [{ ...tried, task: { ...tried.task, prompt: 'else' } }], [])).toBeNull();
    expect(figuresOf(farm.run, farm.nodes, 12).rest).toBe('of 60.');
  });

  test("a server's model: what is estimated says so, and a count of the server stands for itself", () => {
    const counted = { ...farm.run, scripted: false, totals: { ...farm.run.totals, turnsUncounted: 0 } };
    expect(figuresOf(counted, farm.nodes, null)).toMatchObject({
      line: expect.stringMatching(/context tokens of 400,000, estimated ·/),
      other: expect.stringMatching(/billed tokens$/),
    });
    const partly = { ...counted, totals: { ...counted.totals, turnsUncounted: 1 } };
    expect(figuresOf(partly, farm.nodes, null).other).toMatch(/billed tokens, partly estimated$/);
    const none = { ...counted, totals: { ...counted.totals, turnsUncounted: counted.totals.modelTurns } };
    expect(figuresOf(none, farm.nodes, null).other).toMatch(/billed tokens, estimated$/);
    expect(figuresOf(farm.run, farm.nodes, null).line).not.toContain('estimated');
  });

  test('a call that came again is counted for each agent, with how often it gave the same', () => {
    const call = { ...(farm.calls[0] as GatewayCall), fingerprint: 'f', stateHash: 's' };
    const calls = [
      call,
      { ...call, id: '2' },
      { ...call, id: '3', stateHash: 't' },
      { ...call, id: '4', nodeId: 'planner.1' },
    ];
    expect(repeatedCalls(calls)).toMatchObject([{ calls: 3, sameResult: 2, nodeId: 'planner' }]);
  });

  test('the strip tells of upstreams that rest and of what was left running', () => {
    const detail: AgentDetail = {
      ...detailOf(farm),
      trips: [],
      breakers: [{ upstream: 'flaky.example', state: 'open', failures: 5, retryAfterMs: 28_000 as never }],
      leases: new Map([
        ['l', { id: 'l', nodeId: 'planner', tool: 'start_job', what: 'job', openedMs: 0 as never, state: 'failed' }],
      ]),
    };
    const strip = stripOf({ ...farm.run, openLeases: 1 }, detail, []);
    expect(strip.map(({ text, severity }) => `${text} (${severity})`).slice(0, 3)).toEqual([
      'quiet, no call came twice (informed)',
      'flaky.example rests, again in 28 s (stopped)',
      '1 lease open at the end (stopped)',
    ]);
  });
});

describe('words', () => {
  test('every reason, code and guard has some', () => {
    for (const reason of endReasons) expect(reasonWords(reason).text).not.toBe('');
    for (const code of gatewayCodes) expect(codeWords[code]).not.toBe('');
    const trip = farm.trips[0] as GuardTrip;
    for (const guard of guardNames) expect(tripLabel({ ...trip, guard })).toMatch(/^guard: ./u);
  });

  test('calls are named by what their arguments differ in, and never at length', () => {
    const named = (tool: string, argumentsHead: string): string => callName({ tool, argumentsHead });
    expect(named('fetch', '{"url":"https://farm.example/list?page=2"}')).toBe('fetch list 2');
    expect(named('delegate', '{"calls":15,"task":"Read."}')).toBe('delegate 15');
    expect(named('f', 'not json')).toBe('f not json');
    expect(named('f', '{}')).toBe('f');
    fc.assert(
      fc.property(fc.string(), fc.string({ maxLength: 3_000 }), (tool, args) => {
        expect([...named(tool, args)].length).toBeLessThanOrEqual(122);
        expect([...named(tool, JSON.stringify({ a: args }))].length).toBeLessThanOrEqual(122);
      }),
    );
  });

  test('clipping keeps whole characters; money keeps its width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, most) => {
        expect(clip(text, most).isWellFormed()).toBe(true);
        expect([...clip(text, most)].length).toBeLessThanOrEqual(Math.max(most, 1));
      }),
    );
    expect([money(0), money(1), money(232_000_000), money(12_340_000_000), money(123_000_000_000)]).toEqual([
      '$0.000',
      '<$0.001',
      '$0.232',
      '$12.34',
      '$123',
    ]);
  });
});

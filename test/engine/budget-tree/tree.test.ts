import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeLimits } from '../../../shared/contract/agents.ts';
import {
  type Amounts,
  type BudgetTree,
  type HoldId,
  NOTHING,
  type NodeState,
  type TreeResult,
  type TreeSettings,
  type TreeSnapshot,
  createBudgetTree,
} from '../../../shared/engine/budget-tree/tree.ts';

const FREE: NodeLimits = {
  calls: null,
  tokens: null,
  tokensMean: 'context',
  nanoDollars: null,
  wallClockMs: null,
  depth: 16,
  fanOut: 8,
  descendants: null,
  outputBytes: null,
};
const PLAIN: TreeSettings = {
  keepCalls: 0,
  carveRule: 'keep',
  closing: { tokens: 0, nanoDollars: 0 },
  spawnsPerMinute: null,
};
const treeOf = (
  limits: Partial<NodeLimits>,
  settings: Partial<TreeSettings> = {},
  restored?: TreeSnapshot,
): BudgetTree => createBudgetTree('root', { ...FREE, ...limits }, { ...PLAIN, ...settings }, restored);
const some = (calls: number, tokens = 0, nanoDollars = 0): Amounts => ({ calls, tokens, nanoDollars });
const held = (result: TreeResult<HoldId>): HoldId => {
  if (!result.ok) throw new Error(result.exhaustion.evidence);
  return result.value;
};
const SUMS = ['calls', 'tokens', 'nanoDollars'] as const;

describe('holds', () => {
  test('all or none, and the refusal has the figures', () => {
    const tree = treeOf({ calls: 2, tokens: 100 });
    held(tree.hold('root', some(1, 90), 0));
    expect(tree.hold('root', some(1, 11), 0)).toEqual({
      ok: false,
      exhaustion: {
        nodeId: 'root',
        dimension: 'tokens',
        needed: 11,
        used: 0,
        held: 90,
        limit: 100,
        retryAfterSeconds: null,
        evidence: '10 tokens are left',
      },
    });
    expect(tree.node('root').held).toEqual(some(1, 90));
    expect(tree.left('root')).toEqual({ calls: 1, tokens: 10, nanoDollars: null });
  });

  test('limit 0 allows nothing, no limit allows all', () => {
    expect(treeOf({ calls: 0 }).hold('root', some(1), 0).ok).toBe(false);
    expect(treeOf({ calls: 0 }).hold('root', some(0), 0).ok).toBe(true);
    expect(treeOf({}).hold('root', some(1e9, 1e12, 1e15), 0).ok).toBe(true);
  });

  test('settled once; more than was held is charged and told as overrun, and nothing more is held after it', () => {
    const tree = treeOf({ tokens: 100 });
    const hold = held(tree.hold('root', some(0, 40), 0));
    tree.settle(hold, some(0, 130));
    expect(tree.node('root')).toMatchObject({ used: some(0, 130), held: NOTHING, overrun: some(0, 30) });
    expect(tree.hold('root', some(0, 1), 0).ok).toBe(false);
    expect(() => tree.settle(hold, NOTHING)).toThrow('a hold is settled once');
  });

  test('only whole amounts', () => {
    const tree = treeOf({});
    for (const wrong of [-1, 0.5, NaN, Infinity, -0, 2 ** 53]) {
      expect(() => tree.hold('root', some(wrong), 0)).toThrow('whole amount');
      expect(() => tree.chargeAnyway('root', some(0, wrong))).toThrow('whole amount');
    }
  });
});

describe('carving', () => {
  test("what a child has is no longer its parent's, and comes back once", () => {
    const tree = treeOf({ calls: 10, tokens: 1_000 });
    expect(tree.carve('root', { id: 'a', calls: 6 }, 0)).toEqual({ ok: true, value: 'a' });
    expect(tree.left('root')).toMatchObject({ calls: 4, tokens: 400 });
    expect(tree.charge('a', some(2, 100), 0).ok).toBe(true);
    expect(tree.left('root')).toMatchObject({ calls: 4, tokens: 400 });
    tree.close('a', 'done', 5);
    tree.close('a', 'cancelled', 6);
    expect(tree.node('a')).toMatchObject({ reason: 'done', endedMs: 5 });
    expect(tree.node('root').carved).toEqual(some(2, 100));
    expect(tree.left('root')).toMatchObject({ calls: 8, tokens: 900 });
  });

  test('three of six out of ten: the second is refused already', () => {
    const tree = treeOf({ calls: 10 });
    expect(tree.carve('root', { id: 'a', calls: 6 }, 0).ok).toBe(true);
    expect(tree.carve('root', { id: 'b', calls: 6 }, 0)).toMatchObject({
      ok: false,
      exhaustion: { dimension: 'calls', needed: 6, used: 6, limit: 10, evidence: 'nothing left to carve' },
    });
  });

  test('a parent keeps its own part, and what came back is not given away again; by the other rule all that is left is', () => {
    const keep = treeOf({ calls: 60 }, { keepCalls: 20 });
    expect(keep.carve('root', { id: 'a', calls: 41 }, 0).ok).toBe(false);
    expect(keep.carve('root', { id: 'a', calls: 40 }, 0).ok).toBe(true);
    keep.close('a', 'done', 0);
    expect(keep.left('root').calls).toBe(60);
    expect(keep.carve('root', { id: 'b', calls: 1 }, 0).ok).toBe(false);
    const left = treeOf({ calls: 60 }, { keepCalls: 20, carveRule: 'left' });
    expect(left.carve('root', { id: 'a', calls: 60 }, 0).ok).toBe(true);
    left.close('a', 'done', 0);
    expect(left.carve('root', { id: 'b', calls: 60 }, 0).ok).toBe(true);
  });

  test('the closing reserve is not carved and not held, and is there when it is asked for', () => {
    const tree = treeOf({ tokens: 100 }, { closing: { tokens: 30, nanoDollars: 0 } });
    expect(tree.left('root').tokens).toBe(70);
    expect(tree.hold('root', some(0, 71), 0).ok).toBe(false);
    expect(tree.carve('root', { id: 'a', calls: 0, tokens: 71 }, 0).ok).toBe(false);
    expect(tree.node('root')).toMatchObject({ held: some(0, 30), closingHeld: true });
    tree.openClosing('root');
    expect(tree.charge('root', some(0, 100), 0).ok).toBe(true);
    expect(tree.node('root').closingHeld).toBe(false);
  });

  test('a small child keeps back no more than its share', () => {
    const tree = treeOf({ calls: 60, tokens: 400_000 }, { closing: { tokens: 4_000, nanoDollars: 0 } });
    tree.carve('root', { id: 'a', calls: 1 }, 0);
    expect(tree.node('a').limits.tokens).toBe(6_666);
    expect(tree.left('a').tokens).toBe(6_666 - 333);
  });

  test('depth, descendants below any ancestor over its lifetime, with figures', () => {
    const tree = treeOf({ depth: 2, descendants: 3 });
    expect(tree.carve('root', { id: 'a', calls: 1 }, 0).ok).toBe(true);
    expect(tree.carve('a', { id: 'b', calls: 1 }, 0).ok).toBe(true);
    expect(tree.carve('b', { id: 'c', calls: 1 }, 0)).toMatchObject({
      exhaustion: { dimension: 'depth', needed: 3, used: 2, limit: 2 },
    });
    tree.close('a', 'done', 0);
    expect(tree.carve('root', { id: 'd', calls: 1 }, 0).ok).toBe(true);
    tree.close('d', 'done', 0);
    expect(tree.carve('root', { id: 'e', calls: 1 }, 0)).toMatchObject({
      exhaustion: { nodeId: 'root', dimension: 'descendants', used: 3, limit: 3 },
    });
    expect(tree.nodes().map(({ id, descendants }) => [id, descendants])).toEqual([
      ['root', 3],
      ['a', 1],
      ['b', 0],
      ['d', 0],
    ]);
  });

  test('so many in a minute, over the whole tree, and when the next may start', () => {
    const tree = treeOf({}, { spawnsPerMinute: 2 });
    expect(tree.carve('root', { id: 'a', calls: 1 }, 0).ok).toBe(true);
    expect(tree.carve('a', { id: 'b', calls: 1 }, 10_500).ok).toBe(true);
    const refused = tree.carve('root', { id: 'c', calls: 1 }, 20_400);
    expect(refused).toMatchObject({ ok: false, exhaustion: { retryAfterSeconds: 40, used: 2, limit: 2 } });
    expect(tree.carve('root', { id: 'c', calls: 1 }, 59_999).ok).toBe(false);
    expect(tree.carve('root', { id: 'c', calls: 1 }, 60_000).ok).toBe(true);
    expect(tree.carve('root', { id: 'd', calls: 1 }, 60_001)).toMatchObject({ exhaustion: { retryAfterSeconds: 11 } });
    expect(treeOf({}, { spawnsPerMinute: 0 }).carve('root', { id: 'a', calls: 1 }, 0).ok).toBe(false);
  });

  test('where calls are not counted a child gets a part of what is left, never more', () => {
    const tree = treeOf({ tokens: 1_000 });
    tree.chargeAnyway('root', some(0, 100));
    expect(tree.carve('root', { id: 'a', calls: 5 }, 0).ok).toBe(true);
    expect(tree.node('a').limits).toMatchObject({ calls: null, tokens: 300 });
    expect(tree.carve('a', { id: 'b', calls: 5 }, 0).ok).toBe(true);
    expect(tree.node('b').limits.tokens).toBe(100);
  });

  test('a child of a child that was given tokens of its own has some of them, though the root has no limit', () => {
    const tree = treeOf({});
    tree.carve('root', { id: 'a', calls: 1, tokens: 90 }, 0);
    tree.carve('a', { id: 'b', calls: 1 }, 0);
    expect(tree.node('b').limits.tokens).toBe(30);
  });

  test('a tree has a bound, which is a refusal', () => {
    const tree = treeOf({});
    let made = 0;
    while (made < 20_000 && tree.carve('root', { id: `n${made}`, calls: 1 }, made * 60_000).ok) made += 1;
    expect(made).toBe(9_999);
    expect(tree.carve('root', { id: 'more', calls: 1 }, 1e12)).toMatchObject({
      exhaustion: { dimension: 'descendants' },
    });
    expect(tree.node('root').carved).toEqual(NOTHING);
  });
});

describe('time', () => {
  test('no child outlives its parent, and the end of either is the end', () => {
    const tree = treeOf({ wallClockMs: 1_000 });
    tree.carve('root', { id: 'a', calls: 1 }, 400);
    expect(tree.node('a').limits.wallClockMs).toBe(600);
    expect(tree.timeLeftMs('a', 900)).toBe(100);
    expect(tree.timeExhaustion('a', 999)).toBeNull();
    expect(tree.timeExhaustion('a', 1_000)).toMatchObject({ dimension: 'wall-clock', used: 600, limit: 600 });
    expect(tree.hold('a', some(0), 1_000)).toMatchObject({ exhaustion: { dimension: 'wall-clock' } });
    expect(tree.carve('root', { id: 'b', calls: 1 }, 1_000)).toMatchObject({ exhaustion: { dimension: 'wall-clock' } });
    expect(tree.timeLeftMs('root', 5_000)).toBe(0);
    expect(treeOf({}).timeLeftMs('root', 1e12)).toBeNull();
    expect(treeOf({ wallClockMs: 0 }).hold('root', NOTHING, 0).ok).toBe(false);
  });
});

describe('closing', () => {
  test("ends all below, charges their holds as held, and the reason is the parent's unless it was done", () => {
    const tree = treeOf({ calls: 100 });
    tree.carve('root', { id: 'a', calls: 50 }, 0);
    tree.carve('a', { id: 'b', calls: 20 }, 0);
    tree.carve('a', { id: 'c', calls: 10 }, 0);
    held(tree.hold('b', some(3), 0));
    held(tree.hold('a', some(2), 0));
    tree.close('c', 'no-progress', 1);
    tree.close('a', 'budget-time', 7);
    expect(tree.nodes().map(({ id, reason }) => [id, reason])).toEqual([
      ['root', null],
      ['a', 'budget-time'],
      ['b', 'budget-time'],
      ['c', 'no-progress'],
    ]);
    expect(tree.node('b').used.calls).toBe(3);
    expect(tree.node('a')).toMatchObject({ used: some(2), held: NOTHING, carved: some(3) });
    expect(tree.node('root').carved).toEqual(some(5));
    expect(tree.left('root').calls).toBe(95);
    const other = treeOf({});
    other.carve('root', { id: 'a', calls: 1 }, 0);
    other.close('root', 'done', 1);
    expect(other.node('a').reason).toBe('cancelled');
    expect(() => other.hold('root', some(1), 1)).toThrow('has not ended');
  });
});

test('the root may be given more once, and never less', () => {
  const tree = treeOf({ calls: 10 });
  expect(tree.raiseRoot('calls', 10)).toBe(false);
  expect(tree.raiseRoot('tokens', 10)).toBe(false);
  expect(tree.raiseRoot('calls', 15)).toBe(true);
  expect(tree.raiseRoot('calls', 20)).toBe(false);
  expect(tree.left('root').calls).toBe(15);
  const again = treeOf({ calls: 10 }, {}, JSON.parse(JSON.stringify(tree.snapshot())) as TreeSnapshot);
  expect(again.raiseRoot('calls', 20)).toBe(false);
  expect(again.left('root').calls).toBe(15);
});

describe('stored and taken up again', () => {
  test('what was held for work is charged, what was kept back for the closing call is not', () => {
    const settings = { closing: { tokens: 40, nanoDollars: 5 } };
    const tree = treeOf({ calls: 10, tokens: 1_000, nanoDollars: 100 }, settings);
    tree.carve('root', { id: 'a', calls: 5 }, 0);
    held(tree.hold('a', some(2, 100, 9), 0));
    held(tree.hold('root', some(1, 10), 0));
    const again = treeOf(
      { calls: 10, tokens: 1_000, nanoDollars: 100 },
      settings,
      JSON.parse(JSON.stringify(tree.snapshot())) as TreeSnapshot,
    );
    expect(again.node('a').used).toEqual(some(2, 100, 9));
    expect(again.node('root')).toMatchObject({ used: some(1, 10), held: some(0, 40, 5), closingHeld: true });
    expect(again.left('root')).toEqual(tree.left('root'));
    expect(again.left('a')).toEqual(tree.left('a'));
  });
});

/**
 * Any tree under any operations. The model beside it knows only what was done, as a list, and reckons every figure from the
 * whole list each time.
 */
describe('any tree', () => {
  const amounts = fc.record({ calls: fc.nat(6), tokens: fc.nat(600), nanoDollars: fc.nat(60) });
  const operation = fc.oneof(
    fc.record({ kind: fc.constant('hold' as const), node: fc.nat(20), amounts }),
    fc.record({ kind: fc.constant('settle' as const), hold: fc.nat(20), percent: fc.integer({ min: 0, max: 150 }) }),
    fc.record({ kind: fc.constant('charge' as const), node: fc.nat(20), amounts }),
    fc.record({ kind: fc.constant('anyway' as const), node: fc.nat(20), amounts }),
    fc.record({ kind: fc.constant('carve' as const), node: fc.nat(20), calls: fc.nat(8) }),
    fc.record({ kind: fc.constant('carve' as const), node: fc.nat(20), calls: fc.nat(8) }),
    fc.record({ kind: fc.constant('close' as const), node: fc.nat(20) }),
    fc.record({ kind: fc.constant('closing' as const), node: fc.nat(20) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(20_000) }),
    fc.record({ kind: fc.constant('restart' as const) }),
  );
  const maybe = (most: number): fc.Arbitrary<number | null> =>
    fc.option(fc.oneof(fc.nat(most), fc.integer({ min: most >> 1, max: most })), { freq: 3 });
  const limits = fc.record({
    calls: maybe(100),
    tokens: maybe(10_000),
    nanoDollars: maybe(1_000),
    wallClockMs: maybe(900_000),
    depth: fc.oneof(fc.nat(4), fc.integer({ min: 2, max: 4 })),
    descendants: maybe(8),
  });
  const settings = fc.record({
    keepCalls: fc.nat(12),
    carveRule: fc.constantFrom('keep' as const, 'left' as const),
    closing: fc.record({ tokens: fc.nat(100), nanoDollars: fc.nat(10) }),
    spawnsPerMinute: maybe(6),
  });

  interface Known {
    id: string;
    parent: string | null;
    used: Amounts;
    startedMs: number;
    endedMs: number | null;
    /** What was asked of the tree at its start; null = no limit. */
    grant: { [Name in keyof Amounts]: number | null };
    given: number;
  }

  test('never grows: used, held, carved and kept back are within the limit and the overrun, and nothing is given back twice', () => {
    const seen = { carved: 0, refused: 0, closed: 0 };
    fc.assert(
      fc.property(
        limits,
        settings,
        fc.array(operation, { minLength: 20, maxLength: 80, size: 'max' }),
        (some, own, operations) => {
          const full: NodeLimits = { ...FREE, ...some };
          let tree = createBudgetTree('root', full, own);
          const known = new Map<string, Known>();
          const holds = new Map<HoldId, { node: string; amounts: Amounts }>();
          const spawns: number[] = [];
          let nowMs = 0;
          known.set('root', fresh('root', null, full, 0));

          const nodeAt = (at: number): Known => [...known.values()][at % known.size] ?? fail();
          const kin = (node: Known): Known[] => [...known.values()].filter(({ parent }) => parent === node.id);
          const below = (node: Known): Known[] => [node, ...kin(node).flatMap(below)];
          const above = (node: Known): Known[] => [
            node,
            ...(node.parent === null ? [] : above(known.get(node.parent) ?? fail())),
          ];
          const use = (id: string, more: Amounts): void => {
            const node = known.get(id) ?? fail();
            node.used = sum(node.used, more);
          };
          const isOutOfTime = (node: Known): boolean =>
            full.wallClockMs !== null && nowMs >= full.wallClockMs && node.endedMs === null;

          for (const one of operations) {
            if (one.kind === 'wait') nowMs += one.ms;
            else if (one.kind === 'restart') {
              const stored = JSON.parse(JSON.stringify(tree.snapshot())) as TreeSnapshot;
              tree = createBudgetTree('root', full, own, stored);
              for (const { node, amounts: lost } of holds.values()) use(node, lost);
              holds.clear();
            } else if (one.kind === 'settle') {
              const [id, hold] = [...holds][one.hold % Math.max(1, holds.size)] ?? [];
              if (id === undefined || hold === undefined) continue;
              const actual = scaled(hold.amounts, one.percent);
              tree.settle(id, actual);
              holds.delete(id);
              use(hold.node, actual);
            } else {
              const node = nodeAt(one.node);
              if (node.endedMs !== null && one.kind !== 'close') continue;
              if (one.kind === 'closing') tree.openClosing(node.id);
              if (one.kind === 'anyway') {
                tree.chargeAnyway(node.id, one.amounts);
                use(node.id, one.amounts);
              }
              if (one.kind === 'hold' || one.kind === 'charge') {
                const left = tree.left(node.id);
                const fits =
                  SUMS.every((name) => left[name] === null || one.amounts[name] <= (left[name] ?? 0)) &&
                  !isOutOfTime(node);
                const result =
                  one.kind === 'hold'
                    ? tree.hold(node.id, one.amounts, nowMs)
                    : tree.charge(node.id, one.amounts, nowMs);
                expect(result.ok).toBe(fits);
                if (!result.ok) seen.refused += 1;
                else if (one.kind === 'charge') use(node.id, one.amounts);
                else holds.set(result.value as HoldId, { node: node.id, amounts: one.amounts });
              }
              if (one.kind === 'carve') {
                const id = `${node.id}.${kin(node).length + 1}`;
                const leftBefore = tree.left(node.id);
                const recent = spawns.filter((atMs) => atMs > nowMs - 60_000).length;
                const result = tree.carve(node.id, { id, calls: one.calls }, nowMs);
                const keeps =
                  leftBefore.calls === null || node.grant.calls === null
                    ? Infinity
                    : node.grant.calls - own.keepCalls - node.given;
                const forbidden =
                  isOutOfTime(node) ||
                  above(node).length > full.depth ||
                  above(node).some(
                    (up) => full.descendants !== null && below(up).length - 1 >= allowed(tree.node(up.id)),
                  ) ||
                  (own.spawnsPerMinute !== null && recent >= own.spawnsPerMinute) ||
                  (leftBefore.calls !== null &&
                    one.calls > (own.carveRule === 'left' ? leftBefore.calls : Math.min(leftBefore.calls, keeps)));
                if (forbidden) expect(result.ok).toBe(false);
                if (!result.ok) continue;
                seen.carved += 1;
                spawns.push(nowMs);
                const child = tree.node(id);
                known.set(id, fresh(id, node.id, child.limits, nowMs));
                node.given += child.limits.calls ?? 0;
                // Taken from the parent, to the unit, and never more than it had.
                const leftAfter = tree.left(node.id);
                for (const name of SUMS) {
                  expect(child.limits[name] === null).toBe(leftBefore[name] === null);
                  if (leftBefore[name] === null) continue;
                  expect(child.limits[name]).toBeLessThanOrEqual(leftBefore[name] ?? 0);
                  expect(leftAfter[name]).toBe((leftBefore[name] ?? 0) - (child.limits[name] ?? 0));
                }
                if (child.limits.calls !== null) expect(child.limits.calls).toBe(one.calls);
              }
              if (one.kind === 'close') {
                tree.close(node.id, 'rounds', nowMs);
                if (node.endedMs === null) seen.closed += 1;
                for (const ended of below(node)) {
                  for (const [id, hold] of [...holds]) {
                    if (hold.node !== ended.id) continue;
                    use(ended.id, hold.amounts);
                    holds.delete(id);
                    expect(() => tree.settle(id, NOTHING)).toThrow();
                  }
                  ended.endedMs ??= nowMs;
                }
              }
            }
            check();
          }

          function check(): void {
            expect(tree.nodes().map(({ id }) => id)).toEqual([...known.keys()]);
            for (const node of known.values()) {
              const state = tree.node(node.id);
              expect(state.used).toEqual(node.used);
              expect(state.endedMs).toBe(node.endedMs);
              expect(state.descendants).toBe(below(node).length - 1);
              expect(state.depth).toBe(above(node).length - 1);
              const parent = node.parent === null ? null : known.get(node.parent);
              if (parent?.endedMs !== null && parent?.endedMs !== undefined) expect(state.endedMs).not.toBeNull();
              const work = [...holds.values()]
                .filter((hold) => hold.node === node.id)
                .reduce((all, hold) => sum(all, hold.amounts), NOTHING);
              for (const name of SUMS) {
                const limit = node.grant[name];
                const carved = kin(node).reduce(
                  (all, child) =>
                    all + (child.endedMs === null ? (child.grant[name] ?? takenOf(child, name)) : takenOf(child, name)),
                  0,
                );
                // A child without a limit is told when it ends.
                if (limit !== null) expect(state.carved[name]).toBe(carved);
                expect(state.held[name]).toBeGreaterThanOrEqual(work[name]);
                if (!state.closingHeld) expect(state.held[name]).toBe(work[name]);
                if (limit === null) continue;
                expect(state.used[name] + state.held[name] + state.carved[name]).toBeLessThanOrEqual(
                  limit + state.overrun[name],
                );
              }
              const left = tree.timeLeftMs(node.id, nowMs);
              expect(left).toBe(full.wallClockMs === null ? null : Math.max(0, full.wallClockMs - nowMs));
            }
          }
          function takenOf(node: Known, name: keyof Amounts): number {
            return (
              node.used[name] +
              kin(node).reduce(
                (all, child) => all + (child.endedMs === null ? (child.grant[name] ?? 0) : takenOf(child, name)),
                0,
              )
            );
          }
        },
      ),
      { numRuns: 400 },
    );
    // The property has looked at something.
    expect(seen.carved).toBeGreaterThan(200);
    expect(seen.closed).toBeGreaterThan(80);
    expect(seen.refused).toBeGreaterThan(80);
  });

  test('without overruns the whole tree never uses more than its root was given', () => {
    fc.assert(
      fc.property(limits, settings, fc.array(operation, { maxLength: 60 }), (some, own, operations) => {
        const tree = createBudgetTree('root', { ...FREE, ...some, calls: some.calls ?? 50 }, own);
        const holds: HoldId[] = [];
        for (const one of operations) {
          const node = 'node' in one ? tree.nodes()[one.node % tree.nodes().length] : undefined;
          if (one.kind === 'close' && node?.parentId !== null && node !== undefined) tree.close(node.id, 'done', 0);
          if (node === undefined || node.endedMs !== null) continue;
          if (one.kind === 'charge') tree.charge(node.id, one.amounts, 0);
          if (one.kind === 'carve') tree.carve(node.id, { id: `${tree.nodes().length}`, calls: one.calls }, 0);
          if (one.kind === 'hold') {
            const result = tree.hold(node.id, one.amounts, 0);
            if (result.ok) holds.push(result.value);
          }
        }
        for (const hold of holds) {
          try {
            tree.settle(hold, NOTHING);
          } catch {
            // Its node was closed, and the hold charged with it.
          }
        }
        for (const name of SUMS) {
          const total = tree.nodes().reduce((all, { used }) => all + used[name], 0);
          const most = tree.node('root').limits[name];
          if (most !== null) expect(total).toBeLessThanOrEqual(most);
        }
        expect(tree.nodes().map(({ overrun }) => overrun)).toEqual(tree.nodes().map(() => NOTHING));
      }),
      { numRuns: 300 },
    );
  });

  const fresh = (id: string, parent: string | null, own: NodeLimits, startedMs: number): Known => ({
    id,
    parent,
    used: NOTHING,
    startedMs,
    endedMs: null,
    grant: { calls: own.calls, tokens: own.tokens, nanoDollars: own.nanoDollars },
    given: 0,
  });
});

const fail = (): never => {
  throw new Error('not in the model');
};
const allowed = ({ limits }: NodeState): number => limits.descendants ?? Infinity;
const sum = (a: Amounts, b: Amounts): Amounts =>
  some(a.calls + b.calls, a.tokens + b.tokens, a.nanoDollars + b.nanoDollars);
const scaled = (a: Amounts, percent: number): Amounts =>
  some(
    Math.floor((a.calls * percent) / 100),
    Math.floor((a.tokens * percent) / 100),
    Math.floor((a.nanoDollars * percent) / 100),
  );

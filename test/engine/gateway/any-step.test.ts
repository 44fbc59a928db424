/** Whatever a model asks for and whatever tools do: every call has exactly one result, and no limit is passed at any moment. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentNode } from '../../../shared/contract/agents.ts';
import type { ToolAsk } from '../../../shared/engine/gateway/gateway.ts';
import { textOf } from '../../../shared/engine/gateway/tool.ts';
import { type Turn, call, memoryBlobs, openCalls, runAgents, script, tool, virtualTime } from '../agent/harness.ts';

/** Stands in everything that tools bring in, and must never stand in what the gateway says. */
const FETCHED = 'FETCHED-MATERIAL';

const name = fc.constantFrom(
  'ok',
  'ok',
  'big',
  'throws',
  'at-once',
  'hangs',
  'late',
  'retries',
  'fails',
  'asks',
  'dear',
  'leaves',
  'delegate',
  'delegate',
  'read_blob',
  'none',
  '__proto__',
  '',
);
const args = fc.oneof(
  fc.constantFrom(
    '{}',
    '',
    '{"x":1}',
    '{"x":1.0}',
    '{"x":',
    '[',
    '{"a":1,"a":2}',
    '{"n":9007199254740993}',
    '{"s":"\\ud800"}',
    '\ud800',
    'null',
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
  ),
  fc
    .record({ task: fc.constantFrom('go', ''), calls: fc.oneof(fc.nat(6), fc.constant(-1), fc.constant('many')) })
    .map((value) => JSON.stringify(value)),
  fc.record({ handle: fc.constantFrom('blob-1', 'blob-9'), offset: fc.nat(100) }).map((value) => JSON.stringify(value)),
  fc.record({ x: fc.nat(2) }).map((value) => JSON.stringify(value)),
);
const plain = fc.tuple(name, fc.nat(1)).map(([tool, x]) => call(tool, { x }));
const delegation = fc.integer({ min: 1, max: 8 }).map((calls) => call('delegate', { task: 'go', calls }));
const same = fc.constantFrom(call('ok', { x: 9 }), call('fails', { x: 9 }), call('dear', {}));
const ask: fc.Arbitrary<ToolAsk> = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 3, arbitrary: same },
  { weight: 2, arbitrary: delegation },
  { weight: 2, arbitrary: fc.tuple(name, args).map(([tool, text]) => call(tool, text)) },
);
const plan = fc.array(fc.array(ask, { minLength: 1, maxLength: 7, size: 'max' }), {
  minLength: 1,
  maxLength: 6,
  size: 'max',
});

const run = fc.record({
  plan,
  childPlan: plan,
  limits: fc.record({
    calls: fc.option(fc.oneof(fc.nat(12), fc.integer({ min: 10, max: 60 })), { freq: 3 }),
    tokens: fc.option(fc.oneof(fc.nat(20_000), fc.constant(200_000)), { freq: 2 }),
    nanoDollars: fc.option(fc.nat(900), { freq: 2 }),
    wallClockMs: fc.option(fc.nat(20_000), { freq: 2 }),
    depth: fc.constantFrom(0, 1, 2, 2),
    fanOut: fc.integer({ min: 1, max: 8 }),
    descendants: fc.option(fc.nat(4)),
    outputBytes: fc.option(fc.oneof(fc.nat(2_000), fc.constant(16_000))),
    tokensMean: fc.constantFrom('context' as const, 'billed' as const),
  }),
  ladder: fc.constantFrom('warn-block-stop' as const, 'block' as const, 'stop' as const),
  guarded: fc.boolean(),
  cacheFetches: fc.boolean(),
  keepCalls: fc.nat(4),
  closingCall: fc.boolean(),
  /** Stops a node after so many changes; null = nobody does. */
  stopAfter: fc.option(fc.tuple(fc.nat(150), fc.boolean()), { freq: 2 }),
  storing: fc.boolean(),
});

test('any run', async () => {
  const outcomes = new Set<string>();
  const check = fc.asyncProperty(run, async (one) => {
    const time = virtualTime();
    let look = (): readonly AgentNode[] => [];
    const overs: string[] = [];
    const within = (): void => {
      for (const node of look()) {
        const sums = [
          ['calls', node.used.calls + node.held.calls + node.carved.calls, node.limits.calls],
          ['money', node.used.nanoDollars + node.held.nanoDollars + node.carved.nanoDollars, node.limits.nanoDollars],
        ] as const;
        for (const [what, sum, limit] of sums)
          if (limit !== null && sum > limit) overs.push(`${node.id} ${what} ${sum} > ${limit}`);
      }
    };
    const answering = (text: string, more = {}) => ({ text: textOf(`${FETCHED} ${text}`), ...more });
    const released: string[] = [];
    const tools = [
      tool('ok', async ({ n }) => (await time.sleep(10 * (n % 3)), within(), answering(`${n % 2}`)), {
        cacheable: true,
      }),
      tool('big', () => answering('漢字😀'.repeat(3_000))),
      tool('throws', async () => (await time.sleep(5), Promise.reject(new Error(FETCHED)))),
      {
        ...tool('at-once', () => ''),
        invoke: () => {
          throw new Error(FETCHED);
        },
      },
      tool('hangs', () => new Promise<string>(() => undefined), { timeoutMs: 3_000, nanoDollarsWorst: 3 }),
      tool(
        'late',
        async () => (
          await time.sleep(4_000),
          answering('late', { lease: { what: 'late', release: async () => void released.push('late') } })
        ),
        { timeoutMs: 1_000, sideEffect: true },
      ),
      tool(
        'retries',
        async ({ attempt }) => (
          await time.sleep(20),
          within(),
          answering('busy', { failed: attempt < 3, retryable: true, nanoDollars: 4 })
        ),
        { attemptsMax: 4, nanoDollarsWorst: 10 },
      ),
      tool('fails', () => answering('no', { failed: true }), { nanoDollarsWorst: 1 }),
      tool('asks', () => answering('yes'), { approval: true }),
      tool('dear', () => (within(), answering('gold')), { nanoDollarsWorst: 90, callsMax: 2 }),
      tool(
        'leaves',
        () => answering('left', { lease: { what: FETCHED, release: async () => void released.push('left') } }),
        { sideEffect: true },
      ),
    ];
    const steps = new Map<string, number>();
    const model = script(({ nodeId, depth }): Turn => {
      const at = steps.get(nodeId) ?? 0;
      steps.set(nodeId, at + 1);
      return (depth === 0 ? one.plan : one.childPlan)[at] ?? 'done';
    });
    let changes = 0;
    let asked = 0;
    const { view, run: running } = await runAgents({
      time,
      limits: one.limits,
      guards: one.guarded
        ? {
            stateHash: { maxRepeats: 2 },
            identicalCalls: { limit: 2, pollingLimit: 4 },
            cycles: { periodMax: 3, repeats: 2 },
            noProgress: { steps: 3, shinglesMin: 5, sharePercentMin: 20, scope: 'agent' },
            brokenArguments: { limit: 2 },
            ladder: one.ladder,
          }
        : {},
      task: { cacheFetches: one.cacheFetches, keepCalls: one.keepCalls, closingCall: one.closingCall },
      model,
      tools,
      ports: {
        approve: async () => (await time.sleep(100), (asked += 1) % 2 === 0),
        blobs: one.storing
          ? memoryBlobs()
          : { put: async () => Promise.reject(new Error('full')), read: async () => Promise.reject(new Error('full')) },
      },
      watch: (_change, now) => {
        look = () => now.view().nodes;
        changes += 1;
        const [after, isRoot] = one.stopAfter ?? [-1, true];
        if (changes === after) void now.cancel(isRoot ? null : (look().at(-1)?.id ?? null));
      },
    });
    expect(view.run.problem).toBeNull();
    expect(['ended', 'cancelled']).toContain(view.run.state);
    expect(
      openCalls(
        running,
        view.nodes.map(({ id }) => id),
      ),
    ).toEqual([]);
    expect(overs).toEqual([]);
    expect(view.nodes.every(({ endedMs, state }) => endedMs !== null && state === 'ended')).toBe(true);
    for (const node of view.nodes) {
      expect(node.held).toEqual({ calls: 0, tokens: 0, nanoDollars: 0 });
      if (node.limits.calls !== null)
        expect(node.used.calls + node.carved.calls).toBeLessThanOrEqual(node.limits.calls);
      if (node.limits.nanoDollars !== null)
        expect(node.used.nanoDollars + node.carved.nanoDollars).toBeLessThanOrEqual(node.limits.nanoDollars);
      expect(node.depth).toBeLessThanOrEqual(one.limits.depth);
      // A run may have been told to stop while a tool worked; nothing goes on for longer than the time there is.
      if (node.limits.wallClockMs !== null)
        expect((node.endedMs ?? 0) - node.startedMs).toBeLessThanOrEqual(node.limits.wallClockMs + 1);
    }
    const paid = view.nodes.reduce((sum, node) => sum + node.used.nanoDollars, 0);
    expect(paid).toBe(view.run.totals.toolNanoDollars);
    for (const made of view.calls) {
      expect(made.endedMs).not.toBeNull();
      outcomes.add(made.code ?? made.outcome);
      if (one.limits.outputBytes !== null && made.outcome !== 'refused' && made.outcome !== 'not-run')
        expect(made.shownBytes).toBeLessThanOrEqual(one.limits.outputBytes);
      if (made.outcome === 'refused' || made.outcome === 'not-run') expect(made.resultHead).not.toContain(FETCHED);
      if (made.exhaustion !== null) expect(JSON.stringify(made.exhaustion)).not.toContain(FETCHED);
      expect(made.resultHead.length).toBeLessThanOrEqual(300);
    }
    for (const trip of view.trips) expect(JSON.stringify(trip)).not.toContain(FETCHED);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
  await fc.assert(check, { numRuns: 2_000 });
  // It has been everywhere.
  for (const code of [
    'done',
    'cached',
    'fan-out',
    'unknown-tool',
    'broken-arguments',
    'identical-call',
    'tool-limit',
    'budget',
    'approval-denied',
    'cancelled',
    'tool-failed',
    'timeout',
    'depth',
    'nothing-to-carve',
    'unknown-handle',
    'breaker-open',
  ]) {
    expect([...outcomes]).toContain(code);
  }
}, 120_000);

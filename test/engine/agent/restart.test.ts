/** A run that is cut off anywhere, stored, and taken up again: what was used stays used, and no call is left without a result. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_GUARDS } from '../../../shared/contract/agents.ts';
import type { TurnAsk } from '../../../shared/engine/agent/model.ts';
import type { RestartState } from '../../../shared/engine/agent/run.ts';
import { type RunOptions, type Turn, call, openCalls, runAgents, script, tool, virtualTime } from './harness.ts';

/** Decides from the transcript, as a model does: so many steps, a delegation in the second. */
const worker =
  (steps: number) =>
  ({ depth, transcript }: TurnAsk): Turn => {
    const at = transcript.filter(({ role }) => role === 'assistant').length;
    if (at >= steps) return 'done';
    if (at === 1 && depth < 2)
      return [call('delegate', { task: `part of ${depth}`, calls: 6 - depth }), call('t', { at })];
    return [call('t', { at, a: 1 }), call('t', { at, a: 2 }), call('flaky', { at })];
  };

const optionsOf = (time: ReturnType<typeof virtualTime>, more: Partial<RunOptions> = {}): RunOptions => ({
  time,
  limits: { calls: 25, nanoDollars: 200, tokens: 20_000, outputBytes: 400 },
  guards: { ...DEFAULT_GUARDS, noProgress: null },
  task: { keepCalls: 2, toolRules: { t: { callsMax: 9 } } },
  model: script(worker(5)),
  tools: [
    tool('t', async ({ n }) => time.sleep(50).then(() => `text ${n} of its own`), { nanoDollarsWorst: 3 }),
    tool('flaky', async ({ attempt }) => time.sleep(20).then(() => ({ failed: attempt < 2, retryable: true })), {
      attemptsMax: 3,
      nanoDollarsWorst: 5,
    }),
  ],
  ...more,
});

test('cut off after any change', async () => {
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(160), async (after) => {
      let stored: string | null = null;
      let before = 0;
      let changes = 0;
      const time = virtualTime();
      await runAgents(
        optionsOf(time, {
          watch: (_change, run) => {
            changes += 1;
            if (changes !== after) return;
            stored = JSON.stringify(run.restart());
            before = run.view().run.totals.toolCalls;
            run.cancel(null);
          },
        }),
      );
      if (stored === null) return;
      cut += 1;
      const restored = JSON.parse(stored) as RestartState;
      const { view, run } = await runAgents(optionsOf(time, { restored }));
      expect(view.run.problem).toBeNull();
      expect(view.run.state).toBe('ended');
      expect(view.run.totals.toolCalls).toBeGreaterThanOrEqual(before);
      expect(view.run.totals.callsByTool['t'] ?? 0).toBeLessThanOrEqual(9);
      expect(openCalls(run, ['agent'])).toEqual([]);
      for (const node of view.nodes) {
        expect(node.endedMs).not.toBeNull();
        expect(node.held).toEqual({ calls: 0, tokens: 0, nanoDollars: 0 });
        expect(node.used.calls + node.carved.calls).toBeLessThanOrEqual(node.limits.calls ?? 0);
        expect(node.used.nanoDollars + node.carved.nanoDollars).toBeLessThanOrEqual(node.limits.nanoDollars ?? 0);
      }
      expect(view.calls.every(({ endedMs }) => endedMs !== null)).toBe(true);
      expect(new Set(view.calls.map(({ id }) => id)).size).toBe(view.calls.length);
    }),
    { numRuns: 150 },
  );
  expect(cut).toBeGreaterThan(40);
});

test('what it had started before is said to be open, and guards remember', async () => {
  const time = virtualTime();
  const stored: RestartState[] = [];
  const starter = tool('start', () => ({ lease: { what: 'job', release: async () => undefined } }));
  const model = script(() => [call('start')]);
  const options: RunOptions = {
    time,
    guards: { identicalCalls: { limit: 3, pollingLimit: 9 }, ladder: 'stop' },
    model,
    tools: [starter],
  };
  await runAgents({
    ...options,
    watch: (_change, run) => {
      if (starter.ran.length !== 2 || stored.length > 0 || run.view().calls.some(({ endedMs }) => endedMs === null))
        return;
      stored.push(JSON.parse(JSON.stringify(run.restart())) as RestartState);
      run.cancel(null);
    },
  });
  const [restored] = stored;
  if (restored === undefined) throw new Error('it was cut off');
  const { view } = await runAgents({ ...options, restored });
  expect(view.run).toMatchObject({ reason: 'identical-calls', openLeases: 2 });
  expect(starter.ran).toHaveLength(3);
  expect(view.leases.map(({ state }) => state)).toEqual(['open', 'open', 'released']);
});

test('a call that ran when it was cut off is told as one that may have been done; what came after it was not run', async () => {
  const time = virtualTime();
  const stored: RestartState[] = [];
  const options: RunOptions = {
    time,
    limits: { fanOut: 2 },
    model: script(({ transcript }) => {
      const turns = transcript.filter(({ role }) => role === 'assistant').length;
      return turns > 1 ? 'done' : (turns === 1 ? [4] : [1, 2, 3]).map((n) => call('start', { n }));
    }),
    tools: [tool('start', async () => time.sleep(50).then(() => 'started'), { callsMax: 2 })],
  };
  await runAgents({
    ...options,
    watch: (_change, run) => {
      const running = run.view().calls.filter(({ outcome }) => outcome === 'running');
      if (running.length < 2 || stored.length > 0) return;
      stored.push(JSON.parse(JSON.stringify(run.restart())) as RestartState);
      run.cancel(null);
    },
  });
  const [restored] = stored;
  if (restored === undefined) throw new Error('it was cut off');
  const { view, run } = await runAgents({ ...options, restored });
  expect(view.calls.map(({ index, outcome, code }) => [index, outcome, code]).sort()).toEqual([
    [0, 'failed', 'cancelled'],
    [0, 'refused', 'tool-limit'],
    [1, 'failed', 'cancelled'],
    [2, 'not-run', 'fan-out'],
  ]);
  expect(view.run).toMatchObject({ reason: 'done', totals: { toolCalls: 2, refused: 2 } });
  const told = run.transcript('agent')?.flatMap((entry) => (entry.role === 'tool' ? [entry.content] : []));
  expect(told?.map((text) => text.includes('it may have been done'))).toEqual([true, true, false, false]);
});

import { describe, expect, test } from 'vitest';
import type { GatewayCall, Lease } from '../../../shared/contract/agents.ts';
import { DEFAULT_GUARDS, DEFAULT_LIMITS } from '../../../shared/contract/agents.ts';
import { createBudgetTree } from '../../../shared/engine/budget-tree/tree.ts';
import { never } from '../../../shared/engine/cancel.ts';
import { createBreakers } from '../../../shared/engine/gateway/breaker.ts';
import { createGateway } from '../../../shared/engine/gateway/gateway.ts';
import { textOf } from '../../../shared/engine/gateway/tool.ts';
import { isObject } from '../../../shared/engine/guards/canonical.ts';
import { createGuards } from '../../../shared/engine/guards/guards.ts';
import {
  always,
  answerOf,
  call,
  memoryBlobs,
  openCalls,
  runAgents,
  script,
  sha256,
  tool,
  turnsOf,
  virtualTime,
} from '../agent/harness.ts';

/** In the order they were asked for. */
const inOrder = (calls: readonly GatewayCall[]): GatewayCall[] =>
  [...calls].sort((a, b) => a.step - b.step || a.index - b.index);
const codes = (calls: readonly GatewayCall[]): unknown[] => inOrder(calls).map(({ code, outcome }) => code ?? outcome);
const lease = (): { released: number; lease: { what: string; release(): Promise<void> } } => {
  const one = {
    released: 0,
    lease: {
      what: 'job 1',
      release: async () => {
        one.released += 1;
      },
    },
  };
  return one;
};

describe('limits with parallel calls', () => {
  test('held and used are never above a limit, looked at from inside every tool', async () => {
    const time = virtualTime();
    const seen: { calls: number; tokens: number; money: number }[] = [];
    const slow = tool(
      'slow',
      async ({ n }) => {
        await time.sleep(100 + (n % 7) * 10);
        const node = inside().nodes[0];
        if (node !== undefined) {
          seen.push({
            calls: node.used.calls + node.held.calls,
            tokens: node.used.contextTokens + node.held.tokens,
            money: node.used.nanoDollars + node.held.nanoDollars,
          });
        }
        return { text: textOf('x'.repeat(n * 10)), nanoDollars: n % 3 === 0 ? 10 : 100 };
      },
      { nanoDollarsWorst: 100 },
    );
    let inside = (): { nodes: readonly (typeof view.nodes)[number][] } => ({ nodes: [] });
    const { view } = await runAgents({
      time,
      limits: { calls: 20, tokens: 2_000, nanoDollars: 1_500, fanOut: 16, outputBytes: 400, wallClockMs: null },
      task: { closingCall: false },
      model: script(({ turn }) => Array.from({ length: 16 }, (_, at) => call('slow', { turn, at }))),
      tools: [slow],
      watch: (_change, run) => {
        inside = () => run.view();
      },
    });
    expect(seen.length).toBeGreaterThan(10);
    for (const { calls, tokens, money } of seen) {
      expect(calls).toBeLessThanOrEqual(20);
      expect(tokens).toBeLessThanOrEqual(2_000);
      expect(money).toBeLessThanOrEqual(1_500);
    }
    expect(['budget-calls', 'budget-money', 'budget-tokens']).toContain(view.run.reason);
    expect(view.run.totals.toolCalls).toBe(slow.ran.length);
  });

  test('eight at once with a limit of six: six run, two have results that say why', async () => {
    const used = tool('t', () => 'ok');
    const { view, run } = await runAgents({
      limits: { calls: 6 },
      model: script(turnsOf(Array.from({ length: 8 }, (_, at) => call('t', { at })))),
      tools: [used],
    });
    expect(used.ran).toHaveLength(6);
    expect(codes(view.calls)).toEqual([...Array<string>(6).fill('done'), 'budget', 'budget']);
    expect(inOrder(view.calls)[6]?.exhaustion).toMatchObject({ dimension: 'calls', limit: 6, held: 6 });
    expect(view.run).toMatchObject({ reason: 'budget-calls', answer: 'summary' });
    expect(openCalls(run, ['agent'])).toEqual([]);
  });
});

test('the rank of refusals: what comes first is the answer', async () => {
  const breakers = createBreakers({ failuresMax: 1, openMs: 1e6, probeMs: 1 });
  breakers.report('down', true, 0);
  const spec = { upstream: 'down', nanoDollarsWorst: 10, callsMax: 0, check: (): null => null };
  const all = tool('all', () => '', { ...spec, check: () => 'wrong' });
  const looped = tool('looped', () => '', spec);
  const limited = tool('limited', () => '', spec);
  const broken = tool('broken', () => '', { ...spec, callsMax: null });
  const dear = tool('dear', () => '', { nanoDollarsWorst: 10 });
  // There would be room for it; the step is over for all that comes after the first one that the budget refused.
  const free = tool('free', () => '');
  const { view } = await runAgents({
    breakers,
    limits: { nanoDollars: 5, fanOut: 7 },
    guards: {
      identicalCalls: { limit: 0, pollingLimit: 1 },
      ladder: 'block',
      exempt: ['limited', 'broken', 'dear', 'free'],
    },
    model: script(
      turnsOf(['none', 'all', 'looped', 'limited', 'broken', 'dear', 'free', 'none'].map((name) => call(name))),
    ),
    tools: [all, looped, limited, broken, dear, free],
  });
  expect(codes(view.calls)).toEqual([
    'unknown-tool',
    'broken-arguments',
    'identical-call',
    'tool-limit',
    'breaker-open',
    'budget',
    'budget',
    'fan-out',
  ]);
});

describe('attempts', () => {
  test('one retry layer: 27 asks of a tool that fails are three where three attempts are allowed, each one charged', async () => {
    const flaky = tool('flaky', () => ({ failed: true, retryable: true }), { attemptsMax: 3, nanoDollarsWorst: 7 });
    const { view } = await runAgents({ model: script(turnsOf([call('flaky')])), tools: [flaky] });
    expect(flaky.ran.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(view.calls[0]).toMatchObject({ outcome: 'failed', code: 'tool-failed', attempts: 3, nanoDollars: 21 });
    expect(view.nodes[0]?.used).toMatchObject({ calls: 3, nanoDollars: 21 });
    expect(view.run.totals).toMatchObject({ toolCalls: 1, retries: 2, toolNanoDollars: 21 });
  });

  test('each is paid what it cost, and the node has what the call says', async () => {
    const prices = [1, 2, 3];
    const flaky = tool('flaky', ({ n }) => ({ failed: n < 3, retryable: true, nanoDollars: prices[n - 1] ?? 0 }), {
      attemptsMax: 5,
      nanoDollarsWorst: 10,
    });
    const { view } = await runAgents({ model: script(turnsOf([call('flaky')])), tools: [flaky] });
    expect(view.calls[0]).toMatchObject({ outcome: 'done', attempts: 3, nanoDollars: 6 });
    expect(view.nodes[0]?.used).toMatchObject({ calls: 3, nanoDollars: 6 });
    expect(view.nodes[0]?.held.nanoDollars).toBe(0);
  });

  test('no budget for another try ends the tries; what is not retryable is tried once', async () => {
    const flaky = tool('flaky', () => ({ failed: true, retryable: true }), { attemptsMax: 9 });
    const broken = tool('broken', () => ({ failed: true, retryable: false }), { attemptsMax: 9 });
    const { view } = await runAgents({
      limits: { calls: 5 },
      model: script(turnsOf([call('broken')], [call('flaky')])),
      tools: [flaky, broken],
    });
    expect([broken.ran.length, flaky.ran.length]).toEqual([1, 4]);
    expect(view.nodes[0]?.used.calls).toBe(5);
  });

  test('a tool that throws at once, throws later, or gives figures that cannot be, has a result', async () => {
    const tools = [
      tool('later', async () => Promise.reject(new Error('later'))),
      {
        ...tool('at-once', () => ''),
        invoke: () => {
          throw new Error('at once');
        },
      },
      tool('figures', () => ({ text: { ...textOf('é'.repeat(9_000)), bytes: 3 }, nanoDollars: -0.5 }), {
        nanoDollarsWorst: 4,
      }),
    ];
    const { view, run } = await runAgents({
      model: script(turnsOf([call('later'), call('at-once'), call('figures')])),
      tools,
    });
    expect(codes(view.calls)).toEqual(['tool-failed', 'tool-failed', 'done']);
    expect(view.calls.map(({ resultHead }) => resultHead.slice(0, 22))).toEqual([
      'later failed: later',
      'at-once failed: at onc',
      'é'.repeat(22),
    ]);
    expect(view.calls[2]).toMatchObject({ nanoDollars: 4, outputBytes: 18_000 });
    expect(view.calls[2]?.shownBytes).toBeLessThanOrEqual(16_000);
    expect(openCalls(run, ['agent'])).toEqual([]);
  });

  test('one that hangs is over at its time limit, and one that listens as well', async () => {
    const hangs = tool('hangs', () => new Promise<string>(() => undefined), { timeoutMs: 500, nanoDollarsWorst: 9 });
    const listens = tool(
      'listens',
      ({ signal }) => new Promise<string>((resolve) => void signal.onAbort(() => resolve('half of it'))),
      { timeoutMs: 700 },
    );
    const { view, nowMs } = await runAgents({
      model: script(turnsOf([call('hangs'), call('listens')])),
      tools: [hangs, listens],
    });
    expect(nowMs).toBe(700);
    expect(codes(view.calls)).toEqual(['timeout', 'timeout']);
    expect(view.calls[0]).toMatchObject({ nanoDollars: 9, resultHead: 'hangs did not answer within 500 ms' });
  });

  test("the end of the agent's time ends a call, and is no failure of its upstream", async () => {
    const hangs = tool('hangs', () => new Promise<string>(() => undefined), { timeoutMs: 60_000, attemptsMax: 5 });
    const model = script(always(call('hangs')));
    const { view, nowMs } = await runAgents({ limits: { wallClockMs: 2_000 }, model, tools: [hangs] });
    expect(nowMs).toBe(2_000);
    expect(hangs.ran).toHaveLength(1);
    expect(view.run.reason).toBe('budget-time');
    expect(view.breakers).toEqual([{ upstream: 'hangs', state: 'closed', failures: 0, retryAfterMs: null }]);
    expect(model.turns.some(({ closing }) => closing)).toBe(false);
  });
});

describe('breakers', () => {
  test('open after failures, are shared by runs, let one probe through and close', async () => {
    const breakers = createBreakers({ failuresMax: 2, openMs: 1_000, probeMs: 500 });
    const time = virtualTime();
    let works = false;
    const flaky = tool('flaky', () => ({ failed: !works, retryable: true, text: textOf('x') }), { upstream: 'site' });
    const sibling = tool('sibling', () => 'ok', { upstream: 'site' });
    const first = await runAgents({
      time,
      breakers,
      model: script(turnsOf([call('flaky')], [call('flaky')])),
      tools: [flaky],
    });
    expect(first.view.breakers[0]).toMatchObject({ state: 'open', failures: 2 });
    const second = await runAgents({ time, breakers, model: script(turnsOf([call('sibling')])), tools: [sibling] });
    expect(codes(second.view.calls)).toEqual(['breaker-open']);
    expect(JSON.parse(second.view.calls[0]?.resultHead ?? '')).toEqual({
      error: 'breaker-open',
      message: 'site failed again and again; it may be tried in 1 s',
    });
    await time.run(time.sleep(1_000));
    works = true;
    const third = await runAgents({
      time,
      breakers,
      model: script(turnsOf([call('sibling', { a: 1 }), call('flaky'), call('sibling', { a: 2 })])),
      tools: [flaky, sibling],
    });
    expect(codes(third.view.calls)).toEqual(['done', 'breaker-open', 'breaker-open']);
    expect(breakers.states(time.nowMs())[0]).toMatchObject({ state: 'closed', failures: 0 });
  });

  test('calls that were stopped, refused for money or answered from memory are no failures, and take no probe', async () => {
    const breakers = createBreakers({ failuresMax: 1, openMs: 1, probeMs: 1e9 });
    const time = virtualTime();
    const hangs = tool('hangs', () => new Promise<string>(() => undefined), { upstream: 'site', timeoutMs: 1e6 });
    const stopped = await runAgents({
      time,
      breakers,
      model: script(always(...Array.from({ length: 5 }, (_, at) => call('hangs', { at })))),
      tools: [hangs],
      watch: (change, run) => {
        if (change.kind === 'call' && change.call.index === 4 && change.call.outcome === 'running')
          void run.cancel(null);
      },
    });
    expect(stopped.view.run.reason).toBe('cancelled');
    expect(breakers.states(0)[0]?.state).toBe('closed');
    breakers.report('site', true, time.nowMs());
    await time.run(time.sleep(10));
    const dear = tool('dear', () => 'ok', { upstream: 'site', nanoDollarsWorst: 10 });
    const poor = await runAgents({
      time,
      breakers,
      limits: { nanoDollars: 1 },
      model: script(turnsOf([call('dear')])),
      tools: [dear],
    });
    expect(codes(poor.view.calls)).toEqual(['budget']);
    const rich = await runAgents({ time, breakers, model: script(turnsOf([call('dear')])), tools: [dear] });
    expect(codes(rich.view.calls)).toEqual(['done']);
  });
});

describe('cache', () => {
  const page = (authorisation: string, extra = {}) =>
    tool('fetch', ({ n, args }) => `page ${n} ${isObject(args) ? String(args.get('page')) : ''}`, {
      cacheable: true,
      authorisation,
      nanoDollarsWorst: 5,
      ...extra,
    });

  test('a hit costs a call and no money, also beside the call that brings it in', async () => {
    const fetch = page('me');
    const { view } = await runAgents({
      task: { cacheFetches: true },
      model: script(turnsOf([call('fetch', { page: 1 }), call('fetch', { page: 1 })], [call('fetch', { page: 1 })])),
      tools: [fetch],
    });
    expect(fetch.ran).toHaveLength(1);
    expect(codes(view.calls)).toEqual(['done', 'cached', 'cached']);
    expect(view.nodes[0]?.used).toMatchObject({ calls: 3, nanoDollars: 5 });
    expect(view.calls[2]?.resultHead).toBe('page 1 1');
  });

  test('keyed by everything that was asked, not by what the guards leave out', async () => {
    const fetch = page('me');
    const { view } = await runAgents({
      task: { cacheFetches: true },
      guards: { ignoredFields: { fetch: ['page'] } },
      model: script(turnsOf([call('fetch', { page: 1 })], [call('fetch', { page: 2 })])),
      tools: [fetch],
    });
    expect(view.calls.map(({ resultHead }) => resultHead)).toEqual(['page 1 1', 'page 2 2']);
  });

  test("of one permission is no other's; failures, side effects and what is not cacheable are not kept", async () => {
    const other = page('you', { name: 'fetch2' });
    let fails = 0;
    const failing = tool('failing', () => ({ failed: (fails += 1) === 1 }), { cacheable: true });
    const tools = [
      page('me'),
      other,
      failing,
      page('me', { name: 'start', sideEffect: true }),
      page('me', { name: 'live', cacheable: false }),
    ];
    const each = ['fetch', 'fetch2', 'failing', 'start', 'live'].map((name) => call(name, { page: 1 }));
    const { view } = await runAgents({ task: { cacheFetches: true }, model: script(turnsOf(each, each)), tools });
    expect(codes(view.calls)).toEqual([
      'done',
      'done',
      'tool-failed',
      'done',
      'done',
      'cached',
      'cached',
      'done',
      'done',
      'done',
    ]);
    expect(view.run.openLeases).toBe(2);
  });

  test('what was fetched with one permission is not shown with another', async () => {
    const fetch = page('me');
    let who = 'me';
    const spec = { ...fetch.spec };
    Object.defineProperty(spec, 'authorisation', { get: () => who });
    const { view } = await runAgents({
      task: { cacheFetches: true },
      model: script(({ turn }) => {
        who = turn === 2 ? 'you' : 'me';
        return turn > 3 ? 'done' : [call('fetch', { page: 1 })];
      }),
      tools: [{ ...fetch, spec }],
    });
    expect(codes(view.calls)).toEqual(['done', 'done', 'cached']);
  });

  test('off, nothing is kept', async () => {
    const fetch = page('me');
    await runAgents({ model: script(turnsOf([call('fetch')], [call('fetch')])), tools: [fetch] });
    expect(fetch.ran).toHaveLength(2);
  });
});

describe('leases', () => {
  const states = (leases: readonly Lease[]): unknown[] => leases.map(({ what, state }) => [what, state]);

  test('are released at the end; those that cannot be are said to be open', async () => {
    const good = lease();
    const leases = [
      good.lease,
      { what: 'rejects', release: async () => Promise.reject(new Error('no')) },
      { what: 'hangs', release: () => new Promise<void>(() => undefined) },
      {
        what: 'throws',
        release: () => {
          throw new Error('no');
        },
      },
    ];
    const starter = tool('start', ({ n }) => ({ lease: leases[n - 1] ?? null }));
    const { view } = await runAgents({
      model: script(turnsOf(...leases.map(() => [call('start')]))),
      tools: [starter],
    });
    expect(good.released).toBe(1);
    expect(view.run.openLeases).toBe(3);
    expect(states(view.leases)).toEqual([
      ['job 1', 'released'],
      ['rejects', 'failed'],
      ['hangs', 'failed'],
      ['throws', 'failed'],
    ]);
  });

  test('every attempt has its own, and what a late answer started is ended too', async () => {
    const time = virtualTime();
    const made = [lease(), lease(), lease()];
    const starter = tool(
      'start',
      async ({ n }) => {
        await time.sleep(n === 3 ? 5_000 : 100);
        return { failed: n < 3, retryable: true, lease: made[n - 1]?.lease ?? null };
      },
      { attemptsMax: 3, timeoutMs: 1_000, sideEffect: true },
    );
    const wait = tool('wait', async () => time.sleep(6_000).then(() => 'ok'), { timeoutMs: 9_000 });
    const { view } = await runAgents({
      time,
      model: script(turnsOf([call('start'), call('wait')])),
      tools: [starter, wait],
    });
    expect(codes(view.calls)).toEqual(['timeout', 'done']);
    expect(made.map(({ released }) => released)).toEqual([1, 1, 1]);
    expect(view.run.openLeases).toBe(0);
  });

  test('an answer that comes after the end of the run has its lease released at once', async () => {
    const time = virtualTime();
    const late = lease();
    const starter = tool('start', async () => time.sleep(5_000).then(() => ({ lease: late.lease })), { timeoutMs: 10 });
    const { view } = await runAgents({ time, model: script(turnsOf([call('start')])), tools: [starter] });
    expect(view.run.state).toBe('ended');
    await time.run(time.sleep(6_000));
    expect(late.released).toBe(1);
  });

  test('a tool that says it leaves something behind, and not how to end it, leaves an open lease', async () => {
    const starter = tool('start', ({ n }) => ({ failed: n === 2 }), { sideEffect: true });
    const hangs = tool('hangs', () => new Promise<string>(() => undefined), { sideEffect: true });
    const { view } = await runAgents({
      model: script(turnsOf([call('start', { a: 1 })], [call('start')], [call('hangs')])),
      tools: [starter, hangs],
    });
    expect(view.leases.map(({ what, state }) => [what, state])).toEqual([
      ['start {"a":1}', 'open'],
      ['hangs {}', 'open'],
    ]);
    expect(view.run.openLeases).toBe(2);
  });
});

describe('approval', () => {
  test('is asked for above the price, and for the tool that says so; no is a result and costs nothing', async () => {
    const asked: string[] = [];
    const dear = tool('dear', () => 'ok', { nanoDollarsWorst: 101 });
    const cheap = tool('cheap', () => 'ok', { nanoDollarsWorst: 100 });
    const strict = tool('strict', () => 'ok', { approval: true });
    const { view, run } = await runAgents({
      task: { approvalAboveNanoDollars: 100 },
      guards: { identicalCalls: { limit: 1, pollingLimit: 1 }, stateHash: { maxRepeats: 1 } },
      model: script(turnsOf([call('dear'), call('cheap'), call('strict')], [call('dear')], [call('dear')])),
      tools: [dear, cheap, strict],
      ports: {
        approve: async ({ tool: name }) => {
          asked.push(name);
          if (name === 'strict') throw new Error('the screen is gone');
          return asked.length > 3;
        },
      },
    });
    expect(asked).toEqual(['dear', 'strict', 'dear', 'dear']);
    // What was refused by a person did not run: it is no identical call, and no state.
    expect(codes(view.calls)).toEqual(['approval-denied', 'done', 'approval-denied', 'approval-denied', 'done']);
    expect([dear.ran.length, strict.ran.length]).toEqual([1, 0]);
    expect(view.nodes[0]?.used).toMatchObject({ calls: 2, nanoDollars: 201 });
    expect(openCalls(run, ['agent'])).toEqual([]);
  });

  test('nobody answers: the time of the agent ends the wait; a stop does as well', async () => {
    const strict = tool('strict', () => 'ok', { approval: true });
    const silent = { approve: () => new Promise<boolean>(() => undefined) };
    const late = await runAgents({
      limits: { wallClockMs: 1_000 },
      model: script(always(call('strict'))),
      tools: [strict],
      ports: silent,
    });
    expect(late.view.run.reason).toBe('budget-time');
    expect(codes(late.view.calls)).toEqual(['approval-denied']);
    const stopped = await runAgents({
      model: script(always(call('strict'))),
      tools: [strict],
      ports: silent,
      watch: (change, run) => {
        if (change.kind === 'call' && change.call.outcome === 'waiting-approval') void run.cancel(null);
      },
    });
    expect(stopped.view.run.reason).toBe('cancelled');
    expect(codes(stopped.view.calls)).toEqual(['cancelled']);
    expect(strict.ran).toHaveLength(0);
  });
});

describe('outputs', () => {
  test('what is cut is read on page by page, each page a call; a handle of elsewhere is refused', async () => {
    const whole = Array.from({ length: 3_000 }, (_, at) => `línea ${at} 😀`).join('\n');
    const blobs = memoryBlobs();
    const read: string[] = [];
    const { view } = await runAgents({
      limits: { outputBytes: 5_000 },
      tools: [tool('big', () => whole)],
      ports: { blobs },
      model: script(({ transcript }) => {
        const last = transcript.at(-1);
        if (last?.role !== 'tool') return [call('big')];
        expect(Buffer.byteLength(last.content)).toBeLessThanOrEqual(5_000);
        const first =
          /^([^]*)\n\[truncated: \d+ bytes in all; read more with read_blob\(handle='([^']+)', offset=(\d+)\)\]$/.exec(
            last.content,
          );
        if (first !== null) {
          read.push(first[1] ?? '');
          return [call('read_blob', { handle: first[2], offset: Number(first[3]) })];
        }
        const next = /^([^]*)\n\[(?:end of|bytes \d+ to (\d+) of) \d+(?:; go on at offset=\d+| bytes)?\]$/.exec(
          last.content,
        );
        read.push(next?.[1] ?? '');
        return next?.[2] === undefined ? 'read' : [call('read_blob', { handle: 'blob-1', offset: Number(next[2]) })];
      }),
    });
    expect(read.join('')).toBe(whole);
    expect(view.run.totals.callsByTool).toEqual({ big: 1, read_blob: read.length - 1 });
    const foreign = await runAgents({
      tools: [],
      model: script(turnsOf([call('read_blob', { handle: 'blob-1' })])),
      ports: { blobs: memoryBlobs() },
    });
    expect(foreign.view.calls[0]).toMatchObject({ outcome: 'failed', code: 'unknown-handle' });
  });

  test.each([[{ handle: 1 }], [{}], [{ handle: 'a', offset: -1 }], [{ handle: 'a', offset: 0.5 }], [[]]])(
    'read_blob with %j does not fit',
    async (args) => {
      const { view } = await runAgents({ model: script(turnsOf([call('read_blob', args)])) });
      expect(codes(view.calls)).toEqual(['broken-arguments']);
    },
  );

  test('what a text grows to is what is measured, and where it cannot be stored it is cut all the same', async () => {
    const head = 'é'.repeat(10_000);
    const expanded = tool('unpack', () => ({ text: { bytes: 2_000_000_000, head, tail: 'end', handle: 'h2' } }));
    const full = tool('full', () => 'y'.repeat(50_000));
    const { view } = await runAgents({
      model: script(turnsOf([call('unpack'), call('full')])),
      tools: [expanded, full],
      ports: { blobs: { put: async () => Promise.reject(new Error('disk full')), read: async () => null } },
    });
    expect(
      view.calls.map(({ outputBytes, handle, shownBytes }) => [outputBytes, handle, shownBytes <= 16_000]),
    ).toEqual([
      [2_000_000_000, 'h2', true],
      [50_000, 'not-stored', true],
    ]);
    expect(view.run.totals.outputBytes).toBe(2_000_050_000);
  });

  test('the state of a call is told by what is behind the head as well', async () => {
    const head = 'same '.repeat(2_000);
    const text = (n: number, by: 'digest' | 'tail') => ({
      text: {
        bytes: 1_000_000,
        head,
        tail: by === 'tail' ? `end ${n}` : 'end',
        handle: 'h',
        ...(by === 'digest' ? { digest: sha256(`${n}`) } : {}),
      },
    });
    const tools = [
      tool('by-digest', ({ n }) => text(n, 'digest')),
      tool('by-tail', ({ n }) => text(n, 'tail')),
      tool('equal', () => text(0, 'tail')),
    ];
    const run = (name: string) =>
      runAgents({
        guards: { stateHash: { maxRepeats: 2 }, ladder: 'stop' },
        task: { rounds: 5 },
        model: script(always(call(name))),
        tools,
      });
    expect((await run('by-digest')).view.run.reason).toBe('rounds');
    expect((await run('by-tail')).view.run.reason).toBe('rounds');
    expect((await run('equal')).view.run.reason).toBe('state-hash');
  });

  test('results in any script that are JSON count by value', async () => {
    const writings = ['{"a":1,"ü":"é😀"}', '{"ü":"é😀", "a":1.0}'];
    const { view } = await runAgents({
      model: script(turnsOf([call('t')], [call('t')])),
      tools: [tool('t', ({ n }) => writings[n - 1] ?? '')],
    });
    expect(view.calls[0]?.stateHash).toBe(view.calls[1]?.stateHash);
  });
});

test('a note of a guard is in the text and in the tokens', async () => {
  const { view, run } = await runAgents({
    guards: { stateHash: { maxRepeats: 1 }, ladder: 'warn-block-stop' },
    model: script(turnsOf([call('t')])),
    tools: [tool('t', () => answerOf('x'.repeat(40)))],
  });
  const entry = run.transcript('agent').find(({ role }) => role === 'tool');
  expect(entry?.content).toBe(`${'x'.repeat(40)}\n[note: loop: t with these arguments gave this result 1 times]`);
  expect(view.calls[0]?.tokens).toBe(10 + Math.ceil(62 / 4));
  expect(view.nodes[0]?.used.contextTokens).toBe(100 + (view.calls[0]?.tokens ?? 0));
});

test('the gateway by itself: its own tools stand before any that are called like them', async () => {
  const fakes = [tool('read_blob', () => 'mine'), tool('delegate', () => 'mine')];
  const limits = { ...DEFAULT_LIMITS };
  const tree = createBudgetTree('root', limits, {
    keepCalls: 0,
    carveRule: 'keep',
    closing: { tokens: 0, nanoDollars: 0 },
    spawnsPerMinute: null,
  });
  const gateway = createGateway(
    {
      nowMs: () => 0,
      after: () => () => undefined,
      tree,
      guards: createGuards(DEFAULT_GUARDS, sha256),
      breakers: createBreakers(),
      tools: new Map(fakes.map((fake) => [fake.spec.name, fake])),
      blobs: memoryBlobs(),
      delegate: { name: 'delegate', run: async () => ({ ok: true, childId: 'child', text: 'summary' }) },
      sha256,
      tokensOf: () => 1,
      wordRefusal: ({ words }) => words,
      approve: async () => true,
      onCall: () => undefined,
      onTrip: () => undefined,
      onLease: () => undefined,
    },
    { outputTokensMax: 1, chargeResults: true, cache: false, approvalAboveNanoDollars: null },
  );
  const asks = [call('read_blob', { handle: 'x' }), call('delegate')].map((ask, at) => ({ ...ask, id: `${at}` }));
  const { results, stop } = await gateway.step('root', 1, asks, never);
  expect(results.map(({ text }) => text)).toEqual(['There is no such handle in this run.', 'summary']);
  expect(stop).toBeNull();
  expect(fakes.map(({ ran }) => ran.length)).toEqual([0, 0]);
});

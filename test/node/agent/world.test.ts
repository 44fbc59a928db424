import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ok } from '../../../shared/contract/denials.ts';
import { createBreakers } from '../../../shared/engine/gateway/breaker.ts';
import { agentTaskSchema } from '../../../shared/contract/agents.ts';
import type { McpTools } from '../../../shared/node/agent/world.ts';
import { createWorld } from '../../../shared/node/agent/world.ts';
import { ARCHIVE_EXPANDED_BYTES, PAGES, TWO_GIGABYTES, archive } from '../../../shared/node/agent/tools-big-page.ts';
import { tool } from '../../engine/agent/harness.ts';
import { openLab, taskOf } from './world-setup.ts';

const servers = { shop: { url: 'http://127.0.0.1:9/mcp' } };
const about = { sleep: () => Promise.resolve(), hold: <Value>(work: Promise<Value>) => work, blobs: {} as never };

describe('scripts by name', () => {
  const world = createWorld();
  test.each(['', 'nobody', '__proto__', 'constructor', 'toString', 'status-asker ', 'Status-Asker'])(
    '%j is none',
    (name) => {
      expect(world.scenario(name, taskOf('reader'))).toBeNull();
    },
  );

  test('the farm keeps its golden settings, and takes what a task sets over them', () => {
    const settings = world.scenario('farm-reader', taskOf('farm-reader', { limits: { calls: 7 } }))?.settings;
    expect(settings?.limits).toMatchObject({ calls: 7, tokens: 400_000, descendants: null });
    expect(settings?.guards).toMatchObject({ stateHash: null, noProgress: { steps: 3, shinglesMin: 400 } });
  });
});

describe('a limit of the farm is a limit', () => {
  test.each([
    [{ calls: 7 }, 7],
    [{ calls: 0 }, 0],
  ])('%j', async (limits, toolCalls) => {
    const lab = await openLab();
    const view = await lab.run(taskOf('farm-reader', { tools: ['link-farm'], limits, spawnsPerMinute: null }));
    expect(view.run.totals.toolCalls).toBe(toolCalls);
    expect(view.run.reason).toBe('budget-calls');
  });
});

describe('tools of servers', () => {
  const fromServers =
    (names: readonly string[], closed: string[] = []): McpTools =>
    async () =>
      ok({
        tools: names.map((name) => tool(name, () => `from ${name}`)),
        problems: ['shop: slow to start'],
        close: async () => void closed.push('closed'),
      });
  const found = async (mcp: McpTools | undefined, sets: ('files' | 'carrier')[] = ['carrier']) => {
    const world = createWorld(mcp === undefined ? {} : { mcp });
    const result = await world.tools(taskOf('reader', { tools: sets, mcpServers: servers }), about);
    if (!result.ok) throw new Error(result.denial.message);
    return result.value;
  };

  test('stand beside the ready ones; what shadows another or the gateway is left out, and said', async () => {
    const closed: string[] = [];
    const names = [
      'shop.buy',
      'shop.buy',
      'read_blob',
      'delegate',
      'shop.read_blob',
      'get_shipment_status',
      '__proto__',
    ];
    const { tools, problems, close } = await found(fromServers(names, closed));
    expect(tools.map(({ spec }) => spec.name)).toEqual(['get_shipment_status', 'shop.buy', '__proto__']);
    expect(problems).toEqual([
      'shop: slow to start',
      'The tool "shop.buy" is left out: another one has the same name.',
      'The tool "read_blob" is left out: its name belongs to the gateway.',
      'The tool "delegate" is left out: its name belongs to the gateway.',
      'The tool "shop.read_blob" is left out: its name belongs to the gateway.',
      'The tool "get_shipment_status" is left out: another one has the same name.',
    ]);
    await close();
    expect(closed).toEqual(['closed']);
  });

  test('a name of any length and kind is said short and on one line', async () => {
    const name = `a\n${'b'.repeat(5_000)}`;
    const { problems } = await found(fromServers([name, name]));
    expect(problems[1]?.length).toBeLessThan(300);
    expect(problems[1]).not.toContain('\n');
  });

  test('without servers nobody is asked; without the port it is said', async () => {
    const { tools, problems } = await found(undefined);
    expect(tools).toHaveLength(1);
    expect(problems).toEqual(['MCP servers cannot be used here.']);
    const world = createWorld({ mcp: () => Promise.reject(new Error('nobody asks')) });
    expect(await world.tools(taskOf('reader', { tools: ['files'] }), about)).toMatchObject({ ok: true });
  });

  test('a server takes real time: the clock of a script stands meanwhile', async () => {
    const slow: McpTools = async () =>
      ok({
        tools: [
          tool('files.list_files', async () => {
            await wait(50);
            return '"src/a.ts" 1 lines';
          }),
        ],
        problems: [],
        close: async () => undefined,
      });
    const lab = await openLab({
      mcp: async (...args) => {
        const answer = await slow(...args);
        // The script knows the tool by its plain name.
        return answer.ok
          ? ok({
              ...answer.value,
              tools: answer.value.tools.map((one) => ({
                ...one,
                spec: { ...one.spec, name: 'list_files', timeoutMs: 30_000 },
              })),
            })
          : answer;
      },
    });
    const view = await lab.run(taskOf('reader', { mcpServers: servers }));
    expect(view.calls[0]).toMatchObject({ tool: 'list_files', outcome: 'done', code: null });
  });
});

describe('a script and its clock', () => {
  test('waits for a person without running out of time', async () => {
    const lab = await openLab();
    const task = taskOf('flaky-fetcher', { tools: ['flaky'], approvalAboveNanoDollars: 1 });
    const started = await lab.agents.start(task);
    if (!started.ok) throw new Error(started.denial.message);
    while (lab.agents.list(1).approvals.length === 0) await wait(1);
    await wait(20);
    const [approval] = lab.agents.list(1).approvals;
    expect(lab.agents.approve(approval?.id ?? '', true).ok).toBe(true);
    const view = await lab.agents.ended(started.value.runId);
    expect(view?.calls[0]).toMatchObject({ outcome: 'done', attempts: 3 });
  });

  test('fails for itself: the breakers of other runs do not hear of it, and it does not hear of theirs', async () => {
    const breakers = createBreakers();
    for (let at = 0; at < 5; at += 1) breakers.report('flaky.example', true, performance.now());
    const lab = await openLab({ breakers });
    const view = await lab.run(taskOf('flaky-fetcher', { tools: ['flaky'] }));
    expect(view.calls[0]).toMatchObject({ outcome: 'done' });
    const down = await lab.run(taskOf('naive-fetcher', { tools: ['flaky'] }));
    expect(down.breakers).toMatchObject([{ upstream: 'down.example', state: 'open', failures: 5 }]);
    expect(breakers.states(performance.now()).map(({ upstream }) => upstream)).toEqual(['flaky.example']);
  });
});

describe('outputs that do not fit', () => {
  /** The most that memory grew while it ran, in bytes. */
  async function growth(work: () => Promise<void>): Promise<number> {
    const size = (): number => {
      const { heapUsed, external, arrayBuffers } = process.memoryUsage();
      return Math.max(heapUsed + external, heapUsed + arrayBuffers);
    };
    const before = size();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, size())), 5);
    await work();
    clearInterval(timer);
    return most - before;
  }

  test('two gigabytes are stored as they come, and never stand in memory', async () => {
    const lab = await openLab();
    const grown = await growth(async () => {
      const view = await lab.run(
        taskOf('big-page-reader', { prompt: `Find the code word in ${PAGES.twoGigabytes}`, tools: ['big-page'] }),
      );
      const [fetched] = view.calls;
      expect(fetched).toMatchObject({ outcome: 'done', outputBytes: TWO_GIGABYTES, attempts: 1 });
      expect(fetched?.shownBytes).toBeLessThanOrEqual(16_000);
      expect(view.run).toMatchObject({ reason: 'done', answer: expect.stringMatching(/^The code word is [A-Z]+\.$/) });
      const last = await lab.agents.blob(view.run.id, fetched?.handle ?? '', TWO_GIGABYTES - 5);
      expect(last).toMatchObject({ nextOffset: null, bytes: TWO_GIGABYTES });
      expect(last?.text).toHaveLength(5);
      expect((await lab.agents.remove(view.run.id)).ok).toBe(true);
    });
    expect(grown).toBeLessThan(250_000_000);
  });

  test('an archive is measured as what it expands to', async () => {
    expect(archive(7).length).toBeLessThan(ARCHIVE_EXPANDED_BYTES / 50);
    const lab = await openLab();
    const view = await lab.run(
      taskOf('big-page-reader', { prompt: `Find the code word in ${PAGES.archive}`, tools: ['big-page'] }),
    );
    expect(view.calls[0]).toMatchObject({ outcome: 'done', outputBytes: ARCHIVE_EXPANDED_BYTES });
    expect(view.calls[0]?.shownBytes).toBeLessThanOrEqual(16_000);
  });

  test('a run that is stopped does not write on', async () => {
    const lab = await openLab();
    const task = taskOf('big-page-reader', { prompt: `Read ${PAGES.twoGigabytes}`, tools: ['big-page'] });
    const started = await lab.agents.start(task);
    if (!started.ok) throw new Error(started.denial.message);
    const { runId } = started.value;
    while (lab.agents.view(runId)?.calls.length === 0) await wait(1);
    expect(lab.agents.cancel(runId, null).ok).toBe(true);
    const view = await lab.agents.ended(runId);
    expect(view?.run.state).toBe('cancelled');
    expect(view?.calls[0]).toMatchObject({ outcome: 'failed', code: 'cancelled' });
  });

  test('a page that is not there costs its price and is no fault of the server', async () => {
    const lab = await openLab();
    const view = await lab.run(
      taskOf('big-page-reader', { prompt: 'Read https://pages.example/<b>nothing</b>', tools: ['big-page'] }),
    );
    expect(view.calls[0]).toMatchObject({ outcome: 'failed', code: 'tool-failed', attempts: 1 });
    expect(view.breakers).toMatchObject([{ upstream: 'pages.example', state: 'closed', failures: 0 }]);
  });
});

test('every ready tool says what it may cost, how long it takes and what it brings', async () => {
  const lab = await openLab();
  const task = agentTaskSchema.parse({
    prompt: 'x',
    model: 'script:reader',
    tools: ['carrier', 'clock', 'link-farm', 'files', 'big-page', 'flaky', 'jobs'],
  });
  const inventory = await lab.agents.inventory(task);
  if (!inventory.ok) throw new Error(inventory.denial.message);
  const { tools } = inventory.value;
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  for (const one of tools) {
    expect(one.latencyMsUsual).toBeGreaterThan(0);
    expect(one.outputBytesUsual).toBeGreaterThan(0);
    expect(one.timeoutMs).toBeGreaterThan(one.latencyMsUsual ?? Infinity);
    expect(one.description).toMatch(/\.$/);
  }
  expect(tools.filter(({ polls }) => polls).map(({ name }) => name)).toEqual(['job_status']);
  expect(tools.filter(({ sideEffect }) => sideEffect).map(({ name }) => name)).toEqual(['start_job']);
});

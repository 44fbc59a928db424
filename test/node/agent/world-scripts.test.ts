import { describe, expect, test } from 'vitest';
import type { AgentRunView, AgentTaskInput, EndReason } from '../../../shared/contract/agents.ts';
import { type ScriptName, scripts } from '../../../shared/engine/agent-lab/scripts.ts';
import { openCalls } from '../../engine/agent/harness.ts';
import { type Lab, openLab, taskOf, withoutIds } from './world-setup.ts';

interface Outcome {
  reason: EndReason;
  modelTurns: number;
  toolCalls: number;
  refused: number;
  agents: number;
  retries: number;
  openLeases: number;
}
interface Case {
  readonly task?: Partial<AgentTaskInput>;
  readonly free?: Partial<AgentTaskInput>;
  readonly governed: Outcome & { trips: string[] };
  readonly ungoverned: Outcome;
}

const outcome = (reason: EndReason, modelTurns: number, toolCalls: number, change: Partial<Outcome> = {}): Outcome => ({
  reason,
  modelTurns,
  toolCalls,
  refused: 0,
  agents: 1,
  retries: 0,
  openLeases: 0,
  ...change,
});

/** Forty rounds and the closing call: where nothing stops a loop, its rounds do. */
const endless = outcome('rounds', 41, 40);

/** How each script ends with the defaults, and without the ledger. */
const cases: Readonly<Record<ScriptName, Case>> = {
  'status-asker': {
    governed: { ...outcome('state-hash', 3, 3), trips: ['state-hash warn', 'state-hash stop', 'no-progress warn'] },
    ungoverned: endless,
  },
  'clock-watcher': {
    governed: {
      ...outcome('identical-calls', 7, 3, { refused: 3 }),
      trips: [
        'identical-calls block',
        'identical-calls block',
        'no-progress warn',
        'identical-calls stop',
        'no-progress stop',
      ],
    },
    ungoverned: endless,
  },
  cycler: {
    governed: {
      ...outcome('no-progress', 7, 6),
      trips: ['state-hash warn', 'state-hash warn', 'no-progress warn', 'state-hash warn', 'no-progress stop'],
    },
    ungoverned: endless,
  },
  alternator: {
    governed: {
      ...outcome('no-progress', 5, 4),
      trips: ['state-hash warn', 'no-progress warn', 'state-hash warn', 'no-progress stop'],
    },
    ungoverned: endless,
  },
  'key-shuffler': {
    governed: { ...outcome('state-hash', 3, 3), trips: ['state-hash warn', 'state-hash stop', 'no-progress warn'] },
    ungoverned: endless,
  },
  'range-drifter': {
    governed: { ...outcome('no-progress', 5, 4), trips: ['no-progress warn', 'no-progress stop'] },
    ungoverned: endless,
  },
  mumbler: {
    governed: {
      ...outcome('no-progress', 4, 0, { refused: 3 }),
      trips: ['no-progress warn', 'broken-arguments warn', 'no-progress stop'],
    },
    ungoverned: outcome('rounds', 41, 0, { refused: 40 }),
  },
  'recursive-spawner': {
    task: { prompt: 'Give this task to 3 agents.' },
    free: { limits: { depth: 3 } },
    governed: { ...outcome('done', 6, 0, { agents: 3, refused: 7 }), trips: [] },
    // (3^4 - 1) / 2 agents: 13 of them delegate and then answer, 27 only answer.
    ungoverned: outcome('done', 53, 0, { agents: 40 }),
  },
  'sequential-spawner': {
    governed: {
      ...outcome('no-progress', 28, 0, { agents: 13, refused: 3 }),
      trips: ['no-progress warn', 'no-progress stop'],
    },
    ungoverned: outcome('rounds', 81, 0, { agents: 41 }),
  },
  'five-hundred': {
    free: { limits: { fanOut: 500 } },
    governed: { ...outcome('done', 2, 8, { refused: 492 }), trips: [] },
    ungoverned: outcome('done', 2, 500),
  },
  'flaky-fetcher': {
    governed: { ...outcome('done', 2, 1, { retries: 2 }), trips: [] },
    // Its client tries again by itself: the gateway sees one attempt.
    ungoverned: outcome('done', 2, 1),
  },
  'naive-fetcher': {
    // Five attempts, then the breaker is open.
    governed: {
      ...outcome('done', 4, 2, { refused: 1, retries: 3 }),
      trips: ['state-hash warn', 'no-progress warn'],
    },
    ungoverned: outcome('done', 4, 3, { retries: 6 }),
  },
  'big-page-reader': {
    governed: { ...outcome('done', 4, 3), trips: [] },
    ungoverned: outcome('done', 2, 1),
  },
  'job-forgetter': {
    governed: { ...outcome('done', 2, 6), trips: [] },
    ungoverned: outcome('done', 2, 6, { openLeases: 6 }),
  },
  poller: {
    governed: { ...outcome('done', 10, 9), trips: [] },
    ungoverned: outcome('done', 10, 9, { openLeases: 1 }),
  },
  reader: {
    governed: { ...outcome('done', 5, 7), trips: [] },
    ungoverned: outcome('done', 5, 7),
  },
};

describe.each(Object.entries(cases))('%s', (name, { task = {}, free = {}, governed, ungoverned }) => {
  const run = (lab: Lab, change: Partial<AgentTaskInput>): Promise<AgentRunView> =>
    lab.run(taskOf(name, { tools: [...scripts[name as ScriptName].tools], ...task, ...change }));

  test('with the defaults', async () => {
    const lab = await openLab();
    const view = await run(lab, {});
    expect({ ...outcomeOf(view), trips: view.trips.map(({ guard, stage }) => `${guard} ${stage}`) }).toEqual(governed);
    expect(faultsOf(lab, view)).toEqual([]);
  });

  test('without the ledger', async () => {
    const lab = await openLab();
    const view = await run(lab, { governed: false, ...free });
    expect(outcomeOf(view)).toEqual(ungoverned);
    expect(view.trips).toEqual([]);
    expect(faultsOf(lab, view)).toEqual([]);
  });

  test('the same seed gives the same run', async () => {
    const lab = await openLab();
    const [first, second] = [await run(lab, { seed: 11 }), await run(lab, { seed: 11 })];
    expect(withoutIds(second)).toEqual(withoutIds(first));
    expect(second.run.id).not.toBe(first.run.id);
  });
});

describe('one guard at a time', () => {
  const off = { stateHash: null, identicalCalls: null, cycles: null, noProgress: null, brokenArguments: null };

  test('a circle of three is seen by the guard for cycles', async () => {
    const lab = await openLab();
    const task = taskOf('cycler', {
      tools: ['files'],
      guards: { ...off, cycles: { periodMax: 4, repeats: 3 }, ladder: 'stop' },
    });
    const view = await lab.run(task);
    expect(outcomeOf(view)).toEqual(outcome('cycle', 10, 9));
    expect(view.trips[0]?.calls).toHaveLength(9);
    const blind = await lab.run({ ...task, guards: { ...task.guards, cycles: { periodMax: 2, repeats: 3 } } });
    expect(outcomeOf(blind)).toEqual(endless);
  });

  test('two orders in turn end at the third equal state', async () => {
    const lab = await openLab();
    const view = await lab.run(
      taskOf('alternator', { tools: ['carrier'], guards: { ...off, stateHash: { maxRepeats: 2 } } }),
    );
    expect(outcomeOf(view)).toEqual(outcome('state-hash', 5, 5));
  });

  test('waiting ends where waiting has a limit', async () => {
    const lab = await openLab();
    const task = taskOf('poller', {
      tools: ['jobs'],
      guards: { ...off, identicalCalls: { limit: 3, pollingLimit: 2 }, ladder: 'stop' },
    });
    const view = await lab.run(task);
    expect(view.run.reason).toBe('identical-calls');
    expect(view.run.totals.callsByTool).toEqual({ start_job: 1, job_status: 2 });
    expect(view.run.openLeases).toBe(0);
    expect(view.leases).toMatchObject([{ state: 'released', what: 'job-1 "backup"' }]);
  });

  test('agents one after the other end at their lifetime count', async () => {
    const lab = await openLab();
    const view = await lab.run(
      taskOf('sequential-spawner', { guards: off, spawnsPerMinute: null, limits: { descendants: 5 } }),
    );
    expect(view.run.totals.agents).toBe(6);
    expect(view.calls.filter(({ code }) => code === 'budget')[0]?.exhaustion).toMatchObject({
      dimension: 'descendants',
      used: 5,
      limit: 5,
    });
  });
});

test('a job that cannot be ended leaves its run with an open lease, and the run says so', async () => {
  const lab = await openLab();
  const view = await lab.run(taskOf('job-forgetter', { prompt: 'Start these jobs: mail, stubborn.', tools: ['jobs'] }));
  expect(view.run.openLeases).toBe(1);
  expect(view.leases.map(({ state, what }) => [state, what])).toEqual([
    ['released', 'job-1 "mail"'],
    ['failed', 'job-2 "stubborn"'],
  ]);
});

test('the page that is read on gives what stands behind the cut', async () => {
  const lab = await openLab();
  const view = await lab.run(taskOf('big-page-reader', { tools: ['big-page'], seed: 3 }));
  expect(view.run.answer).toMatch(/^The code word is [A-Z]+\.$/);
  expect(view.run.totals.callsByTool).toEqual({ fetch_page: 1, read_blob: 2 });
  expect(view.calls.map(({ outcome: done, shownBytes }) => [done, shownBytes <= 16_000])).toEqual([
    ['done', true],
    ['done', true],
    ['done', true],
  ]);
});

function outcomeOf({ run }: AgentRunView): Outcome {
  const { modelTurns, toolCalls, refused, agents, retries } = run.totals;
  if (run.reason === null) throw new Error('the run has ended');
  return { reason: run.reason, modelTurns, toolCalls, refused, agents, retries, openLeases: run.openLeases };
}

/** Calls without exactly one result, in any agent's transcript. */
function faultsOf(lab: Lab, view: AgentRunView): string[] {
  const transcripts = { transcript: (nodeId: string) => lab.transcript(view.run.id, nodeId) };
  return openCalls(
    transcripts as unknown as Parameters<typeof openCalls>[0],
    view.nodes.map(({ id }) => id),
  );
}

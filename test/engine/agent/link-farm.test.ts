import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AgentRunView, GatewayCall } from '../../../shared/contract/agents.ts';
import { farmReader } from '../../../shared/engine/agent-lab/farm-reader.ts';
import {
  FARM_BASE_TOKENS,
  FARM_BYTES_PER_TOKEN,
  FARM_REFUSAL_BYTES,
  farmSettings,
  farmTask,
  farmUngoverned,
} from '../../../shared/engine/agent-lab/farm-task.ts';
import {
  FARM_REVIEWS,
  linkFarmTools,
  listPage,
  reviewPage,
  searchPage,
} from '../../../shared/engine/agent-lab/link-farm.ts';
import type { RunSettings } from '../../../shared/engine/agent/run.ts';
import { capOutput } from '../../../shared/engine/gateway/output-cap.ts';
import { textOf } from '../../../shared/engine/gateway/tool.ts';
import { shinglesOf, similarity } from '../../../shared/engine/guards/shingles.ts';
import { memoryBlobs, runAgents, sha256, virtualTime } from './harness.ts';

interface Step {
  agent: string;
  step: number;
  requested: number;
  executed: string[];
  refused: [string, string][];
  contextBefore: number;
  contextAfter: number;
  novelShingles: number;
  noProgress: number;
  timeMs: number;
  callsLeft: number;
  tokensLeft: number;
}
interface Outcome {
  toolCalls: number;
  delegations: number;
  agents: number;
  modelTurns: number;
  billedInputTokens: number;
  contextTokensAdded: number;
  largestTranscript: number;
  wallMs: number;
  toolMicroDollars: number;
  inputMicroDollars_at_2_per_million: number;
  perAgent: { name: string; depth: number; calls: number; reason: string; contextTokens: number }[];
  rootLeft?: { calls: number; tokens: number; micro: number };
  trace?: Step[];
}
const golden = JSON.parse(readFileSync(new URL('../../golden/linkfarm.json', import.meta.url), 'utf8')) as {
  pages: {
    searchSha256: string;
    lists: { page: number; bytes: number; tokens: number; sha256: string }[];
    reviews: { n: number; bytes: number; sha256: string; viewSha256: string; viewBytes: number }[];
    allReviewsSha256: string;
  };
  nearDuplicate: Record<string, number>;
  withoutBudgets: Outcome;
  withoutBudgetsWindow200k: Outcome;
  withLedger: Outcome;
  variants: Record<string, Outcome>;
};

const handleOf = (text: string): string => sha256(text).slice(0, 16);
const viewOf = (review: number): string => {
  const page = reviewPage(review);
  return capOutput(textOf(page), 16_000, 'head', () => handleOf(page)).text;
};

describe('pages', () => {
  test('search, lists and reviews byte for byte', () => {
    expect(sha256(searchPage())).toBe(golden.pages.searchSha256);
    expect(golden.pages.lists).toHaveLength(3);
    for (const { page, bytes, tokens, sha256: hash } of golden.pages.lists) {
      expect(sha256(listPage(page))).toBe(hash);
      expect(listPage(page)).toHaveLength(bytes);
      expect(Math.ceil(bytes / FARM_BYTES_PER_TOKEN)).toBe(tokens);
    }
    for (const { n, bytes, sha256: hash } of golden.pages.reviews) {
      expect(sha256(reviewPage(n))).toBe(hash);
      expect(reviewPage(n)).toHaveLength(bytes);
    }
    const all = Array.from({ length: FARM_REVIEWS }, (_, index) => reviewPage(index + 1));
    expect(golden.pages.allReviewsSha256).toBe(sha256(all.join('')));
  });

  test('what of a review comes into the context: the marker is inside the 16,000 bytes', () => {
    for (const { n, viewSha256, viewBytes } of golden.pages.reviews) {
      const view = viewOf(n);
      expect(Buffer.byteLength(view)).toBe(viewBytes);
      expect(sha256(view)).toBe(viewSha256);
      expect(view).toMatch(
        /\[truncated: 24000 bytes in all; read more with read_blob\(handle='[0-9a-f]{16}', offset=\d+\)\]$/,
      );
    }
  });

  test('near-duplicates are told from other clusters', () => {
    expect(similarity(viewOf(1), viewOf(9))).toBe(golden.nearDuplicate['jaccard_1_9_same_cluster']);
    expect(similarity(viewOf(1), viewOf(2))).toBe(golden.nearDuplicate['jaccard_1_2_other_cluster']);
    expect(shinglesOf(viewOf(1)).size).toBe(golden.nearDuplicate['shinglesPerReviewView']);
  });
});

describe('runs', () => {
  test.each([
    ['without budgets', farmUngoverned(), golden.withoutBudgets, null],
    ['without budgets, in a window of 200,000', farmUngoverned(), golden.withoutBudgetsWindow200k, 200_000],
  ] as const)('%s', async (_name, settings, want, windowTokens) => {
    const { view } = await farm(settings, { windowTokens, rounds: 10_000 });
    expect(outcomeOf(view)).toEqual(wanted(want));
    const agents = agentsOf(view);
    for (const one of want.perAgent) expect(agents).toContainEqual(one);
    expect(view.callsDropped + view.calls.length).toBe(want.toolCalls + want.delegations);
  });

  test.each([
    ['with the ledger', farmSettings(), golden.withLedger, {}],
    [
      'whatever is left may be carved',
      farmSettings(),
      golden.variants['carveRuleAsInDocumentCode'],
      { carveRule: 'left' },
    ],
    ['every turn is billed', farmSettings({ tokensMean: 'billed' }), golden.variants['tokenChargeBilled'], {}],
    ['one progress for the tree', farmSettings({ noProgress: 'tree' }), golden.variants['progressScopeTree'], {}],
    ['no demand for progress', farmSettings({ noProgress: 'off' }), golden.variants['noProgressOff'], {}],
    ['no output cap', farmSettings({ outputCap: false }), golden.variants['noOutputCap'], {}],
    [
      'no output cap, every turn is billed',
      farmSettings({ outputCap: false, tokensMean: 'billed' }),
      golden.variants['noOutputCapBilled'],
      {},
    ],
  ] as const)('%s', async (_name, settings, want, change) => {
    if (want === undefined) throw new Error('the golden file has this variant');
    const { view, steps } = await farm(settings, change);
    expect(outcomeOf(view)).toEqual(wanted(want));
    expect(agentsOf(view)).toEqual(
      want.perAgent.map((one) => ({ ...one, reason: endedBy(one.reason, one.name, view) })),
    );
    const left = leftOf(view, 'planner');
    expect(left).toEqual({ calls: want.rootLeft?.calls, tokens: want.rootLeft?.tokens, micro: want.rootLeft?.micro });
    if (want.trace === undefined) return;
    expect(steps).toEqual(want.trace);
    const stopped = want.trace.filter(({ noProgress }) => noProgress === 3).map(({ agent }) => [agent, 3]);
    expect(view.trips.map(({ guard, nodeId, count }) => (guard === 'no-progress' ? [nodeId, count] : []))).toEqual(
      stopped,
    );
  });

  test('the traces are in the golden file', () => {
    expect(golden.withLedger.trace).toHaveLength(18);
    expect(golden.variants['tokenChargeBilled']?.trace).toHaveLength(17);
  });
});

const REASONS: Readonly<Record<string, string>> = {
  done: 'done',
  'no-progress': 'no_progress',
  'budget-calls': 'budget_calls',
  'budget-tokens': 'tokens_model_turn',
};

/**
 * Where every turn is billed the golden file names the last thing that was refused, the summary; a run names what ended the
 * work. For an agent whose summary was refused both are looked at: it was out of calls, and it had no closing turn.
 */
function endedBy(reason: string, name: string, view: AgentRunView): string {
  const node = view.nodes.find(({ id }) => id === name);
  const closed = view.turns.some((turn) => turn.nodeId === name && turn.closing);
  if (reason === 'tokens_model_turn') expect(closed).toBe(false);
  return reason === 'tokens_model_turn' && node?.reason === 'budget-calls' ? 'budget_calls' : reason;
}

const agentsOf = (view: AgentRunView): unknown[] =>
  view.nodes.map(({ id, depth, used, reason }) => ({
    name: id,
    depth,
    calls: used.calls,
    reason: REASONS[reason ?? ''] ?? reason,
    contextTokens: used.contextTokens,
  }));

function outcomeOf({ run }: AgentRunView): unknown {
  const { totals } = run;
  return {
    toolCalls: totals.toolCalls,
    delegations: totals.delegations,
    agents: totals.agents,
    modelTurns: totals.modelTurns,
    billedInputTokens: totals.billedInputTokens,
    contextTokensAdded: totals.contextTokens,
    largestTranscript: totals.largestContextTokens,
    wallMs: run.nowMs,
    toolMicroDollars: totals.toolNanoDollars / 1_000,
    inputMicroDollars_at_2_per_million: totals.billedInputTokens * 2,
  };
}

function wanted({ perAgent: _perAgent, rootLeft: _rootLeft, trace: _trace, ...figures }: Outcome): unknown {
  return Object.fromEntries(Object.entries(figures).filter(([name]) => name !== 'perAgentShown'));
}

interface Left {
  calls: number;
  tokens: number;
  micro: number;
}

function leftOf(view: AgentRunView, id: string): Left {
  const node = view.nodes.find((one) => one.id === id);
  if (node === undefined) throw new Error(`no node ${id}`);
  const { limits, used, held, carved } = node;
  // Tokens of the node come from the tree: used.tokens is not shown, so it is what was charged in the meaning of its limit.
  const usedTokens = limits.tokensMean === 'billed' ? used.billedTokens : used.contextTokens;
  return {
    calls: (limits.calls ?? 0) - used.calls - held.calls - carved.calls,
    tokens: (limits.tokens ?? 0) - usedTokens - held.tokens - carved.tokens,
    micro: ((limits.nanoDollars ?? 0) - used.nanoDollars - held.nanoDollars - carved.nanoDollars) / 1_000,
  };
}

async function farm(
  settings: RunSettings,
  { windowTokens = null, ...change }: Parameters<typeof farmTask>[0] & { windowTokens?: number | null },
): Promise<{ view: AgentRunView; steps: Step[] }> {
  const time = virtualTime();
  const steps: Step[] = [];
  const noProgress = new Map<string, number>();
  const { view } = await runAgents({
    time,
    settings,
    task: farmTask(change),
    rootName: 'planner',
    model: farmReader(time.sleep, windowTokens === null ? {} : { windowTokens }),
    tools: linkFarmTools(time.sleep),
    ports: {
      tokensOf: (_text, bytes) => Math.ceil(bytes / FARM_BYTES_PER_TOKEN),
      wordRefusal: ({ words }) => words.padEnd(FARM_REFUSAL_BYTES).slice(0, FARM_REFUSAL_BYTES),
      wordPartial: () => 'p'.repeat(1_200),
      baseTokens: () => FARM_BASE_TOKENS,
      blobs: { ...memoryBlobs(), put: async (text) => handleOf(text.head) },
    },
    // A step is over when its agent speaks again or ends; the moment before is where its trace is taken.
    watch: (change, run) => {
      if (change.kind !== 'nodes') return;
      const now = run.view();
      for (const node of now.nodes) {
        const turns = now.turns.filter((turn) => turn.nodeId === node.id);
        const step = turns.length;
        const calls = now.calls.filter((one) => one.nodeId === node.id && one.step === step);
        const last = turns.at(-1);
        const isOver = last !== undefined && last.endedMs !== null && calls.every(({ endedMs }) => endedMs !== null);
        if (!isOver || calls.length !== last.toolCalls || calls.length === 0) continue;
        if (steps.some((one) => one.agent === node.id && one.step === step)) continue;
        steps.push(stepOf(now, node.id, step, last.contextTokens, calls, noProgress));
      }
    },
  });
  return { view, steps };
}

function stepOf(
  now: AgentRunView,
  agent: string,
  step: number,
  contextBefore: number,
  calls: readonly GatewayCall[],
  counts: Map<string, number>,
): Step {
  const ran = calls.filter(({ outcome }) => outcome === 'done');
  const novelShingles = ran.reduce((sum, one) => sum + (one.newShingles ?? 0), 0);
  const returned = ran.some(({ tool }) => tool === 'delegate');
  const noProgress = novelShingles >= 400 || returned ? 0 : (counts.get(agent) ?? 0) + 1;
  counts.set(agent, noProgress);
  const { calls: callsLeft, tokens: tokensLeft } = leftOf(now, agent);
  return {
    agent,
    step,
    requested: calls.length,
    executed: ran.map(nameOf),
    refused: calls.filter((one) => !ran.includes(one)).map((one) => [nameOf(one), codeOf(one)]),
    contextBefore,
    contextAfter: contextBefore + calls.reduce((sum, one) => sum + one.tokens, 0),
    novelShingles,
    noProgress,
    timeMs: now.run.nowMs,
    callsLeft,
    tokensLeft,
  };
}

function nameOf({ tool, argumentsHead }: GatewayCall): string {
  const args = JSON.parse(argumentsHead) as { query?: string; url?: string; calls?: number };
  if (tool === 'search') return `search:${args.query}`;
  if (tool === 'delegate') return `delegate:${args.calls}`;
  const list = /page=(\d+)/.exec(args.url ?? '')?.[1];
  return list === undefined ? `review:${Number(/\d+$/.exec(args.url ?? '')?.[0])}` : `list:${list}`;
}

function codeOf({ code, exhaustion }: GatewayCall): string {
  if (code === 'budget') return exhaustion?.dimension ?? '';
  return code === 'nothing-to-carve' ? 'nothing left to carve' : (code ?? '');
}

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type NanoDollars, exactDollars, shortDollars } from '../../../shared/contract/costs.ts';
import { type Tokens, tokens } from '../../../shared/contract/units.ts';
import {
  amplification,
  attemptsPerCall,
  costOfCall,
  costOfConversation,
  costOfMonth,
  delegationTree,
  readPriceSet,
  resendSeries,
  resendTokens,
  simulateConversation,
} from '../../../shared/engine/costs/costs.ts';
import { SONNET, valueOf } from './samples.ts';

const read = (name: string): unknown => JSON.parse(readFileSync(`test/golden/${name}.json`, 'utf8'));
const cost = read('cost') as {
  prices: { inputPerMillion: number; outputPerMillion: number };
  rows: { case: string; microDollars: number; inputTokens?: number; display: string }[];
  twentyTurnGrowing: { inputTokens: number; microDollars: number };
};
const bomb = read('toolbomb') as {
  resendCost: {
    rows: { turns: number; toolOutputTokens: number; basePrompt: number; inputTokens: number }[];
    ratio20: number;
    firstCallWithCapOf4000: number;
  };
  retryStorm: {
    layers: number[];
    attemptsPerLogicalCall: number;
    ifRetriesExcludeFirstTry: number;
    singleLayer: number;
  };
  delegationTree: { rows: { fanout: number; depth: number; agents: number; delegations: number }[] };
  amplification: { callsPerKB: number; tokensPerKB: number; tokensPerAttackerToken_at_4_bytes: number };
};

const call = (inputTokens: number, outputTokens: number): NanoDollars | null =>
  valueOf(costOfCall({ inputTokens: tokens(inputTokens), outputTokens: tokens(outputTokens) }, SONNET)).total;
const document = (turns: number, baseTokens = 38_980, addedTokensPerTurn = 0, outputTokensPerTurn = 0) => ({
  turns,
  baseTokens,
  addedTokensPerTurn,
  outputTokensPerTurn,
  historyCached: false,
});

/** Case -> the way to its cost; a case of the file without a way here fails. */
const WAYS: Record<string, () => { total: NanoDollars | null; inputTokens?: Tokens }> = {
  '38,980 input tokens': () => ({ total: call(38_980, 0) }),
  '20 turns of 38,980': () => valueOf(costOfConversation(document(20), SONNET)),
  '20 turns, rounded 780,000': () => ({ total: call(780_000, 0) }),
  '1,000 conversations a day, 30 days': () => {
    const { total } = valueOf(costOfMonth(document(20), { conversationsPerDay: 1_000, days: 30 }, SONNET));
    return { total };
  },
  '8,000 output tokens': () => ({ total: call(0, 8_000) }),
  "2,000 output tokens (thinking 'off')": () => ({ total: call(0, 2_000) }),
  '256 output tokens': () => ({ total: call(0, 256) }),
  '1,930 in + 39 out': () => ({ total: call(1_930, 39) }),
  'reservation 2,034 in + 400 out': () => ({ total: call(2_034, 400) }),
  'resend_cost(20, 500) = 155,000': () => ({ total: lineOf(500).totalCost }),
  'resend_cost(20, 40000) = 7,660,000': () => ({ total: lineOf(40_000).totalCost }),
};

const series = valueOf(
  resendSeries({ turns: 20, basePromptTokens: 3_000, toolOutputTokens: [500, 4_000, 40_000], pointsMax: 200 }, SONNET),
);
function lineOf(size: number): (typeof series.lines)[number] {
  const line = series.lines.find((one) => one.toolOutputTokens === size);
  if (line === undefined) throw new Error(`no line of ${size}`);
  return line;
}

describe('cost.json', () => {
  test('its prices are the shipped ones', () => {
    const set = valueOf(readPriceSet({ ...cost.prices, name: SONNET.name, date: '2026-11-14', source: SONNET.source }));
    expect(set).toEqual(SONNET);
  });

  test.each(cost.rows)('$case', (row) => {
    const found = WAYS[row.case]?.();
    expect(found?.total).toBe(row.microDollars * 1_000);
    if (row.inputTokens !== undefined && found?.inputTokens !== undefined)
      expect(found.inputTokens).toBe(row.inputTokens);
    // The first amount of the display is the exact or the short form.
    const display = /^\$[\d,.]*\d/.exec(row.display)?.[0];
    expect([exactDollars(found?.total ?? null), shortDollars(found?.total ?? null)]).toContain(display);
  });

  test('20 turns that grow by their answers of 60 tokens', () => {
    const found = valueOf(costOfConversation(document(20, 38_980, 60, 60), SONNET));
    expect([found.inputTokens, found.total]).toEqual([
      cost.twentyTurnGrowing.inputTokens,
      cost.twentyTurnGrowing.microDollars * 1_000,
    ]);
  });
});

describe('toolbomb.json', () => {
  test.each(bomb.resendCost.rows)('$turns turns of $toolOutputTokens tokens', (row) => {
    expect(valueOf(resendTokens(row.turns, row.toolOutputTokens, row.basePrompt))).toBe(row.inputTokens);
    const simulated = simulateConversation(document(row.turns, row.basePrompt, row.toolOutputTokens), SONNET);
    expect(valueOf(simulated).inputTokens).toBe(row.inputTokens);
  });

  test('the chart: 155,000 against 7,660,000, 49 times, and 820,000 with outputs capped at 4,000', () => {
    expect(series.turns).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(series.lines.map((line) => [line.totalTokens, line.timesFirst])).toEqual([
      [155_000, 1],
      [bomb.resendCost.firstCallWithCapOf4000, bomb.resendCost.firstCallWithCapOf4000 / 155_000],
      [7_660_000, bomb.resendCost.ratio20],
    ]);
    expect(lineOf(500).inputTokens.slice(0, 3)).toEqual([3_000, 6_500, 10_500]);
  });

  test('retries in layers', () => {
    const { layers } = bomb.retryStorm;
    expect(valueOf(attemptsPerCall(layers))).toBe(bomb.retryStorm.attemptsPerLogicalCall);
    expect(valueOf(attemptsPerCall(layers.map((count) => count + 1)))).toBe(bomb.retryStorm.ifRetriesExcludeFirstTry);
    expect(valueOf(attemptsPerCall(layers.slice(0, 1)))).toBe(bomb.retryStorm.singleLayer);
  });

  test.each(bomb.delegationTree.rows)('fan-out $fanout, $depth deep', ({ fanout, depth, agents, delegations }) => {
    expect(valueOf(delegationTree(fanout, depth))).toEqual({ agents, delegations });
  });

  test('2 KB of planted text', () => {
    expect(valueOf(amplification(2_048, 300, 6_000_000))).toEqual({
      callsPerKilobyte: bomb.amplification.callsPerKB,
      tokensPerKilobyte: bomb.amplification.tokensPerKB,
      tokensPerPlantedToken: bomb.amplification.tokensPerAttackerToken_at_4_bytes,
    });
  });
});

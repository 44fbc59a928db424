/** What a turn adds to a context: what is sent again. Thinking is paid where turns are what is paid, and never sent again. */
import { expect, test } from 'vitest';
import type { AgentModel, TurnAnswer } from '../../../shared/engine/agent/model.ts';
import { call, runAgents, tool } from './harness.ts';

const model = (answer: Partial<TurnAnswer>): AgentModel => ({
  async turn(ask) {
    const toolCalls = ask.turn === 1 ? [call('look')] : [];
    return {
      text: 'Looking.',
      toolCalls,
      promptTokens: null,
      outputTokens: null,
      callId: null,
      failed: null,
      ...answer,
    };
  },
});

async function contexts(answer: Partial<TurnAnswer>, tokensMean: 'context' | 'billed'): Promise<number[]> {
  const { view } = await runAgents({
    model: model(answer),
    tools: [tool('look', () => 'seen')],
    limits: { tokensMean },
    task: { closingCall: false },
    ports: { baseTokens: () => 100, tokensOf: (text) => text.length },
  });
  const [first, second] = view.turns.map((turn) => turn.contextTokens);
  const node = view.nodes[0];
  return [(second ?? 0) - (first ?? 0), (node?.used.contextTokens ?? 0) - 100];
}

test('thinking tokens of a counted reply do not come into the context', async () => {
  const [grown, sum] = await contexts({ outputTokens: 50, thinkingTokens: 40 }, 'context');
  // 10 of the reply and 4 of what the tool brought; the last reply adds its 10 to the sum.
  expect([grown, sum]).toEqual([14, 24]);
});

test('a reply that nobody counted is estimated, not taken for nothing', async () => {
  const [grown] = await contexts({}, 'context');
  expect(grown).toBe('Looking.'.length + 'look{}'.length + 'seen'.length);
});

test('where turns are what is paid, all that was made is paid', async () => {
  const paid = async (thinkingTokens: number): Promise<number> => {
    const { run } = await runAgents({
      model: model({ outputTokens: 50, thinkingTokens }),
      tools: [tool('look', () => 'seen')],
      limits: { tokensMean: 'billed' },
      task: { closingCall: false },
      ports: { baseTokens: () => 100, tokensOf: (text) => text.length },
    });
    return run.restart().tree.nodes[0]?.used.tokens ?? 0;
  };
  // Two turns of 50, and the contexts before them: 100, and 100 with what was kept and brought in.
  expect([await paid(0), await paid(40)]).toEqual([50 * 2 + 100 + 154, 50 * 2 + 100 + 114]);
});

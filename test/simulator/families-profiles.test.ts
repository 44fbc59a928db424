/** What a person without an Ollama sees of thinking: the built-in brain behind each family's parser, think on and off. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator } from '../../shared/node/simulator/options.ts';
import { rawRequest } from './raw-http.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ port: 0, timeScale: 0 });
});
afterAll(() => simulator.stop());

interface Reply {
  error?: string;
  message?: { content: string; thinking?: string };
  done_reason?: string;
  eval_count?: number;
  logprobs?: unknown[];
}

async function ask(model: string, more: object): Promise<Reply> {
  const messages = [{ role: 'user', content: 'The launch code is ZEBRA-7741. What is the launch code?' }];
  const reply = await rawRequest(simulator.url, {
    method: 'POST',
    path: '/api/chat',
    body: { model, messages, stream: false, options: { num_predict: 120 }, ...more },
  });
  return JSON.parse(reply.body) as Reply;
}

type Kind =
  | 'clean'
  | 'leaked with tags'
  | 'leaked without the first tag'
  | 'not obeyed'
  | 'hidden'
  | 'answer as thinking'
  | 'nothing';

function kindOf(reply: Reply, tokensOfAnswer: number): Kind {
  const { content = '', thinking = '' } = reply.message ?? {};
  if (content === '') return thinking.includes('ZEBRA-7741') ? 'answer as thinking' : 'nothing';
  if (content.startsWith('<think>')) return 'leaked with tags';
  if (content.includes('</think>')) return 'leaked without the first tag';
  if (thinking !== '') return 'not obeyed';
  return (reply.eval_count ?? 0) > tokensOfAnswer + 5 ? 'hidden' : 'clean';
}

describe('think off', () => {
  test.each<[string, Kind]>([
    ['sim-think', 'clean'],
    ['sim-lfm2', 'leaked with tags'],
    ['sim-qwen3.5', 'leaked without the first tag'],
    ['sim-deepseek3', 'leaked without the first tag'],
    ['sim-glm-4.7', 'leaked without the first tag'],
    ['sim-harmony', 'not obeyed'],
    ['sim-olmo3-think', 'not obeyed'],
    ['sim-qwen3-vl-thinking', 'not obeyed'],
    ['sim-gemma4', 'hidden'],
    ['sim-unthinking', 'clean'],
  ])('%s: %s', async (model, kind) => {
    const answer = await ask('sim-honest', {});
    expect(kindOf(await ask(model, { think: false }), answer.eval_count ?? 0)).toBe(kind);
  });

  test('logprobs count the hidden tokens', async () => {
    const reply = await ask('sim-gemma4', { think: false, logprobs: true });
    expect(reply.logprobs).toHaveLength((reply.eval_count ?? 0) - 1);
  });
});

describe('structured output', () => {
  const format = { type: 'object', properties: { code: { type: 'string' } } };

  test.each(['sim-think', 'sim-qwen3.5', 'sim-gemma4', 'sim-harmony', 'sim-unthinking', 'sim-honest'])(
    '%s: valid JSON, with think on and off',
    async (model) => {
      for (const think of model === 'sim-honest' ? [undefined] : [undefined, false]) {
        const { message } = await ask(model, { format, think });
        const said = message?.content === '' ? message.thinking : message?.content;
        expect(Object.keys(JSON.parse(said ?? '') as object)).toEqual(['code']);
      }
    },
  );

  test('the thinking of pass 1 costs prompt tokens in pass 2', async () => {
    const plain = (await ask('sim-think', {})) as Reply & { prompt_eval_count: number };
    const bound = (await ask('sim-think', { format })) as Reply & { prompt_eval_count: number };
    expect(bound.prompt_eval_count).toBeGreaterThan(plain.prompt_eval_count + 10);
    expect(bound.message?.thinking).toContain('The user asks');
  });
});

describe('think on', () => {
  test.each([
    'sim-think',
    'sim-lfm2',
    'sim-qwen3.5',
    'sim-deepseek3',
    'sim-glm-4.7',
    'sim-harmony',
    'sim-olmo3-think',
    'sim-qwen3-vl-thinking',
    'sim-gemma4',
  ])('%s: thinking and answer come apart; unsaid is on', async (model) => {
    for (const more of [{ think: true }, {}]) {
      const { message } = await ask(model, more);
      expect(message?.content.trim()).toBe('The launch code is ZEBRA-7741.');
      expect(message?.thinking).toContain('The user asks for the launch code.');
    }
  });

  test('sim-unthinking: the whole answer arrives as thinking', async () => {
    expect(kindOf(await ask('sim-unthinking', { think: true }), 0)).toBe('answer as thinking');
  });

  test('sim-overthink: the bound ends inside the thinking', async () => {
    const reply = await ask('sim-overthink', {});
    expect({ content: reply.message?.content, reason: reply.done_reason, tokens: reply.eval_count }).toEqual({
      content: '',
      reason: 'length',
      tokens: 120,
    });
  });

  test('sim-harmony: higher levels think longer', async () => {
    const lengths = await Promise.all(
      ['low', 'medium', 'high'].map(
        async (think) => (await ask('sim-harmony', { think })).message?.thinking?.length ?? 0,
      ),
    );
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(new Set(lengths).size).toBe(3);
  });

  test('a model that cannot think refuses', async () => {
    expect((await ask('sim-honest', { think: true })).error).toBe('"sim-honest" does not support thinking');
  });
});

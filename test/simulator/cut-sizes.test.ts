/** Sizes of the token cut: the table, its edges, and 200 requests nobody has recorded, against the rule written down again here. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { behaviourOf } from '../../shared/node/simulator/behaviour.ts';
import { profileOf, startSimulator, type Simulator } from '../../shared/node/simulator/index.ts';
import { cutSizes } from '../../shared/node/simulator/prompt.ts';
import { contentOf, filler, logged, post } from './with-simulator.ts';

const golden = JSON.parse(readFileSync(new URL('../golden/truncation.json', import.meta.url), 'utf8')) as {
  table: { numCtx: number; numKeep: number; bos: boolean; keep: number; limit: number; triggerAbove: number }[];
  document: { prompt: number; numCtx: number; truncated: boolean; new: number; keep: number }[];
};
const newest = behaviourOf('0.33.0-rc2');

test('every row of the table, at the cliff and far above', () => {
  for (const row of golden.table) {
    expect(cutSizes(newest, row.triggerAbove, row.numCtx, row.numKeep, row.bos), JSON.stringify(row)).toBeNull();
    for (const count of [row.triggerAbove + 1, row.numCtx * 7]) {
      expect(cutSizes(newest, count, row.numCtx, row.numKeep, row.bos)).toEqual({
        limit: row.limit,
        keep: row.keep,
        kept: row.limit,
      });
    }
  }
});

test('the documents of the classic experiment', () => {
  for (const row of golden.document) {
    const sizes = cutSizes(newest, row.prompt, row.numCtx, 4, true);
    expect(sizes?.kept ?? row.prompt, JSON.stringify(row)).toBe(row.new);
    expect(sizes !== null).toBe(row.truncated);
  }
});

test.each([
  ['0.24.0', 5000, { limit: 4096, keep: 4, kept: 4096 }],
  ['0.24.0', 4096, null],
  ['0.30.0', 5000, { limit: 4096, keep: 4, kept: 4095 }],
  ['0.30.10', 5000, { limit: 4095, keep: 4, kept: 4095 }],
  ['0.30.10', 4095, null],
  ['0.30.11', 5000, { limit: 2051, keep: 5, kept: 2051 }],
])('server %s with %i tokens at 4096', (version, count, expected) => {
  expect(cutSizes(behaviourOf(version), count, 4096, 4, true)).toEqual(expected);
});

describe('200 random requests', () => {
  const random = seeded(20_261_129);
  const versions = ['0.33.0-rc2', '0.30.11', '0.30.5', '0.24.0'];
  const simulators = new Map<string, Simulator>();
  beforeAll(async () => {
    for (const version of versions)
      simulators.set(version, await startSimulator({ port: 0, timeScale: 0, debug: true, version, profiles: models }));
  });
  afterAll(async () => {
    for (const simulator of simulators.values()) await simulator.stop();
  });

  for (let index = 0; index < 200; index += 1) {
    const ask = randomAsk(random, versions[index % 8 < 5 ? 0 : (index % 8) - 4] ?? '0.33.0-rc2');
    test(`${index}: ${JSON.stringify({ ...ask, text: ask.text.length })}`, async () => {
      const simulator = simulators.get(ask.version) as Simulator;
      const from = simulator.logLines().length;
      const options = {
        num_ctx: ask.numCtx,
        num_predict: 1,
        ...(ask.numKeep === null ? {} : { num_keep: ask.numKeep }),
      };
      const reply = await post(simulator, '/api/generate', {
        model: ask.bos ? 'with-bos' : 'no-bos',
        prompt: ask.text,
        raw: true,
        stream: false,
        options,
      });
      expect(reply.status, reply.text).toBe(200);
      const counted = reply.last['prompt_eval_count'] as number;
      const warning = logged(simulator, 'truncating input prompt', from).at(-1);
      const prompt = simulator.state.tokenizer.count(ask.text) + (ask.bos ? 1 : 0);
      const expected = ruleOf(ask.version, prompt, ask.numCtx, ask.numKeep ?? 4, ask.bos);
      expect({ counted, warned: warning !== undefined }).toEqual({
        counted: expected ?? prompt,
        warned: expected !== null,
      });
      if (expected !== null) expect(warning).toMatch(new RegExp(` prompt=${prompt} keep=\\d+ new=${expected}$`));
    });
  }
});

test('head and tail survive, the middle does not, and the answer shows it', async () => {
  const simulator = await startSimulator({ port: 0, timeScale: 0, profiles: models });
  try {
    const ask = (needleAt: number): string => {
      const text = filler(12_000);
      return `${text.slice(0, needleAt)} The vault word is OTTER-2210. ${text.slice(needleAt)}\n\nWhat is the vault word? Answer with the word only.`;
    };
    const answerAt = async (needleAt: number, numKeep: number): Promise<string> =>
      contentOf(
        await post(simulator, '/api/generate', {
          model: 'with-bos',
          prompt: ask(needleAt),
          stream: false,
          options: { num_ctx: 1024, num_keep: numKeep },
        }),
      );
    expect(await answerAt(11_500, 4)).toBe('OTTER-2210');
    expect(await answerAt(6_000, 4)).toMatch(/cannot find/);
    expect(await answerAt(0, 4)).toMatch(/cannot find/);
    expect(await answerAt(0, 40)).toBe('OTTER-2210');
  } finally {
    await simulator.stop();
  }
});

const models = [profileOf({ name: 'with-bos:latest' }), profileOf({ name: 'no-bos:latest', addBos: false })];

interface Ask {
  readonly version: string;
  readonly numCtx: number;
  readonly numKeep: number | null;
  readonly bos: boolean;
  readonly text: string;
}

function randomAsk(random: () => number, version: string): Ask {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const numCtx = pick([4, 5, 7, 64, 100, 256, 300, 512, 777, 1024, 2048, 4096, 8192, 4 + Math.floor(random() * 6000)]);
  const numKeep = pick([null, null, null, 0, 1, 24, 64, -1, numCtx - 1, numCtx, 99_999, Math.floor(random() * numCtx)]);
  const words = pick([pieces.latin, pieces.code, pieces.japanese, pieces.emoji, pieces.mixed]);
  // Around the cliff, and far above.
  const wanted = Math.max(1, Math.floor(numCtx * pick([0.3, 0.9, 1, 1, 1.02, 1.5, 3]) + random() * 6 - 3));
  let text = '';
  while (text.length < wanted * 6 && text.length < 60_000) text += pick(words);
  return { version, numCtx, numKeep, bos: random() < 0.5, text: text.slice(0, Math.max(1, wanted * pick([1, 2, 4]))) };
}

const pieces = {
  latin: ['The tide ', 'counted ', 'every lamp. ', 'A keeper answered, ', 'then 42 bells rang; '],
  code: ['for (let i = 0; ', 'items[i].count += 1;\n', 'if (a && !b) {', '}\n  return x;\n'],
  japanese: ['今日は', '天気がいいので、', '公園を散歩しました。'],
  emoji: ['🙂', '🚀', '🌍 ', '👩‍🚀'],
  mixed: ['Straße ', '한국어 ', 'слово ', '12,345 ', '🙂', '今日', '\n\n', 'CAPITALS '],
};

/** The rule of the table once more, on its own: size of what is kept, or null. */
function ruleOf(version: string, prompt: number, numCtx: number, numKeep: number, bos: boolean): number | null {
  if (version === '0.24.0') return prompt > numCtx ? numCtx : null;
  if (prompt <= numCtx - 1) return null;
  if (version === '0.30.5') return numCtx - 1;
  const keep = Math.min((numKeep < 0 ? prompt : numKeep) + (bos ? 1 : 0), numCtx - 1);
  return numCtx - Math.max(Math.floor((numCtx - keep) / 2), 1);
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

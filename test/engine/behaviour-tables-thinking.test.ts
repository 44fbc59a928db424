/**
 * What servers do with thinking, row by row: the kinds that were measured, and the rules that stand in the source. Texts are made
 * by hand in the shape of each row. Rows that are no verdict are in `elsewhere`, with the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../shared/node/simulator/index.ts';
import type { ReasoningVerdict } from '../../shared/contract/verdicts.ts';
import { type RecordedCall, ask, askChat, recorded } from './behaviour-cases.ts';
import { type Reply, read, readPieces } from './reasoning/support.ts';

const PLAN = 'The user asks whether 91 is prime. Let me test the small divisors: 91 = 7 x 13, so it is not.';
/** Long enough to take 120 tokens. */
const THOUGHT = `${PLAN} `.repeat(4);
const off = { think: false } as const;
const capped = { doneReason: 'length', evalCount: 120 } as const;

type Shown = Partial<Omit<ReasoningVerdict, 'split'>> & { readonly split?: object };
type Row = readonly [row: string, family: string, reply: Reply, expected: Shown];

const leaked = (content: string): Reply => ({ content, settings: off });
const inField = (thinking: string, content: string): Reply => ({ thinking, content, settings: off });
const notObeyed = (place: 'answer-tagged' | 'field'): Shown => ({
  places: [place],
  obedience: 'not-obeyed',
  suspected: null,
});

const measured: readonly Row[] = [
  ...['template', 'qwen3.5', 'deepseek3', 'lfm2'].map((family): Row => [
    'think off leaks the whole reasoning, tags and all',
    family,
    leaked(`<think>\n${PLAN}\n</think>\n\nNo.`),
    { ...notObeyed('answer-tagged'), outcome: 'answered', answer: 'No.' },
  ]),
  ...['qwen3.5', 'deepseek3', 'glm-4.7'].flatMap((family): Row[] => [
    [
      'think off leaks it without tags',
      family,
      leaked(`${PLAN}\n</think>\n\nNo.`),
      { ...notObeyed('answer-tagged'), outcome: 'answered', answer: 'No.' },
    ],
    [
      'think off leaks it without tags',
      `${family}, and no closing tag came`,
      { content: THOUGHT, settings: off, end: capped },
      { outcome: 'answered', places: [], suspected: 'answer-untagged', obedience: 'suspect', complete: false },
    ],
  ]),
  ...['harmony', 'olmo3-think', 'qwen3-vl-thinking', 'glm-4.7'].map((family): Row => [
    'think off not obeyed, reasoning in its field',
    family,
    inField(PLAN, 'No.'),
    { ...notObeyed('field'), outcome: 'answered', answer: 'No.' },
  ]),
  [
    'think off obeyed on the surface, tokens hidden',
    'gemma4',
    { content: 'Yes.', settings: off, end: { evalCount: 29 } },
    { outcome: 'answered', answer: 'Yes.', places: ['hidden'], obedience: 'suspect' },
  ],
  [
    'think off obeyed on the surface, tokens hidden',
    'gemma4, few enough to be the answer alone',
    { content: 'Yes.', settings: off, end: { evalCount: 3 } },
    { places: ['none'], obedience: 'obeyed' },
  ],
  ...['qwen3.5', 'deepseek3', 'glm-4.7', 'olmo3-think', 'qwen3-vl-thinking'].map((family): Row => [
    'the whole answer arrives as thinking',
    family,
    { thinking: 'No.' },
    {
      outcome: 'starved',
      cause: 'stop',
      suspected: 'answer-in-field',
      probableAnswer: 'No.',
      answer: '',
      complete: true,
    },
  ]),
  ...['deepseek3', 'glm-4.7', 'olmo3-think', 'qwen3-vl-thinking'].map((family): Row => [
    'a stray opening tag stays inside the thinking text',
    family,
    { thinking: `<think>${PLAN}`, content: 'No.' },
    { outcome: 'answered', places: ['field'], answer: 'No.', thinkingCharacters: PLAN.length as never },
  ]),
  ...['template', 'lfm2'].map((family): Row => [
    'a lone closing tag stays in the answer',
    family,
    { content: '</think>\n\nNo.', settings: off },
    { outcome: 'answered', answer: 'No.', places: ['none'], obedience: 'obeyed' },
  ]),
  [
    'a second think block stays in the answer',
    'all',
    { thinking: PLAN, content: `No.\n<think>${PLAN}</think>\nNo, it is not.` },
    { outcome: 'answered', places: ['answer-tagged', 'field'] },
  ],
  [
    'cap inside thinking: content empty, length',
    'in its field',
    { thinking: THOUGHT, end: capped },
    { outcome: 'starved', cause: 'cap', endedBy: 'cap', answer: '', complete: false },
  ],
  [
    'cap inside thinking: content empty, length',
    'in a tag that was not closed',
    { content: `<think>${THOUGHT}`, end: capped },
    { outcome: 'starved', cause: 'cap', places: ['answer-tagged'], answer: '' },
  ],
];

describe('thinking, by what the parser of the family does', () => {
  test.each(measured)('%s: %s', (_row, _family, reply, expected) => {
    expect(read(reply)).toMatchObject(expected);
  });

  test.each(['template', 'qwen3.5', 'lfm2'])('tags split over tokens are joined again: %s', () => {
    const pieces = ['<', 'thi', 'nk', '>', PLAN, '</', 'think', '>', 'No.'].map((content) => ({ content }));
    expect(readPieces(pieces, { settings: off })).toMatchObject({
      places: ['answer-tagged'],
      obedience: 'not-obeyed',
      answer: 'No.',
    });
  });

  test('every row has a case', () => {
    // Nine here, and the tags that are split over tokens.
    expect(new Set(measured.map(([row]) => row)).size).toBe(9);
  });
});

const done = { done: true, done_reason: 'stop', prompt_eval_count: 14, eval_count: 40 };
const question = { model: 'm', stream: false };
const chat = (reply: object, more: Partial<RecordedCall> = {}): RecordedCall => ({
  body: { ...question, messages: [{ role: 'user', content: 'Is 91 prime?' }] },
  reply: { model: 'm', ...reply, ...done },
  ...more,
});
const refused = (error: string): Reply => ({ end: { status: 400, ending: 'refused', doneReason: null, error } });
const entry = (text: string): { token: string; bytes: null } => ({ token: text, bytes: null });

const rules: readonly Row[] = [
  [
    'absent think means on',
    'nothing was asked, so nothing was disobeyed',
    { thinking: PLAN, content: 'No.', settings: { think: null } },
    { places: ['field'], obedience: 'not-asked' },
  ],
  [
    'absent think means on',
    'on and not capable',
    refused('"m" does not support thinking'),
    { outcome: 'refused', cause: 'capability' },
  ],
  [
    'absent think means on',
    'off and not capable is fine',
    { content: 'No.', settings: off },
    { outcome: 'answered', places: ['none'], obedience: 'obeyed' },
  ],
  ...[true, 'low', 'medium', 'high', 'max', null].map((think): Row => [
    'levels are all on',
    String(think),
    { thinking: PLAN, content: 'No.', settings: { think } },
    { outcome: 'answered', obedience: 'not-asked', places: ['field'] },
  ]),
  [
    'levels are all on',
    'no such level',
    refused('invalid think value: "much" (must be "high", "medium", "low", "max", true, or false)'),
    { outcome: 'refused', cause: 'think-value' },
  ],
  [
    'one count, one cap',
    'cap inside thinking',
    { thinking: THOUGHT, end: capped },
    { outcome: 'starved', cause: 'cap', split: { thinkingTokens: 120, answerTokens: 0 } },
  ],
  [
    'one count, one cap',
    'cap inside the answer',
    { thinking: THOUGHT, content: 'No, bec', end: capped },
    { outcome: 'answered', endedBy: 'cap', cause: null, complete: false },
  ],
  ['think off: gpt-oss, harmony', 'in its field', inField(PLAN, 'No.'), notObeyed('field')],
  ['think off: olmo3-think, glm-4.7', 'in its field', inField(PLAN, 'No.'), notObeyed('field')],
  [
    'think off: gemma4, glimmer, laguna',
    'discarded, without entries',
    { content: 'No.', settings: off, end: { evalCount: 45 } },
    { places: ['hidden'], obedience: 'suspect', answer: 'No.' },
  ],
  [
    'think off: gemma4, glimmer, laguna',
    'discarded, with entries',
    {
      content: 'No.',
      settings: off,
      end: { evalCount: 8 },
      more: { logprobs: ['I', ' test', ' seven', ' and', ' nine', 'No', '.'].map(entry) },
    },
    { places: ['hidden'], obedience: 'not-obeyed', split: { source: 'counted', answerTokens: 2, hiddenTokens: 5 } },
  ],
  [
    'think off: qwen3, deepseek3, cogito, lfm2, nemotron, template',
    'raw block in the answer',
    leaked(`<think>${PLAN}</think>No.`),
    { ...notObeyed('answer-tagged'), answer: 'No.' },
  ],
  ['think off: native', 'reasoning content is forwarded', inField(PLAN, 'No.'), notObeyed('field')],
  ['think off: native', 'its parser leaves the block', leaked(`<think>${PLAN}</think>No.`), notObeyed('answer-tagged')],
  ['think off: native', 'obeyed', leaked('No.'), { places: ['none'], obedience: 'obeyed' }],
  [
    'measuring burn',
    'entries are a count',
    { thinking: 'a b', content: 'Yes.', end: { evalCount: 5 }, more: { logprobs: ['a', ' b', 'Yes', '.'].map(entry) } },
    { split: { source: 'counted', basis: 'logprobs', thinkingTokens: 2, answerTokens: 2, otherTokens: 1 } },
  ],
  [
    'structured output in two passes',
    'thinking stands outside the count',
    {
      thinking: PLAN.repeat(4),
      content: '{"prime":false}',
      settings: { structured: true },
      end: { promptEvalCount: 140, evalCount: 6 },
    },
    { outcome: 'answered', places: ['field'], split: { thinkingOutsideCount: true } },
  ],
  [
    'structured output in two passes',
    'cap inside the first pass',
    { thinking: THOUGHT, settings: { structured: true }, end: capped },
    { outcome: 'starved', cause: 'cap' },
  ],
  [
    'structured output in two passes',
    'off: one pass',
    { content: '{"prime":false}', settings: { structured: true, think: false }, end: { evalCount: 6 } },
    { outcome: 'answered', obedience: 'obeyed', split: { thinkingOutsideCount: false } },
  ],
];

/** Rows that are no verdict about a reply: where they are held instead. */
const elsewhere = {
  'where the capability comes from':
    'the console reads it from /api/show: it decides which controls are offered, not what a reply means',
  'thinking of earlier turns is replayed or stripped':
    'it changes the size of the next prompt, which is read from its count like any other',
} as const;

describe('thinking, by the rules', () => {
  test.each(rules)('%s: %s', (_row, _part, reply, expected) => {
    expect(read(reply)).toMatchObject(expected);
  });

  test.each<[string, RecordedCall]>([
    ['message.thinking of chat', chat({ message: { role: 'assistant', content: 'No.', thinking: PLAN } })],
    [
      'thinking of generate',
      {
        path: '/api/generate',
        body: { ...question, prompt: 'Is 91 prime?' },
        reply: { model: 'm', response: 'No.', thinking: PLAN, ...done },
      },
    ],
    [
      'reasoning of /v1',
      {
        ...chat({}),
        path: '/v1/chat/completions',
        reply: {
          object: 'chat.completion',
          model: 'm',
          choices: [
            { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'No.', reasoning: PLAN } },
          ],
          usage: { prompt_tokens: 14, completion_tokens: 40 },
        },
      },
    ],
  ])('output is split, whatever the route: %s', (_name, call) => {
    expect(recorded(call).reasoning).toMatchObject({
      outcome: 'answered',
      places: ['field'],
      answer: 'No.',
      complete: true,
    });
  });

  test('measuring burn: chunks a kind, scaled to the count', () => {
    const pieces = [
      ...Array.from({ length: 30 }, () => ({ thinking: ' plan' })),
      ...Array.from({ length: 10 }, () => ({ content: ' word' })),
    ];
    const { split } = readPieces(pieces, { end: { evalCount: 45 } });
    expect(split).toMatchObject({
      source: 'estimated',
      basis: 'chunks',
      thinkingTokens: 33,
      answerTokens: 11,
      otherTokens: 1,
      errorTokens: 5,
    });
  });

  test('every row has a case', () => {
    // Ten by fields; the route and the chunks have tests of their own.
    expect(new Set(rules.map(([row]) => row)).size).toBe(10);
    expect(Object.values(elsewhere).every((reason) => reason.length > 20)).toBe(true);
  });
});

/** The same rows with a server in between: a model of each family that thinks whatever was asked. */
describe('think off against the simulator', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ port: 0, timeScale: 0 });
  });
  afterAll(() => simulator.stop());

  test.each([
    ['sim-harmony', ['field'], 'not-obeyed'],
    ['sim-olmo3-think', ['field'], 'not-obeyed'],
    ['sim-qwen3-vl-thinking', ['field'], 'not-obeyed'],
    ['sim-gemma4', ['hidden'], 'suspect'],
    ['sim-qwen3.5', ['answer-tagged'], 'not-obeyed'],
    ['sim-deepseek3', ['answer-tagged'], 'not-obeyed'],
    ['sim-lfm2', ['answer-tagged'], 'not-obeyed'],
    ['sim-think', ['none'], 'obeyed'],
  ])('%s', async (model, places, obedience) => {
    const { reasoning } = await askChat(simulator, 'Is 91 a prime number?', { model, think: false });
    expect(reasoning).toMatchObject({ outcome: 'answered', places, obedience });
  });

  test('a model that does not think in a family that expects it', async () => {
    const { reasoning } = await askChat(simulator, 'Say hello.', { model: 'sim-unthinking', think: true });
    expect(reasoning).toMatchObject({ outcome: 'starved', cause: 'stop', suspected: 'answer-in-field' });
  });

  test('structured output runs twice', async () => {
    const body = {
      model: 'sim-qwen3.5',
      messages: [{ role: 'user', content: 'Is 91 a prime number?' }],
      stream: false,
      think: true,
      format: 'json',
    };
    const { reasoning, status } = await ask(simulator, '/api/chat', body);
    expect([status, reasoning?.outcome, reasoning?.places]).toEqual([200, 'answered', ['field']]);
  });
});

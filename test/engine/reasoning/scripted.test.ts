import { describe, expect, test } from 'vitest';
import { readRecording } from '../../../shared/engine/explain/recording.ts';
import { readReplyBody } from '../../../shared/engine/explain/reply-body.ts';
import { explain } from '../../../shared/engine/explain/explain.ts';
import { createReasoningReader } from '../../../shared/engine/reasoning/reader.ts';
import { recordedPieces, recordedStructured, recordedThink } from '../../../shared/engine/reasoning/recorded.ts';
import type { ReasoningVerdict } from '../../../shared/contract/verdicts.ts';
import { ended, fromTests, scriptedFiles, settings } from './support.ts';

interface File {
  readonly request: { readonly body: Record<string, unknown> & { options?: { num_predict?: number } } };
  readonly response: { readonly status: number; readonly body: string };
}

/** outcome, cause, places, obedience, answer. */
type Row = readonly [string, string | null, string, string, string];

const YES = 'Yes.';
const JSON_ANSWER = '{"answer": 7}';
const HA = 'ha '.repeat(31).trim();
const expected: Readonly<Record<string, Row>> = {
  'cap-inside-thinking-stream': ['starved', 'cap', 'field', 'not-asked', ''],
  'die-stream': ['error-mid-stream', null, '', 'not-asked', 'one two'],
  'die-whole': ['refused', 'server', '', 'not-asked', ''],
  'format-think-stream': ['answered', null, 'answer-tagged+field', 'not-asked', JSON_ANSWER],
  'format-think-whole': ['answered', null, 'answer-tagged+field', 'not-asked', JSON_ANSWER],
  'generate-think-cap': ['starved', 'cap', 'field', 'not-asked', ''],
  'generate-think-whole': ['answered', null, 'field', 'not-asked', YES],
  'logprobs-s-gemma4-off': ['answered', null, 'hidden', 'not-obeyed', YES],
  'logprobs-s-gemma4-on': ['answered', null, 'field', 'not-asked', YES],
  'logprobs-s-harmony-off': ['answered', null, 'field', 'not-obeyed', YES],
  'logprobs-s-harmony-on': ['answered', null, 'field', 'not-asked', YES],
  'logprobs-s-qwen35-off': ['answered', null, 'answer-tagged', 'not-obeyed', YES],
  'logprobs-s-qwen35-on': ['answered', null, 'field', 'not-asked', YES],
  'multibyte-stream': ['answered', null, 'none', 'not-asked', 'Zürich → 日本 🙂 <b>&amp;</b>'],
  'multibyte-whole': ['answered', null, 'none', 'not-asked', 'Zürich → 日本 🙂 <b>&amp;</b>'],
  'repeat-stream': ['cut', null, '', 'not-asked', HA],
  'repeat-whole': ['cut', null, '', 'not-asked', HA],
  'stream-s-gemma4-off': ['answered', null, 'hidden', 'suspect', YES],
  'stream-s-gemma4-on': ['answered', null, 'field', 'not-asked', YES],
  'stream-s-harmony-off': ['answered', null, 'field', 'not-obeyed', YES],
  'stream-s-harmony-on': ['answered', null, 'field', 'not-asked', YES],
  'stream-s-qwen35-off': ['answered', null, 'answer-tagged', 'not-obeyed', YES],
  'stream-s-qwen35-on': ['answered', null, 'field', 'not-asked', YES],
  'think-level-banana': ['refused', 'think-value', '', 'not-asked', ''],
  'think-level-banana-qwen3': ['refused', 'think-value', '', 'not-asked', ''],
  'think-level-high': ['answered', null, 'field', 'not-asked', YES],
  'think-level-high-qwen3': ['answered', null, 'field', 'not-asked', YES],
  'think-level-low': ['answered', null, 'field', 'not-asked', YES],
  'think-level-low-qwen3': ['answered', null, 'field', 'not-asked', YES],
  'think-level-max': ['answered', null, 'field', 'not-asked', YES],
  'think-level-max-qwen3': ['answered', null, 'field', 'not-asked', YES],
  'tool-broken-qwen3-stream': ['refused', 'server', '', 'not-asked', ''],
  'tool-broken-qwen3-whole': ['refused', 'server', '', 'not-asked', ''],
  'tool-broken-qwen35-stream': ['refused', 'server', '', 'not-asked', ''],
  'tool-broken-qwen35-whole': ['refused', 'server', '', 'not-asked', ''],
  'tool-harmony-stream': ['tool-only', null, 'field', 'not-asked', ''],
  'tool-harmony-whole': ['tool-only', null, 'field', 'not-asked', ''],
  'tool-qwen3-stream': ['tool-only', null, 'none', 'not-asked', ''],
  'tool-qwen3-whole': ['tool-only', null, 'none', 'not-asked', ''],
  'tool-round-trip': ['starved', 'stop', 'field', 'not-asked', ''],
  'tool-think-qwen3-stream': ['tool-only', null, 'field', 'not-asked', ''],
  'tool-think-qwen3-whole': ['tool-only', null, 'field', 'not-asked', ''],
  'tool-two-qwen3-stream': ['tool-only', null, 'none', 'not-asked', ''],
  'tool-two-qwen3-whole': ['tool-only', null, 'none', 'not-asked', ''],
  'v1-messages-think': ['answered', null, 'field', 'not-asked', YES],
  'v1-messages-tool': ['tool-only', null, 'none', 'not-asked', ''],
  'v1-think': ['answered', null, 'field', 'not-asked', YES],
  'v1-think-none': ['answered', null, 'none', 'obeyed', YES],
  'v1-think-stream': ['answered', null, 'field', 'not-asked', YES],
  'v1-tool': ['tool-only', null, 'none', 'not-asked', ''],
  'v1-tool-stream': ['tool-only', null, 'none', 'not-asked', ''],
};

const open = (name: string) => fromTests<File>(`fixtures/scripted/${name}.json`);

function verdictOf(name: string): ReasoningVerdict {
  const { request, response } = open(name);
  const reply = readReplyBody(response.body);
  if (reply === null) throw new TypeError(`${name} is no reply`);
  const reader = createReasoningReader({
    ...settings,
    think: recordedThink(request.body),
    numPredict: request.body.options?.num_predict ?? null,
    structured: recordedStructured(request.body),
  });
  for (const piece of recordedPieces(response.body).pieces) reader.push(piece);
  return reader.finish({
    ...ended,
    ending: reply.done ? 'done' : 'cut',
    doneReason: reply.doneReason,
    promptEvalCount: reply.promptEvalCount,
    evalCount: reply.evalCount,
  });
}

describe('the recorded replies of scripted models', () => {
  test('none of them is left out', () => {
    expect(Object.keys(expected).sort()).toEqual(scriptedFiles());
  });

  test.each(scriptedFiles())('%s', (name) => {
    const result = explain({ text: JSON.stringify(open(name)) });
    if (!result.ok || result.value.reasoning === null) throw new TypeError(`${name} has no reading`);
    const { outcome, cause, places, obedience, answer } = result.value.reasoning;
    expect([outcome, cause, places.join('+'), obedience, answer]).toEqual(expected[name]);
  });

  test('the guard against repeating is told from a broken connection', () => {
    expect(verdictOf('repeat-stream').endedBy).toBe('repeat');
    expect(verdictOf('repeat-whole').endedBy).toBe('repeat');
    expect(verdictOf('die-stream').endedBy).toBe('connection');
  });

  test('the whole answer in the thinking field is offered, and not moved', () => {
    const { answer, suspected, probableAnswer, next } = verdictOf('tool-round-trip');
    expect({ answer, suspected, probableAnswer, next }).toEqual({
      answer: '',
      suspected: 'answer-in-field',
      probableAnswer: 'Yes.',
      next: 'The probable answer is in the thinking field: look and use it from there.',
    });
  });

  test('a recording that is no reply to a question has no answer to judge', () => {
    expect(readRecording('').ok).toBe(false);
    expect(recordedPieces('not json').pieces).toEqual([]);
  });
});

describe('the split of the recorded replies', () => {
  const split = (name: string) => {
    const verdict = verdictOf(name).split;
    if (verdict === null) throw new TypeError(`${name} has no split`);
    const { source, basis, thinkingTokens, answerTokens, hiddenTokens, otherTokens, errorTokens } = verdict;
    return [source, basis, thinkingTokens, answerTokens, hiddenTokens, otherTokens, errorTokens];
  };

  test.each([
    // The text has 22 tokens of thinking, 1 of answer; markers and the end token are the rest.
    ['logprobs-s-gemma4-on', ['counted', 'logprobs', 22, 1, 0, 6, 0]],
    ['logprobs-s-gemma4-off', ['counted', 'logprobs', 0, 1, 22, 6, 0]],
    ['logprobs-s-harmony-on', ['counted', 'logprobs', 22, 1, 0, 10, 0]],
    ['logprobs-s-harmony-off', ['counted', 'logprobs', 22, 1, 0, 10, 0]],
    ['logprobs-s-qwen35-on', ['counted', 'logprobs', 22, 1, 0, 6, 0]],
    // Line breaks inside the visible text are part of it: 22 + 2 and 1 + 1.
    ['logprobs-s-qwen35-off', ['counted', 'logprobs', 24, 2, 0, 3, 0]],
  ])('%s is a count', (name, expectedSplit) => {
    expect(split(name)).toEqual(expectedSplit);
  });

  test('without log probabilities it is an estimate from chunks, and says how far it was off', () => {
    expect(split('stream-s-qwen35-on')).toEqual(['estimated', 'chunks', 27, 1, 0, 1, 6]);
    expect(split('cap-inside-thinking-stream')).toEqual(['estimated', 'chunks', 12, 0, 0, 0, 3]);
  });

  test('a reply that came whole is split by its characters', () => {
    expect(split('v1-think')).toEqual(['estimated', 'characters', 26, 2, 0, 1, 2]);
  });

  test('tool calls are in neither part', () => {
    expect(split('tool-harmony-stream')).toEqual(['estimated', 'chunks', 22, 0, 0, 15, 15]);
  });

  test('the thinking of a first pass is not in the count, so it comes on top', () => {
    for (const name of ['format-think-stream', 'format-think-whole']) {
      expect(verdictOf(name).split).toMatchObject({ thinkingOutsideCount: true, source: 'estimated' });
    }
    expect(split('format-think-stream')).toEqual(['estimated', 'chunks', 49, 3, 0, 1, 5]);
  });

  test('without a count nothing is scaled', () => {
    expect(split('repeat-stream')).toEqual(['estimated', 'chunks', 0, 31, null, null, null]);
  });
});

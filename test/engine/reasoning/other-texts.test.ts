import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MatrixRow, fromTests, matrix, read, replyOf } from './support.ts';

/** The recorded rows with other thoughts and other answers in them: the kind of a reply decides, not its words. */
const RECORDED = {
  thought:
    'The user asks whether the number is prime. Let me test the small divisors one by one. Seven does not divide it.',
  prose: 'Okay, the user wants to know. First, let me consider the divisors. Wait, I should double check.',
  circle: 'Maybe I should check again.',
  answer: 'Yes.',
};

const thoughts = [
  'Okay, so the user wants the capital of Australia. I recall that it is not Sydney. Let me make sure: Canberra.',
  'Hmm, 17 times 24. I need to compute 17 times 20 first, that is 340. Then 68. So 408.',
  'We need to answer in one word. The question asks for the colour of the sky. I should say blue.',
  'Let me think about trains. The user said two hours. I must check the speed: 80 km/h.\nThat fits.',
  '好的，用户想知道首都是哪里。让我想一下，应该是北京。',
  'Der Nutzer möchte ein Rezept. Ich sollte zuerst überlegen, was er im Haus hat.',
];
const circles = [
  'Let me verify that once more.',
  'Hmm, I should recount the letters.',
  'Wait, maybe I need to try another way.',
  '让我再检查一遍。',
];
const answers = [
  'No.',
  'Canberra',
  '408',
  'Blue, on most days.',
  '北京。',
  'It takes about two hours.',
  '🙂 Sure thing!',
];

interface Texts {
  readonly thought: string;
  readonly prose: string;
  readonly circle: string;
  readonly answer: string;
}

const texts: fc.Arbitrary<Texts> = fc.record({
  thought: fc.constantFrom(...thoughts),
  prose: fc.constantFrom(...thoughts),
  circle: fc.constantFrom(...circles),
  answer: fc.constantFrom(...answers),
});

interface Expected {
  readonly outcome: string;
  readonly cause?: string;
  readonly places?: readonly string[];
  readonly suspected?: string;
  readonly obedience?: string;
}
const golden = fromTests<{ rows: Expected[] }>('golden/reasoning_rows.json').rows;
const pairs = matrix.map((row, index) => ({ row, expected: golden[index] ?? { outcome: 'missing' } }));

function retold(text: string, to: Texts): string {
  return text
    .replaceAll(RECORDED.thought, to.thought)
    .replaceAll(RECORDED.prose, to.prose)
    .replace(/(?:Maybe I should check again\. ?)+(?:Maybe.*)?$/, (circle) =>
      `${to.circle} `.repeat(Math.ceil(circle.length / to.circle.length)).trimEnd(),
    )
    .replaceAll(/(?<=^|\n)Yes\.$/g, to.answer);
}

/** Tokens of a text by the script of this server: a word each. */
function words(text: string): number {
  return text.match(/\p{Script=Han}|[^\s\p{Script=Han}]+/gu)?.length ?? 0;
}

function retoldReply(row: MatrixRow, to: Texts) {
  const reply = replyOf(row);
  const thinking = retold(reply.thinking ?? '', to);
  const content = retold(reply.content ?? '', to);
  const { evalCount = null } = reply.end ?? {};
  const grown = words(thinking + content) - words(`${reply.thinking}${reply.content}`);
  const isCapped = row.reply.done_reason === 'length';
  return {
    ...reply,
    thinking,
    content,
    end: { ...reply.end, evalCount: evalCount === null || isCapped ? evalCount : Math.max(1, evalCount + grown) },
  };
}

test('the texts stand in the recorded rows', () => {
  const all = matrix.map(({ reply }) => `${reply.message?.thinking}${reply.message?.content}`).join('\n');
  for (const text of Object.values(RECORDED)) expect(all).toContain(text);
});

test('other words, the same readings', () => {
  fc.assert(
    fc.property(fc.constantFrom(...pairs), texts, ({ row, expected }, to) => {
      const verdict = read(retoldReply(row, to));
      const { outcome, cause, places, suspected, obedience } = verdict;
      if (expected.outcome === 'refused') {
        expect([outcome, cause]).toEqual(['refused', 'capability']);
        return;
      }
      expect({ outcome, cause, places, suspected, obedience }).toEqual({
        outcome: expected.outcome,
        cause: expected.cause ?? null,
        places: expected.places,
        suspected: expected.suspected ?? null,
        obedience: expected.obedience,
      });
    }),
    { numRuns: 1_500 },
  );
});

test('another spelling of the tags, the same readings', () => {
  const spellings = [
    ['<thinking>', '</thinking>'],
    ['<Reasoning>', '</Reasoning>'],
    ['[THINK]', '[/THINK]'],
    ['◁think▷', '◁/think▷'],
    ['<other:think>', '</other:think>'],
  ] as const;
  fc.assert(
    fc.property(fc.constantFrom(...pairs), fc.constantFrom(...spellings), ({ row, expected }, [open, close]) => {
      const reply = replyOf(row);
      const spell = (text: string | undefined) => text?.replaceAll('<think>', open).replaceAll('</think>', close) ?? '';
      const verdict = read({ ...reply, thinking: spell(reply.thinking), content: spell(reply.content) });
      expect([verdict.outcome, verdict.cause]).toEqual([expected.outcome, expected.cause ?? null]);
      if (expected.outcome !== 'refused')
        expect([verdict.places, verdict.obedience]).toEqual([expected.places, expected.obedience]);
    }),
    { numRuns: 500 },
  );
});

import { describe, expect, test } from 'vitest';
import { isCircling, isPlanning } from '../../../shared/engine/reasoning/planning.ts';

describe('planning prose', () => {
  test.each([
    'Okay, the user wants to know the capital. Let me recall. It is Paris.\n\nParis',
    'Hmm, I need to think about this. 17 times 23 is 391. Wait, let me verify.',
    'We need to answer yes or no. The number seems prime. So yes.',
    'Let me reconsider. Let me reconsider. Let me reconsider.',
    'I should verify once more. I should verify once more.',
    'Alright, so I have to figure out whether 91 is prime.',
    'Perhaps try another way. Perhaps try another way.',
    'The question asks for one word. I think it is blue. Actually, let me double check.',
    'So the user is asking about tea. I could mention green tea.',
    "Let's see. 12 plus 30 is 42. Double-check: yes.",
    'Hold on, is this right? Maybe it is 5. No, it must be 4.',
    'Wait. I forgot a case. Let me count again.',
    'Thinking: the sum is 4.\nAnswer: 4',
    'Der Nutzer fragt nach der Hauptstadt. Ich sollte kurz nachdenken.',
    'Je dois vérifier cela. L’utilisateur demande une capitale.',
    '嗯，用户问的是首都。让我想想。',
    'ユーザーは首都を知りたい。考えてみよう。',
  ])('%s', (text) => {
    expect(isPlanning(text)).toBe(true);
  });

  test.each([
    'Yes.',
    'Paris is the capital of France.',
    'Sure! Here are three ideas:\n1. Walk\n2. Read\n3. Cook',
    'First, preheat the oven to 200 degrees. Then mix flour and water. Let me know if you need more.',
    'To find 15 % of 80, we need to multiply 80 by 0.15, which gives 12.',
    'I can help with that. Please tell me more.',
    'The user can change the setting in the menu.',
    'The function checks whether the user is logged in and returns true.',
    'Check that the user has permission before you call it.',
    'When the user asks for a refund, send the form.',
    'Wait 5 minutes, then stir.',
    "I think the answer is yes, but I'm not sure.",
    'Let me explain: a prime has two divisors.',
    'Well, this depends on the model you use.',
    'Dear Ms Miller,\n\nI need to inform you that we have to cancel.',
    '"Let me think," said Anna. "The user wants tea."',
    '```js\n// let me check what the user wants\n```\nThis is the file.',
    '{"answer": "I should check what the user wants"}',
    '法国的首都是巴黎。',
    'Die Hauptstadt ist Paris.',
    '',
  ])('no planning: %s', (text) => {
    expect(isPlanning(text)).toBe(false);
  });

  test('planning far behind the head of an answer is a part of it', () => {
    expect(isPlanning(`${'A plain sentence of an answer. '.repeat(40)}Let me reconsider. The user wants tea.`)).toBe(
      false,
    );
  });

  test('going round needs a word of doubt', () => {
    expect(isCircling('Is it 7? Not sure. '.repeat(5))).toBe(true);
    expect(isCircling('Twinkle, little star. '.repeat(5))).toBe(false);
    expect(isCircling('Is it 7? Not sure.')).toBe(false);
  });
});

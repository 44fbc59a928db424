/** The built-in brain: finds what survived, and only that. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBrain } from '../../shared/node/simulator/brain.ts';
import { defaultProfiles, profileOf, type ModelProfile } from '../../shared/node/simulator/index.ts';
import type { BrainAsk, ParsedRequest } from '../../shared/node/simulator/options.ts';
import { createTokenizer } from '../../shared/node/simulator/tokenizer.ts';
import { parsedRequest } from '../../shared/node/simulator/v1.ts';
import { chat, contentOf, filler, post, withSimulator } from './with-simulator.ts';

const brain = createBrain(createTokenizer());
const inventor = profileOf({ name: 'inventor:latest', whenLost: 'invents' });
const honest = profileOf({ name: 'honest:latest', whenLost: 'admits' });

describe('what it finds', () => {
  test.each([
    [
      'The launch code is ZEBRA-7741. Lunch is at noon.\n\nWhat is the launch code? Answer with the code only.',
      'ZEBRA-7741',
    ],
    ['The launch code is ZEBRA-7741.\n\nWhat is the launch code?', 'The launch code is ZEBRA-7741.'],
    [
      'The desk code for parking is PANDA-1. The desk code is LYNX-9.\n\nWhat is the desk code? Answer with the code only.',
      'LYNX-9',
    ],
    ['The vault word is: OTTER-12, as ever.\n\nWhat is the vault word? Answer with the word only.', 'OTTER-12'],
    ['Remember code ORCHID-5.\n\nWhich code should you remember?', 'The code is ORCHID-5.'],
    [
      'The capital of the island is Port Blue. It rains.\n\nWhat is the capital of the island? Answer with the name only.',
      'Port Blue',
    ],
    [
      'The launch code is ZEBRA-7741. The vault word is OTTER-2.\n\nWhat is the launch code? What is the vault word? Answer with the codes only, one a line.',
      'ZEBRA-7741\nOTTER-2',
    ],
    ['The code word is KIWI-1201.\n\nWhat code word was mentioned at the start?', 'The code word is KIWI-1201.'],
    ['Launch code: ZEBRA-7741\n\nTell me the launch code.', 'The launch code is ZEBRA-7741.'],
    ['The secret code is AB-12.\n\nWhat is the secret code in the text above? Answer with the code only.', 'AB-12'],
    ['The code (new) is A-1.\nThe code (new) is B-2.\n\nWhat is the code (new)? Answer with the code only.', 'A-1'],
  ])('%s', (prompt, answer) => {
    expect(said(honest, prompt)).toBe(answer);
  });

  test('a question inside the document is not asked', () => {
    const prompt =
      'FAQ. What is the door code? Ask the porter. The launch code is ZEBRA-7741.\n\nWhat is the launch code? Answer with the code only.';
    expect(said(honest, prompt)).toBe('ZEBRA-7741');
  });
});

describe('what it does not find', () => {
  const prompt = `${filler(3_000)}\n\nWhat is the launch code? Answer with the code only.`;

  test('an honest model says so, without anything that looks like a code', () => {
    expect(said(honest, prompt)).toBe('I cannot find the launch code in the text that I was given.');
  });

  test('an inventor makes up a code of that shape which stands nowhere, the same for the same seed', () => {
    const first = said(inventor, prompt, 7);
    expect(first).toMatch(/^[A-Z]{4,8}-\d{4}$/);
    expect(prompt).not.toContain(first);
    expect(said(inventor, prompt, 7)).toBe(first);
    expect(new Set([1, 2, 3, 4, 5].map((seed) => said(inventor, prompt, seed))).size).toBeGreaterThan(1);
  });

  test('a decoy is no answer', () => {
    expect(said(honest, `The desk code for parking is PANDA-5096.\n${prompt}`)).not.toContain('PANDA');
  });
});

test('it never says a needle that the surviving text does not hold', () => {
  const needle = fc
    .tuple(fc.constantFrom('ZEBRA', 'HERON', 'COBALT'), fc.integer({ min: 1000, max: 9999 }))
    .map(([word, number]) => `${word}-${number}`);
  fc.assert(
    fc.property(needle, fc.constantFrom(honest, inventor), fc.nat(1_000), (token, profile, seed) => {
      const request = parsedRequest({
        kind: 'chat',
        model: profile.name,
        stream: false,
        messages: [{ role: 'user', content: `The launch code is ${token}.` }],
      });
      expect(said(profile, `${filler(500)}\n\nWhat is the launch code?`, seed, request)).not.toContain(token);
    }),
  );
});

test('the default model loses a needle that the cut took, through the whole server', async () => {
  await withSimulator({}, async (simulator) => {
    const document = `The launch code is ZEBRA-7741. ${filler(40_000)}\n\nWhat is the launch code? Answer with the code only.`;
    const cut = await chat(simulator, document, { options: { seed: 7, num_predict: 60 } });
    expect({ status: cut.status, count: cut.last['prompt_eval_count'] }).toEqual({ status: 200, count: 2051 });
    expect(contentOf(cut)).toMatch(/^[A-Z]{4,8}-\d{4}$/);
    expect(contentOf(cut)).not.toBe('ZEBRA-7741');
    const whole = await chat(simulator, document, { options: { seed: 7, num_predict: 60, num_ctx: 40_960 } });
    expect(contentOf(whole)).toBe('ZEBRA-7741');
  });
});

test('numbers can be counted past any window, and the window shifts', async () => {
  await withSimulator({ debug: true }, async (simulator) => {
    const reply = await chat(simulator, 'Write the numbers from 1 to 500.', {
      options: { num_ctx: 256, num_predict: 600 },
    });
    expect(reply.last).toMatchObject({ done_reason: 'length', eval_count: 600 });
    expect(simulator.logLines().filter((line) => line.includes('context shift'))).toHaveLength(3);
  });
});

test('a sliding-window model cannot shift at 4,096 and ends with the window', async () => {
  await withSimulator({}, async (simulator) => {
    const reply = await chat(simulator, 'Write the numbers from 1 to 9000.', { model: 'sim-sliding' });
    const { prompt_eval_count: prompt, eval_count: output, done_reason: reason } = reply.last;
    expect({ total: Number(prompt) + Number(output), reason }).toEqual({ total: 4_096, reason: 'length' });
  });
});

test('a looping agent calls the same tool with the same arguments, whatever comes back', async () => {
  await withSimulator({}, async (simulator) => {
    const tools = [
      {
        type: 'function',
        function: { name: 'read_file', description: 'Reads', parameters: { type: 'object', properties: {} } },
      },
    ];
    const messages: unknown[] = [{ role: 'user', content: 'Find the bug.' }];
    const calls: unknown[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const reply = await post(simulator, '/api/chat', { model: 'sim-loop', messages, tools, stream: false });
      const message = reply.last['message'] as { tool_calls: { function: unknown }[] };
      calls.push(message.tool_calls.map((call) => call.function));
      messages.push(message, { role: 'tool', content: `result ${turn}` });
    }
    expect(calls).toEqual(
      Array.from({ length: 3 }, () => [{ index: 0, name: 'read_file', arguments: { query: 'status' } }]),
    );
  });
});

test('the same requests in the same order give the same ids, with another seed others', async () => {
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const idsWith = (seed: number): Promise<unknown[]> =>
    withSimulator({ seed }, async (simulator) => {
      const ids: unknown[] = [];
      for (let turn = 0; turn < 2; turn += 1) {
        const reply = await chat(simulator, 'Go.', { model: 'sim-loop', tools });
        ids.push((reply.last['message'] as { tool_calls: { id: string }[] }).tool_calls[0]?.id);
      }
      return ids;
    });
  const first = await idsWith(7);
  expect(new Set(first).size).toBe(2);
  expect(await idsWith(7)).toEqual(first);
  expect(await idsWith(8)).not.toEqual(first);
});

test('structured answers are JSON of the asked shape', async () => {
  await withSimulator({}, async (simulator) => {
    const format = {
      type: 'object',
      properties: { code: { type: 'string' }, sure: { type: 'boolean' } },
      required: ['code'],
    };
    const reply = await chat(
      simulator,
      'The launch code is ZEBRA-7741.\n\nWhat is the launch code? Answer with the code only.',
      { format },
    );
    expect(JSON.parse(contentOf(reply))).toEqual({ code: 'ZEBRA-7741', sure: false });
  });
});

describe('every default model that chats answers the same question', () => {
  const models = defaultProfiles.filter(
    (profile) => profile.capabilities.includes('completion') && profile.thinks !== 'for-ever',
  );
  test.each(models.map((profile) => profile.name))('%s', async (model) => {
    await withSimulator({}, async (simulator) => {
      const reply = await chat(
        simulator,
        'The launch code is ZEBRA-7741.\n\nWhat is the launch code? Answer with the code only.',
        { model },
      );
      const message = reply.last['message'] as { content: string; thinking?: string };
      expect(`${message.content}${message.thinking ?? ''}`).toContain('ZEBRA-7741');
      expect(reply.last['done_reason']).toBe('stop');
    });
  });
});

test('a model that thinks for ever spends its budget before the answer', async () => {
  await withSimulator({}, async (simulator) => {
    const reply = await chat(simulator, 'Is 7 prime?', { model: 'sim-overthink', options: { num_predict: 80 } });
    expect(reply.last).toMatchObject({ done_reason: 'length', eval_count: 80, message: { content: '' } });
    expect((reply.last['message'] as { thinking: string }).thinking.length).toBeGreaterThan(100);
  });
});

function said(profile: ModelProfile, promptText: string, seed = 1, request?: ParsedRequest): string {
  const ask: BrainAsk = {
    promptText,
    profile,
    request: request ?? parsedRequest({ kind: 'chat', model: profile.name, stream: false }),
    seed,
    think: false,
    thinkSetting: undefined,
    pass: 1,
  };
  return [...brain(ask).pieces].join('');
}

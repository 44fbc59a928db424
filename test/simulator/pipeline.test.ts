/** Turns of the pipeline that no recording has: versions in between, templates of one's own, context carried along, refusals. */
import { describe, expect, test } from 'vitest';
import { chat, contentOf, filler, logged, post, withSimulator } from './with-simulator.ts';

const long = `${filler(6_000)}\n\nSay hi.`;

describe('versions in between', () => {
  test('0.30.0 counts uncached tokens only, and its log names the window as the limit', async () => {
    await withSimulator({ version: '0.30.0' }, async (simulator) => {
      const first = await chat(simulator, filler(2_000));
      const again = await chat(simulator, filler(2_000));
      expect(Number(again.last['prompt_eval_count'])).toBeLessThan(Number(first.last['prompt_eval_count']) / 4);
      await chat(simulator, long, { options: { num_ctx: 512 } });
      expect(logged(simulator, 'truncating input prompt')[0]).toMatch(/ limit=512 prompt=\d+ keep=4 new=511$/);
    });
  });

  test.each([
    ['0.30.5', 4_096, true],
    ['0.30.5', 8_192, false],
    ['0.30.9', 8_192, true],
    ['0.33.0-rc2', 8_192, true],
  ])('%s at %i starts its runner with shift: %s', async (version, numCtx, shifts) => {
    await withSimulator({ version }, async (simulator) => {
      await chat(simulator, 'Say hi.', { options: { num_ctx: numCtx } });
      expect(logged(simulator, 'starting llama-server')[0]?.includes('--context-shift')).toBe(shifts);
    });
  });

  test('0.24.0 has no native path: every model is cut, none is refused', async () => {
    await withSimulator({ version: '0.24.0' }, async (simulator) => {
      const reply = await chat(simulator, long, { model: 'sim-native', options: { num_ctx: 512 } });
      expect([reply.status, reply.last['prompt_eval_count']]).toEqual([200, 512]);
    });
  });

  test('a version that is none is refused at the start', async () => {
    await expect(withSimulator({ version: 'latest' }, () => Promise.resolve())).rejects.toThrow(
      'version "latest" is not a version',
    );
  });
});

describe('what is too long', () => {
  const tooLong =
    'the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length';

  test.each<[string, Record<string, unknown>]>([
    ['shift off', { shift: false }],
    ['an architecture that cannot shift', { model: 'sim-no-shift' }],
  ])('%s: the rendered path refuses instead of cutting', async (_name, body) => {
    await withSimulator({}, async (simulator) => {
      const reply = await chat(simulator, long, { ...body, options: { num_ctx: 512 } });
      expect([reply.status, JSON.parse(reply.text)]).toEqual([400, { error: tooLong }]);
    });
  });

  test('truncate off: the nested error tells need and padded window, on both paths', async () => {
    for (const model of ['sim-reader', 'sim-native']) {
      await withSimulator({}, async (simulator) => {
        const reply = await chat(simulator, long, { model, truncate: false, options: { num_ctx: 300 } });
        const outer = JSON.parse(reply.text) as { error: string };
        const inner = JSON.parse(outer.error) as { error: Record<string, unknown> };
        expect(reply.status).toBe(400);
        expect(inner.error).toMatchObject({ code: 400, type: 'exceed_context_size_error', n_ctx: 512 });
        expect(inner.error['n_prompt_tokens']).toBeGreaterThan(1_000);
      });
    }
  });

  test('between the asked and the padded window nothing is refused on the native path', async () => {
    await withSimulator({}, async (simulator) => {
      const reply = await chat(simulator, filler(1_700), { model: 'sim-native', options: { num_ctx: 300 } });
      expect(reply.status).toBe(200);
      expect(Number(reply.last['prompt_eval_count'])).toBeGreaterThan(300);
    });
  });

  test('messages go oldest first, system messages stay, the last one stays however long', async () => {
    await withSimulator({}, async (simulator) => {
      const messages = [
        { role: 'system', content: 'RULES' },
        { role: 'user', content: `first ${filler(900)}` },
        { role: 'assistant', content: 'noted' },
        { role: 'system', content: 'LATE RULES' },
        { role: 'user', content: `second ${filler(900)}` },
      ];
      const render = async (numCtx: number): Promise<string> => {
        const reply = await post(simulator, '/api/chat', {
          model: 'sim-native',
          messages,
          options: { num_ctx: numCtx },
          _debug_render_only: true,
        });
        return (reply.last['_debug_info'] as { rendered_template: string }).rendered_template.replace(
          /(first|second) [^<]*/g,
          '$1',
        );
      };
      const turn = (role: string, text: string): string => `<|im_start|>${role}\n${text}<|im_end|>\n`;
      const end = '<|im_start|>assistant\n';
      const all =
        turn('system', 'RULES') +
        turn('user', 'first') +
        turn('assistant', 'noted') +
        turn('system', 'LATE RULES') +
        turn('user', 'second') +
        end;
      const fewer =
        turn('system', 'RULES') +
        turn('assistant', 'noted') +
        turn('system', 'LATE RULES') +
        turn('user', 'second') +
        end;
      const least = turn('system', 'RULES') + turn('system', 'LATE RULES') + turn('user', 'second') + end;
      expect([await render(4_096), await render(260), await render(100)]).toEqual([all, fewer, least]);
    });
  });
});

describe('the mlx engine', () => {
  test('reads past num_ctx without a cut, does not reload for it, and refuses what the model cannot hold', async () => {
    await withSimulator({}, async (simulator) => {
      const ask = (characters: number, body: Record<string, unknown> = {}) =>
        chat(
          simulator,
          `The launch code is ZEBRA-7741. ${filler(characters)}\n\nWhat is the launch code? Answer with the code only.`,
          { model: 'sim-mlx', ...body },
        );
      const long = await ask(40_000, { options: { num_ctx: 2048, num_predict: 60 } });
      expect(contentOf(long)).toBe('ZEBRA-7741');
      expect(Number(long.last['prompt_eval_count'])).toBeGreaterThan(6_000);
      await ask(100, { options: { num_ctx: 8192 } });
      expect(simulator.state.scheduler.running().map((runner) => [runner.numCtx, runner.inFlight])).toEqual([
        [2048, 0],
      ]);
      expect(simulator.logLines().filter((line) => line.startsWith('slot '))).toEqual([]);
      const over = await ask(100_000);
      expect([over.status, over.last['error']]).toEqual([
        400,
        expect.stringMatching(
          /^input length \(\d+ tokens\) exceeds the model's maximum context length \(16384 tokens\)$/,
        ),
      ]);
    });
  });

  test('does not count the end token, and drops format and stop words', async () => {
    await withSimulator({}, async (simulator) => {
      const count = async (model: string): Promise<number> =>
        Number((await chat(simulator, 'Count from 1 to 9.', { model })).last['eval_count']);
      expect(await count('sim-mlx')).toBe((await count('sim-reader')) - 1);
      const reply = await chat(simulator, 'Count from 1 to 9.', {
        model: 'sim-mlx',
        format: 'json',
        options: { stop: ['3'] },
      });
      expect(contentOf(reply)).toBe('1, 2, 3, 4, 5, 6, 7, 8, 9');
    });
  });
});

test('text that only looked like a stop word is given when a cap ends the reply', async () => {
  await withSimulator({ brain: () => ({ pieces: ['one ', 'two ', 'EN', 'DLESS'] }) }, async (simulator) => {
    const said = async (options: Record<string, unknown>): Promise<string> =>
      contentOf(await chat(simulator, 'x', { options }));
    expect(await said({ stop: ['END'], num_predict: 3 })).toBe('one two EN');
    expect(await said({ stop: ['END'] })).toBe('one two ');
    expect(await said({ stop: ['ENDS'] })).toBe('one two ENDLESS');
  });
});

describe('generate', () => {
  test('context carries a conversation along, from token numbers alone', async () => {
    await withSimulator({}, async (simulator) => {
      const first = await post(simulator, '/api/generate', {
        model: 'sim-reader',
        prompt: 'The vault word is OTTER-2210. Say thanks.',
        stream: false,
      });
      const ask = { model: 'sim-reader', prompt: 'What is the vault word? Answer with the word only.', stream: false };
      expect(contentOf(await post(simulator, '/api/generate', { ...ask, context: first.last['context'] }))).toBe(
        'OTTER-2210',
      );
      expect(contentOf(await post(simulator, '/api/generate', ask))).not.toBe('OTTER-2210');
    });
  });

  test('raw, template and system', async () => {
    await withSimulator({}, async (simulator) => {
      const rendered = async (body: Record<string, unknown>): Promise<unknown> => {
        const reply = await post(simulator, '/api/generate', {
          model: 'sim-native',
          prompt: 'Hello',
          _debug_render_only: true,
          ...body,
        });
        return (
          (reply.last['_debug_info'] as { rendered_template: string } | undefined)?.rendered_template ??
          reply.last['error']
        );
      };
      expect(await rendered({})).toBe('Hello');
      expect(await rendered({ model: 'sim-reader', system: 'Rules' })).toBe(
        '<start_of_turn>user\nRules\n\nHello<end_of_turn>\n<start_of_turn>model\n',
      );
      expect(await rendered({ template: '[{{ .System }}] {{.Prompt}} ->', system: 'S' })).toBe('[S] Hello ->');
      expect(await rendered({ raw: true })).toBe('Hello');
      expect(await rendered({ raw: true, system: 'S' })).toBe('raw mode does not support template, system, or context');
    });
  });
});

test('what is wrong first is told first: thinking, what the model is for, tools, options', async () => {
  await withSimulator({}, async (simulator) => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const errorOf = async (body: Record<string, unknown>): Promise<unknown> =>
      (await chat(simulator, 'hi', body)).last['error'];
    const wrong = { model: 'sim-embed', think: true, tools, options: { num_ctx: 'x' } };
    expect(await errorOf(wrong)).toBe('"sim-embed" does not support thinking');
    expect(await errorOf({ ...wrong, think: false })).toBe('"sim-embed" does not support chat');
    expect(await errorOf({ ...wrong, think: false, model: 'sim-olmo3-think' })).toBe(
      'registry.ollama.ai/library/sim-olmo3-think:latest does not support tools',
    );
    expect(await errorOf({ ...wrong, think: false, model: 'sim-reader' })).toBe(
      'option "num_ctx" must be of type integer',
    );
    const suffix = await post(simulator, '/api/generate', { model: 'sim-reader', prompt: 'a', suffix: 'b' });
    expect(suffix.last['error']).toBe('registry.ollama.ai/library/sim-reader:latest does not support insert');
  });
});

test('generate with a system text over the window tells at DEBUG that nothing more could be dropped', async () => {
  await withSimulator({ debug: true }, async (simulator) => {
    const ask = { model: 'sim-reader', prompt: 'Hello', stream: false, options: { num_ctx: 512 } };
    await post(simulator, '/api/generate', { ...ask, prompt: long });
    expect(logged(simulator, 'truncating input messages')).toEqual([]);
    await post(simulator, '/api/generate', { ...ask, system: filler(4_000) });
    expect(logged(simulator, 'truncating input messages')[0]).toMatch(/ truncated=1$/);
  });
});

describe('names', () => {
  test.each([
    'sim-reader',
    'sim-reader:latest',
    'SIM-Reader',
    'library/sim-reader',
    'registry.ollama.ai/library/sim-reader:latest',
  ])('%s is found, and told as typed', async (model) => {
    await withSimulator({}, async (simulator) => {
      expect((await chat(simulator, 'Say hi.', { model })).last).toMatchObject({ model, done: true });
    });
  });

  test.each(['sim-reader:other', 'simreader', 'other/sim-reader'])('%s is not', async (model) => {
    await withSimulator({}, async (simulator) => {
      expect(await chat(simulator, 'Say hi.', { model })).toMatchObject({
        status: 404,
        text: `{"error":"model '${model}' not found"}`,
      });
    });
  });
});

test('a window from the Modelfile holds unless the request says otherwise', async () => {
  await withSimulator({}, async (simulator) => {
    expect((await chat(simulator, filler(60_000), { model: 'sim-window-2048' })).last['prompt_eval_count']).toBe(1_027);
    expect(
      (await chat(simulator, filler(60_000), { model: 'sim-window-2048', options: { num_ctx: 4096 } })).last[
        'prompt_eval_count'
      ],
    ).toBe(2_051);
  });
});

test('num_predict bounds: 10 x num_ctx, the cap, and one token for zero on the native path', async () => {
  await withSimulator({}, async (simulator) => {
    const count = async (model: string, options: Record<string, number>): Promise<unknown> =>
      (await chat(simulator, 'Write the numbers from 1 to 90000.', { model, options: { num_ctx: 64, ...options } }))
        .last['eval_count'];
    expect(await count('sim-reader', {})).toBe(640);
    expect(await count('sim-reader', { num_predict: -1 })).toBe(640);
    expect(await count('sim-reader', { num_predict: 100_000 })).toBe(640);
    expect(await count('sim-reader', { num_predict: 7 })).toBe(7);
    expect(await count('sim-native', { num_predict: 0 })).toBe(1);
    expect(Number(await count('sim-reader', { num_predict: 0 }))).toBeGreaterThan(100_000);
  });
});

test('what would change the installed models is refused, with its method checked', async () => {
  await withSimulator({}, async (simulator) => {
    expect(await post(simulator, '/api/pull', { model: 'x' })).toMatchObject({ status: 501 });
    expect((await fetch(`${simulator.url}/api/pull`)).status).toBe(405);
    expect((await fetch(`${simulator.url}/api/delete`, { method: 'DELETE' })).status).toBe(501);
  });
});

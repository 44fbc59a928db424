/** Loading, reloading, keep_alive, eviction, and what /api/ps says of it. */
import { describe, expect, test } from 'vitest';
import { profileOf, type Simulator } from '../../shared/node/simulator/index.ts';
import { chat, logged, post, withSimulator } from './with-simulator.ts';

const loads = (simulator: Simulator): number => logged(simulator, 'starting llama-server').length;
const ps = async (simulator: Simulator): Promise<Record<string, unknown>[]> =>
  ((await (await fetch(`${simulator.url}/api/ps`)).json()) as { models: Record<string, unknown>[] }).models;

describe('reload', () => {
  test.each<[string, Record<string, unknown>, number]>([
    ['the same again', { options: { num_ctx: 8192 } }, 1],
    ['another window', { options: { num_ctx: 4096 } }, 2],
    ['no window after one was set', {}, 2],
    ['shift off', { options: { num_ctx: 8192 }, shift: false }, 2],
    ['shift said as it is', { options: { num_ctx: 8192 }, shift: true }, 1],
    ['num_thread', { options: { num_ctx: 8192, num_thread: 3 } }, 2],
    ['temperature', { options: { num_ctx: 8192, temperature: 0.1 } }, 1],
  ])('%s', async (_name, body, expected) => {
    await withSimulator({}, async (simulator) => {
      await chat(simulator, 'Say hi.', { options: { num_ctx: 8192 } });
      await chat(simulator, 'Say hi.', body);
      expect(loads(simulator)).toBe(expected);
    });
  });

  test('windows are clamped before they are compared', async () => {
    await withSimulator({}, async (simulator) => {
      await chat(simulator, 'Say hi.', { options: { num_ctx: 200_000 } });
      await chat(simulator, 'Say hi.', { options: { num_ctx: 131_072 } });
      expect(loads(simulator)).toBe(1);
      expect((await ps(simulator))[0]?.['context_length']).toBe(131_072);
      expect(logged(simulator, 'requested context size too large for model')[0]).toMatch(
        / num_ctx=200000 n_ctx_train=131072$/,
      );
    });
  });

  test('two names over the same weights share one runner, which goes by the name that loaded it', async () => {
    const profiles = ['a:latest', 'b:latest'].map((name) => profileOf({ name, weights: 'w' }));
    await withSimulator({ profiles }, async (simulator) => {
      await chat(simulator, 'Say hi.', { model: 'a' });
      await chat(simulator, 'Say hi.', { model: 'b' });
      expect([loads(simulator), (await ps(simulator)).map((model) => model['name'])]).toEqual([1, ['a:latest']]);
    });
  });
});

describe('keep_alive', () => {
  test('an empty request loads, zero unloads', async () => {
    await withSimulator({}, async (simulator) => {
      expect((await post(simulator, '/api/generate', { model: 'sim-reader' })).last).toMatchObject({
        response: '',
        done: true,
        done_reason: 'load',
      });
      expect(await ps(simulator)).toHaveLength(1);
      expect(
        (await post(simulator, '/api/chat', { model: 'sim-reader', messages: [], keep_alive: 0 })).last,
      ).toMatchObject({ done: true, done_reason: 'unload' });
      expect(await ps(simulator)).toEqual([]);
    });
  });

  test('zero with a question unloads after the answer', async () => {
    await withSimulator({}, async (simulator) => {
      expect((await chat(simulator, 'Say hi.', { keep_alive: 0 })).last['done']).toBe(true);
      await expect.poll(() => ps(simulator)).toEqual([]);
    });
  });

  test.each<[unknown, (seconds: number) => boolean]>([
    ['10m', (seconds) => seconds > 590 && seconds <= 600],
    ['1h30m', (seconds) => seconds > 5_390 && seconds <= 5_400],
    [90, (seconds) => seconds > 80 && seconds <= 90],
    [-1, (seconds) => seconds > 290 * 365 * 86_400],
    [undefined, (seconds) => seconds > 290 && seconds <= 300],
  ])('%s', async (keepAlive, fits) => {
    await withSimulator({}, async (simulator) => {
      await chat(simulator, 'Say hi.', keepAlive === undefined ? {} : { keep_alive: keepAlive });
      const expires = Date.parse(String((await ps(simulator))[0]?.['expires_at']));
      expect(fits((expires - Date.now()) / 1000)).toBe(true);
    });
  });

  test('left out, a loaded model keeps the value it had', async () => {
    await withSimulator({}, async (simulator) => {
      await chat(simulator, 'Say hi.', { keep_alive: '10m' });
      await chat(simulator, 'Say hi.');
      expect(Date.parse(String((await ps(simulator))[0]?.['expires_at'])) - Date.now()).toBeGreaterThan(590_000);
    });
  });

  test('a short one runs out', async () => {
    await withSimulator({}, async (simulator) => {
      await chat(simulator, 'Say hi.', { keep_alive: '40ms' });
      await expect.poll(() => ps(simulator)).toEqual([]);
    });
  });
});

test('the model that would go first makes room for a fourth', async () => {
  const profiles = ['a', 'b', 'c', 'd'].map((name) => profileOf({ name: `${name}:latest` }));
  await withSimulator({ profiles }, async (simulator) => {
    await chat(simulator, 'Say hi.', { model: 'a' });
    await chat(simulator, 'Say hi.', { model: 'b', keep_alive: '1m' });
    await chat(simulator, 'Say hi.', { model: 'c', keep_alive: -1 });
    await chat(simulator, 'Say hi.', { model: 'd' });
    expect((await ps(simulator)).map((model) => model['name'])).toEqual(['c:latest', 'd:latest', 'a:latest']);
  });
});

test('two slots: the window is per slot, both work at once', async () => {
  await withSimulator({ numParallel: 2, defaultNumCtx: 1024 }, async (simulator) => {
    const replies = await Promise.all([1, 2].map((index) => chat(simulator, `${'word '.repeat(2_000)} ${index}`)));
    expect(replies.map((reply) => reply.last['prompt_eval_count'])).toEqual([515, 515]);
    expect((await ps(simulator))[0]?.['context_length']).toBe(1024);
    expect(logged(simulator, 'starting llama-server')[0]).toContain('-c 2048 -np 2');
  });
});

test.each([
  [{ num_ctx: '4096' }, 'option \\"num_ctx\\" must be of type integer'],
  [{ stop: 'x' }, 'option \\"stop\\" must be of type array'],
  [{ temperature: 'hot' }, 'option \\"temperature\\" must be of type float32'],
  [{ use_mmap: 1 }, 'option \\"use_mmap\\" must be of type boolean'],
])('options %o', async (options, error) => {
  await withSimulator({}, async (simulator) => {
    const reply = await chat(simulator, 'Say hi.', { options });
    expect([reply.status, reply.text]).toEqual([500, `{"error":"${error}"}`]);
  });
});

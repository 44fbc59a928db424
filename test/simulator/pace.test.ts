/** Calls that leave, wait in line or are refused: at a pace, so that there is something to leave. */
import { describe, expect, test } from 'vitest';
import { profileOf } from '../../shared/node/simulator/index.ts';
import { logShape } from './compare.ts';
import { countAsGemma, probeModels } from './probe-models.ts';
import { readRecordings, sendRaw, type Recording } from './recordings.ts';
import { chat, filler, logged, post, withSimulator } from './with-simulator.ts';

const recordings = readRecordings('real');
const named = (name: string): Recording => recordings.find((recording) => recording.name === name) as Recording;
const shapesOf = (lines: readonly string[]): string[] =>
  lines
    .map(logShape)
    .filter((shape) => shape !== null)
    .sort();

describe('a client that leaves', () => {
  test('in mid-stream: the slot is released soon after, as recorded', async () => {
    await withSimulator(
      { timeScale: 1, debug: true, profiles: probeModels, brain: () => ({ pieces: endless('word ') }) },
      async (simulator) => {
        const recording = named('cancel-mid-stream');
        const reply = await sendRaw(simulator.port, recording.request, recording.response.chunk_sizes.length);
        expect(reply.chunk_sizes).toHaveLength(5);
        await expect.poll(() => simulator.aborted.length).toBe(1);
        await expect.poll(() => logged(simulator, '[GIN]').length).toBe(1);
        // One or two tokens are sampled before the server knows.
        const steady = (lines: readonly string[]): string[] =>
          shapesOf(lines).map((line) => line.replace(/n_tokens = 2[2-6]/, 'n_tokens = 22'));
        expect(steady(simulator.logLines())).toEqual(steady(recording.log));
      },
    );
  });

  test('while the prompt is evaluated: released after the running batch, the access log says 500', async () => {
    const slow = probeModels.map((profile) => ({
      ...profile,
      rates: { ...profile.rates, loadMs: 0, promptTokensPerSecond: 4_000 },
    }));
    await withSimulator(
      { timeScale: 1, debug: true, profiles: slow, pinTokens: (text) => countAsGemma(text, '0.33') },
      async (simulator) => {
        const { body } = named('rendered-chat-fits-8192').request;
        const leaving = new AbortController();
        const call = post(simulator, '/api/chat', body, leaving.signal);
        await expect.poll(() => logged(simulator, 'cached n_tokens = 1024').length, { interval: 5 }).toBe(1);
        leaving.abort();
        await expect(call).rejects.toThrow(/abort/i);
        await expect.poll(() => logged(simulator, '[GIN]').length).toBe(1);
        expect(shapesOf(simulator.logLines())).toEqual(shapesOf(named('cancel-before-headers').log));
        expect(simulator.aborted).toEqual([{ path: '/api/chat', model: 'probe-rendered', sampledTokens: 0 }]);
      },
    );
  });

  test('while the model loads: the load is given up, nothing is loaded, the next call works', async () => {
    await withSimulator({ timeScale: 1 }, async (simulator) => {
      const leaving = new AbortController();
      const call = chatUntil(simulator.url, leaving.signal);
      await expect.poll(() => logged(simulator, 'starting llama-server').length, { interval: 5 }).toBe(1);
      leaving.abort();
      await expect(call).rejects.toThrow(/abort/i);
      await expect.poll(() => logged(simulator, 'aborting load').length).toBe(1);
      expect(simulator.state.scheduler.running()).toEqual([]);
      expect((await chat(simulator, 'Say hi.')).status).toBe(200);
    });
  });

  test('while it waits for a slot: it leaves the line, the others keep their order', async () => {
    await withSimulator({ timeScale: 0.2 }, async (simulator) => {
      const order: string[] = [];
      const ask = (name: string, signal?: AbortSignal): Promise<void> =>
        post(
          simulator,
          '/api/chat',
          { model: 'sim-reader', messages: [{ role: 'user', content: 'Count from 1 to 12.' }], stream: false },
          signal,
        ).then(() => void order.push(name));
      await ask('warm-up');
      const leaving = new AbortController();
      const first = ask('first');
      await expect.poll(() => busySlots(simulator), { interval: 2 }).toBe(1);
      const second = ask('second', leaving.signal).catch(() => order.push('second left'));
      await expect.poll(() => waiting(simulator), { interval: 2 }).toBe(1);
      const third = ask('third');
      await expect.poll(() => waiting(simulator), { interval: 2 }).toBe(2);
      leaving.abort();
      await Promise.all([first, second, third]);
      expect(order).toEqual(['warm-up', 'second left', 'first', 'third']);
      expect(logged(simulator, 'aborting completion request due to client closing the connection')).toHaveLength(1);
    });
  });
});

test('four at once with one slot run one after the other, as recorded', async () => {
  await withSimulator(
    { debug: true, profiles: probeModels, brain: () => ({ pieces: endless('word ') }), pinTokens: () => 14 },
    async (simulator) => {
      const body = {
        model: 'probe-rendered',
        messages: [{ role: 'user', content: 'Tell me a number.' }],
        options: { num_ctx: 512, num_predict: 60 },
        stream: false,
      };
      await Promise.all(
        Array.from({ length: 4 }, (_, index) =>
          post(simulator, '/api/chat', {
            ...body,
            messages: [{ role: 'user', content: `${index} Tell me a number.` }],
          }),
        ),
      );
      await expect.poll(() => logged(simulator, '[GIN]').length).toBe(4);
      expect(shapesOf(simulator.logLines())).toEqual(shapesOf(named('parallel-four').log));
      const order = simulator
        .logLines()
        .filter((line) => /new prompt|release/.test(line))
        .map((line) => (line.includes('release') ? 'released' : 'begun'));
      expect(order).toEqual(Array.from({ length: 4 }, () => ['begun', 'released']).flat());
    },
  );
});

test('the queue of requests that need a load is bounded: one more is refused', async () => {
  await withSimulator({ timeScale: 0.3, maxQueue: 1 }, async (simulator) => {
    const windows = [512, 768, 1024, 1280];
    const replies = await Promise.all(
      windows.map((numCtx) => chat(simulator, 'Say hi.', { options: { num_ctx: numCtx } })),
    );
    const refused = replies.filter((reply) => reply.status === 503);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 503, 503]);
    expect(refused[0]?.text).toBe('{"error":"server busy, please try again.  maximum pending requests exceeded"}');
    expect((await chat(simulator, 'Say hi.')).status).toBe(200);
  });
});

test('a model that is loaded and fits is not held up by the queue', async () => {
  await withSimulator({ timeScale: 0, maxQueue: 0 }, async (simulator) => {
    // Nothing is loaded and nothing may wait for a load.
    expect((await chat(simulator, 'Say hi.')).status).toBe(503);
  });
});

test('durations tell the pace: load once, prompt shortened by the cache, output by its rate', async () => {
  await withSimulator({}, async (simulator) => {
    const text = `${filler(8_000)}\n\nSay hi.`;
    const first = (await chat(simulator, text)).last;
    const again = (await chat(simulator, text)).last;
    expect(again['prompt_eval_count']).toBe(first['prompt_eval_count']);
    expect(Number(again['prompt_eval_duration'])).toBeLessThan(Number(first['prompt_eval_duration']) / 5);
    expect(Number(first['load_duration'])).toBeGreaterThan(400_000_000);
    expect(Number(again['load_duration'])).toBeLessThan(50_000_000);
    for (const reply of [first, again]) {
      const parts = ['load_duration', 'prompt_eval_duration', 'eval_duration'].reduce(
        (sum, key) => sum + Number(reply[key]),
        0,
      );
      expect(Number(reply['total_duration'])).toBeGreaterThanOrEqual(parts);
    }
  });
});

test('a 5 MB prompt is read without holding up others for long', async () => {
  await withSimulator({ profiles: [profileOf({ name: 'big:latest', trainedContext: 4_096 })] }, async (simulator) => {
    let longestMs = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    const reply = await chat(simulator, filler(5_000_000), { model: 'big' });
    clearInterval(beat);
    expect(reply.last['prompt_eval_count']).toBe(2_051);
    // Generous: the machine is shared. What it must exclude is seconds.
    expect(longestMs).toBeLessThan(1_500);
  });
});

function* endless(piece: string): Generator<string> {
  for (let index = 0; ; index += 1) yield `${piece}${index} `;
}

function busySlots(simulator: {
  state: { scheduler: { running(): readonly { slots: readonly { busy: boolean }[] }[] } };
}): number {
  return simulator.state.scheduler
    .running()
    .flatMap((runner) => runner.slots)
    .filter((slot) => slot.busy).length;
}

function waiting(simulator: {
  state: { scheduler: { running(): readonly { waitingForSlot: readonly unknown[] }[] } };
}): number {
  return simulator.state.scheduler.running().reduce((sum, runner) => sum + runner.waitingForSlot.length, 0);
}

function chatUntil(url: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${url}/api/chat`, {
    method: 'POST',
    body: JSON.stringify({ model: 'sim-reader', messages: [{ role: 'user', content: 'Say hi.' }] }),
    signal,
  });
}

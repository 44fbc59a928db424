/** The client library and curl against the simulator. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Ollama } from 'ollama';
import { expect, test } from 'vitest';
import { withSimulator } from './with-simulator.ts';

const run = promisify(execFile);

test('the ollama package lists, shows, chats, generates, embeds and aborts', async () => {
  await withSimulator({}, async (simulator) => {
    const ollama = new Ollama({ host: simulator.url });
    expect((await ollama.list()).models[0]?.name).toBe('sim-reader:latest');
    expect((await ollama.show({ model: 'sim-reader' })).capabilities).toContain('completion');
    const messages = [
      { role: 'user', content: 'The vault word is OTTER-12.\n\nWhat is the vault word? Answer with the word only.' },
    ];
    const whole = await ollama.chat({ model: 'sim-reader', messages });
    expect([whole.message.content, whole.done_reason]).toEqual(['OTTER-12', 'stop']);
    let text = '';
    for await (const part of await ollama.generate({ model: 'sim-reader', prompt: 'Count from 1 to 5.', stream: true }))
      text += part.response;
    expect(text).toBe('1, 2, 3, 4, 5');
    expect((await ollama.ps()).models.map((model) => model.name)).toEqual(['sim-reader:latest']);
    const { embeddings } = await ollama.embed({ model: 'sim-embed', input: ['one', 'two'] });
    expect(embeddings.map((vector) => vector.length)).toEqual([384, 384]);
    await expect(ollama.chat({ model: 'nobody', messages })).rejects.toThrow("model 'nobody' not found");
  });
});

test('aborting a stream of the ollama package is seen', async () => {
  await withSimulator({ timeScale: 0.2 }, async (simulator) => {
    const ollama = new Ollama({ host: simulator.url });
    const stream = await ollama.chat({
      model: 'sim-reader',
      messages: [{ role: 'user', content: 'Count from 1 to 90000.' }],
      stream: true,
      options: { num_predict: 50_000, num_ctx: 8192 },
    });
    let parts = 0;
    await expect(
      (async () => {
        for await (const part of stream) if (part.done || ++parts === 5) stream.abort();
      })(),
    ).rejects.toThrow(/abort/i);
    await expect.poll(() => simulator.aborted.length).toBe(1);
    expect(simulator.aborted[0]).toMatchObject({ path: '/api/chat', model: 'sim-reader' });
    expect(simulator.aborted[0]?.sampledTokens).toBeLessThan(1_000);
  });
});

test('curl chats', async () => {
  await withSimulator({}, async (simulator) => {
    const body = JSON.stringify({ model: 'sim-reader', messages: [{ role: 'user', content: 'Count from 1 to 3.' }] });
    const { stdout } = await run('curl', ['-sS', '-N', '-i', `${simulator.url}/api/chat`, '-d', body]);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: application\/x-ndjson\r\nDate: /);
    const lines = stdout
      .slice(stdout.indexOf('\r\n\r\n') + 4)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: { content: string }; done: boolean });
    expect(lines.map((line) => line.message.content).join('')).toBe('1, 2, 3');
    expect(lines.at(-1)?.done).toBe(true);
  });
});

/** Simulated numbers stay simulated also when the simulator runs elsewhere and is reached by its address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ServerStatus } from '../../shared/contract/server.ts';
import { never } from '../../shared/engine/cancel.ts';
import { parseOllamaHost } from '../../shared/node/ollama/address.ts';
import { isSimulator } from '../../shared/node/ollama/simulator-mark.ts';
import { createRuntime } from '../../shared/node/runtime.ts';
import { startSimulator } from '../../shared/node/simulator/index.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

test('a console that is pointed at a simulator by address says so, and so does every record', async () => {
  const simulator = await startSimulator({ port: 0, timeScale: 0 });
  endings.push(() => simulator.stop());
  const home = mkdtempSync(join(tmpdir(), 'spillway-mark-'));
  endings.push(() => rmSync(home, { recursive: true, force: true }));
  const runtime = await createRuntime({ host: 'test', home, ollamaUrl: simulator.url });
  if (!runtime.ok) throw new Error(runtime.denial.message);
  endings.push(() => runtime.value.stop());
  await runtime.value.ready;
  const context = { screenId: 'test', signal: new AbortController().signal };
  const looked = await runtime.value.handle('server.look', {}, context);
  expect(looked).toMatchObject({
    ok: true,
    value: { kind: 'simulator', state: 'up', urlSource: 'flag' } satisfies Partial<ServerStatus>,
  });
});

test('only our simulator is taken for one', async () => {
  const answers = [
    '404 page not found',
    '{}',
    '{"spillway":"ollama"}',
    '[]',
    'null',
    '<html>',
    'x'.repeat(10_000),
    '{"spillway":',
  ];
  for (const [index, answer] of answers.entries()) {
    const server = createServer((_, response) => response.writeHead(index === 0 ? 404 : 200).end(answer));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = parseOllamaHost(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    if (!address.ok) throw new Error(address.denial.message);
    expect(await isSimulator(address.value, never)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
    expect(await isSimulator(address.value, never)).toBe(false);
  }
});

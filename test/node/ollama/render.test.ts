/** The question for the rendered prompt: the body that leaves, and servers that do not know the question. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { never } from '../../../shared/engine/cancel.ts';
import { createOllamaDoor } from '../../../shared/node/ollama/door.ts';
import { systemClock } from '../../../shared/node/runtime.ts';

const message = { role: 'user', content: 'Hello', images: ['/etc/hostname'] };
const body = { model: 'm', messages: [message], stream: true, options: { num_ctx: 512, num_predict: 2_000, seed: 7 } };

async function server(status: number, reply: unknown) {
  const bodies: unknown[] = [];
  const http = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { bodies, door: createOllamaDoor({ url, clock: systemClock }) };
}

test('the options of the call go out as they are, but for the bound that makes the question safe', async () => {
  const { bodies, door } = await server(200, { done: false, _debug_info: { rendered_template: '<u>Hello</u>' } });
  expect(await door.render(body, never)).toEqual({ ok: true, value: '<u>Hello</u>' });
  expect(await door.render({ ...body, truncate: false }, never)).toMatchObject({ ok: true });
  const asked = { ...body, stream: false, options: { ...body.options, num_predict: 1 }, _debug_render_only: true };
  expect(bodies).toEqual([asked, { ...asked, truncate: false }]);
});

test.each([
  { message: { role: 'assistant', content: 'Hi' }, done: true, eval_count: 1 },
  { done: false, _debug_info: null },
  { done: false, _debug_info: { rendered_template: 7 } },
])('a server that answers something else has no rendering: %#', async (reply) => {
  const { door } = await server(200, reply);
  expect(await door.render(body, never)).toEqual({ ok: true, value: null });
});

test('a refusal keeps its reason', async () => {
  const { door } = await server(404, { error: "model 'm' not found" });
  expect(await door.render(body, never)).toMatchObject({ ok: false, denial: { code: 'unknown-model' } });
});

/** A server that speaks as Ollama does, with a model that does whatever a page tells it to. All that it can choose is an attempt. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attack, longName } from './hostile-texts.ts';

/** Its model: it has the tools that an agent needs, so that it is let in. */
export const HOSTILE_MODEL = 'obeys:latest';

interface Call {
  readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}
interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export async function hostileServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const model = {
    name: HOSTILE_MODEL,
    model: HOSTILE_MODEL,
    digest: attack,
    size: 1,
    modified_at: attack,
    details: { family: attack, parameter_size: attack, quantization_level: attack },
    capabilities: ['completion', 'tools'],
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const json = (value: unknown): unknown => response.end(JSON.stringify(value));
      if (request.url === '/api/version') return json({ version: '0.33.0' });
      if (request.url === '/api/tags') return json({ models: [model] });
      if (request.url === '/api/ps') return json({ models: [] });
      if (request.url === '/api/show')
        return json({ capabilities: model.capabilities, model_info: {}, template: attack });
      if (request.url !== '/api/chat') return response.writeHead(404).end(attack);
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      const said = turn(JSON.parse(Buffer.concat(parts).toString()) as Asked);
      const message = { role: 'assistant', content: said.text, tool_calls: said.calls };
      response.write(`${JSON.stringify({ model: HOSTILE_MODEL, message, done: false })}\n`);
      const end = { done: true, done_reason: 'stop', prompt_eval_count: 100, eval_count: 20 };
      return response.end(
        `${JSON.stringify({ model: HOSTILE_MODEL, message: { role: 'assistant', content: '' }, ...end })}\n`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Reads a page, then does what it says: forty fetches at once, an agent for each, a made-up tool, until it may no more. */
function turn({ messages, tools = [] }: Asked): { text: string; calls: Call[] } {
  const call = (name: string, args: Readonly<Record<string, unknown>>): Call => ({
    function: { name, arguments: args },
  });
  const turns = messages.filter(({ role }) => role === 'assistant').length;
  const names = tools.map((tool) => tool.function.name);
  const page = names.find((name) => name.endsWith('.read_page')) ?? 'read_page';
  if (names.length === 0 || turns > 3) return { text: attack, calls: [] };
  if (turns === 0) return { text: attack, calls: [call(page, { [attack]: attack })] };
  if (turns === 1)
    return {
      text: `${attack} ${'w'.repeat(2_000)}`,
      calls: Array.from({ length: 40 }, (_, at) => call(page, { url: `https://farm.example/${at}${attack}` })),
    };
  if (turns === 2)
    return {
      text: '',
      calls: names.filter((name) => name.startsWith('evil') && name !== page).map((name) => call(name, {})),
    };
  return {
    text: '',
    calls: [
      call(`${longName}${attack}`, { [longName]: attack }),
      call('delegate', { task: `${attack} ${longName.repeat(20)}`, calls: 12 }),
      call('delegate', { task: 'Read \u0000 it.', calls: 1e9 }),
      call('read_blob', { handle: '../../settings.json', offset: 0 }),
    ],
  };
}

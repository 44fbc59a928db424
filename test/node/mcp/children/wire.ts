/** The little of the protocol that a server needs to be taken for one. Answers are built by hand, so that wrong ones can be. */
import { createInterface } from 'node:readline';

export interface Wire {
  send(message: unknown): void;
  result(id: unknown, result: unknown): void;
}

export interface Behaviour {
  readonly tools: unknown;
  call(id: unknown, params: { readonly name: string; readonly arguments?: unknown }, wire: Wire): void;
  note?(method: string, params: unknown, wire: Wire): void;
}

export function behave(behaviour: Behaviour): void {
  const wire: Wire = {
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    result: (id, result) => wire.send({ jsonrpc: '2.0', id, result }),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line) as { id?: unknown; method: string; params?: never };
    if (method === 'initialize') {
      const serverInfo = { name: 'child', version: '1' };
      wire.result(id, { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo });
    } else if (method === 'tools/list') wire.result(id, { tools: behaviour.tools });
    else if (method === 'tools/call') behaviour.call(id, params ?? { name: '' }, wire);
    else behaviour.note?.(method, params, wire);
  });
}

export const plainTool = (name: string): unknown => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
});

export const text = (words: string): unknown => ({ content: [{ type: 'text', text: words }] });

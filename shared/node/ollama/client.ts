/**
 * The request as the `ollama` package makes it: path, headers, user agent. It gets our `fetch`, which notes the request and
 * hands back an empty reply, so that the package never reads a byte of a stream: it only accepts an abort after the headers,
 * loses the status of error lines, and writes bodies that it cannot read to the console.
 * Messages never pass through it either: the Node entry takes an image text that names a file for that file.
 */
import { Ollama } from 'ollama';
import type { OllamaAddress } from './address.ts';
import type { HttpAsk } from './exchange.ts';

/** One client per call: nothing that it keeps can reach another call. Rejects only where the package itself throws. */
export function askOf(address: OllamaAddress, call: (client: Ollama) => Promise<unknown>): Promise<HttpAsk> {
  return new Promise((resolve, reject) => {
    const note = (input: unknown, init: RequestInit = {}): Promise<Response> => {
      resolve({
        method: init.method ?? 'GET',
        url: String(input),
        headers: Object.fromEntries(new Headers(init.headers).entries()),
        body: typeof init.body === 'string' ? init.body : null,
      });
      return Promise.resolve(new Response('{}'));
    };
    call(new Ollama({ host: address.url, fetch: note as typeof fetch })).catch(reject);
  });
}

/**
 * How our simulator says what it is, whoever started it and wherever: a path that no Ollama has. A console that is pointed at
 * one by address would otherwise show simulated numbers as measured ones.
 */
import type { CancelSignal } from '../../engine/ports.ts';
import type { OllamaAddress } from './address.ts';
import { startExchange } from './exchange.ts';
import { createWatch } from './watch.ts';

export const simulatorPath = '/spillway-simulator';
export const simulatorMark = { spillway: 'simulator' } as const;

const markTimeoutMs = 2_000;
const markBytesMax = 4_096;

/** false for every server that does not say so. One request; ask it once a server, since a real one logs it as not found. */
export async function isSimulator(address: OllamaAddress, signal: CancelSignal): Promise<boolean> {
  const watch = createWatch(signal, markTimeoutMs);
  if (watch.reason !== null) return false;
  const exchange = startExchange(address, {
    method: 'GET',
    url: `${address.url}${simulatorPath}`,
    headers: {},
    body: null,
  });
  watch.onAbort(() => exchange.close());
  try {
    const head = await exchange.head;
    if ('phase' in head || head.status !== 200) return false;
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of exchange.body()) {
      parts.push(part);
      size += part.byteLength;
      if (size > markBytesMax) return false;
    }
    const body: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return (
      typeof body === 'object' && body !== null && (body as { spillway?: unknown }).spillway === simulatorMark.spillway
    );
  } catch {
    return false;
  } finally {
    watch.end();
    exchange.close();
  }
}

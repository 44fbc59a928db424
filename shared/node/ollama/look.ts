/** Looks whether a server is there, at each address it could have, and says what each of them answered. */
import type { CancelSignal } from '../../engine/ports.ts';
import type { OllamaAddress } from './address.ts';
import { askOf } from './client.ts';
import { versionOf } from './facts.ts';
import { type HttpFailure, hostAndPort, startExchange } from './exchange.ts';
import { secondsText } from './texts.ts';
import { createWatch } from './watch.ts';

export const lookTimeoutMs = 2_000;
const versionBytesMax = 64 * 1024;

/** `version` null = nobody there. `problem`: one sentence with the next step, null when there is a server. */
export interface LookReport {
  readonly version: string | null;
  readonly problem: string | null;
  readonly looks: readonly { readonly address: string; readonly outcome: string }[];
}

/** Asks every address at once; the first in their order that is Ollama gives the version. Never throws. */
export async function look(
  address: OllamaAddress,
  options: { readonly signal?: CancelSignal; readonly timeoutMs?: number } = {},
): Promise<LookReport> {
  const timeoutMs = options.timeoutMs ?? lookTimeoutMs;
  const signal = options.signal ?? nobody;
  const found = await Promise.all(address.hosts.map((host) => lookAt(address, host, signal, timeoutMs)));
  const version = found.find((each) => each.version !== null)?.version ?? null;
  const looks = found.map(({ address: at, outcome }) => ({ address: at, outcome }));
  return { version, looks, problem: version === null ? problemOf(address, looks) : null };
}

const nobody: CancelSignal = { aborted: false, reason: null, onAbort: () => () => undefined };

interface Found {
  readonly address: string;
  readonly outcome: string;
  readonly version: string | null;
}

async function lookAt(address: OllamaAddress, host: string, signal: CancelSignal, timeoutMs: number): Promise<Found> {
  const at = hostAndPort(host, address.port);
  const only: OllamaAddress = { ...address, hosts: [host] };
  const watch = createWatch(signal, timeoutMs);
  if (watch.reason !== null) return { address: at, outcome: 'not asked', version: null };
  const exchange = startExchange(only, await askOf(only, (client) => client.version()));
  watch.onAbort(() => exchange.close());
  try {
    const head = await exchange.head;
    const silent = (): string => (watch.timedOut ? `no answer in ${secondsText(timeoutMs)}` : 'stopped');
    if ('phase' in head) {
      const outcome = watch.reason !== null ? silent() : spoken(head);
      return { address: at, outcome, version: null };
    }
    let body = '';
    const decoder = new TextDecoder('utf-8');
    for await (const part of exchange.body()) {
      body += decoder.decode(part, { stream: true });
      if (body.length > versionBytesMax) break;
    }
    if (watch.reason !== null) return { address: at, outcome: silent(), version: null };
    if (head.status === 403) return { address: at, outcome: 'answers, but does not allow this Host', version: null };
    const version = head.status === 200 ? versionIn(body) : null;
    return { address: at, outcome: version === null ? 'answers, but is not Ollama' : `Ollama ${version}`, version };
  } finally {
    watch.end();
    exchange.close();
  }
}

function spoken(failure: HttpFailure): string {
  if (failure.phase === 'connect') return failure.looks[0]?.outcome ?? failure.text;
  return failure.text === 'answers, but not in HTTP' ? 'answers, but is not Ollama' : failure.text;
}

function versionIn(body: string): string | null {
  try {
    return versionOf(JSON.parse(body));
  } catch {
    return null;
  }
}

function problemOf(address: OllamaAddress, looks: LookReport['looks']): string {
  const only = looks.length === 1 ? looks[0] : undefined;
  const outcomes =
    only === undefined ? looks.map((each) => `${each.address} ${each.outcome}`).join(', ') : only.outcome;
  return `No Ollama at ${address.label} (${outcomes}): start it, or use the simulator.`;
}

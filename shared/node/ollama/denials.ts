/** Refusals of the server, put into our words with the next step. */
import { type Denial, denied } from '../../contract/denials.ts';
import type { OllamaAddress } from './address.ts';
import type { ErrorReading } from './error-text.ts';
import { type HttpFailure, looksText } from './exchange.ts';

export const START_IT = 'Start it, or use the simulator.';

/** `No Ollama at localhost:11434 (127.0.0.1:11434 connection refused, [::1]:11434 connection refused): start it, …`. */
export function noServerText(address: OllamaAddress, failure: HttpFailure): string {
  return `No Ollama at ${address.label} (${lookedText(failure)}): start it, or use the simulator`;
}

export function noServer(address: OllamaAddress, failure: HttpFailure): Denial {
  return denied('no-server', `No Ollama at ${address.label} (${lookedText(failure)}).`, { next: START_IT }).denial;
}

function lookedText(failure: HttpFailure): string {
  const only = failure.looks.length === 1 ? failure.looks[0] : undefined;
  if (only !== undefined) return only.outcome;
  return failure.looks.length === 0 ? failure.text : looksText(failure.looks);
}

export function notOllama(address: OllamaAddress): Denial {
  return denied('no-server', `${address.label} answers, but is not Ollama.`, {
    next: 'Check the address, or use the simulator.',
  }).denial;
}

/** A status that is not 2xx, for a read. Chat and generate keep the server's own text instead. */
export function refusedRead(address: OllamaAddress, status: number, reading: ErrorReading): Denial {
  const { error } = reading;
  if (reading.needs !== null || /exceeds? .*context length|longer than the context length/i.test(error)) {
    return denied('over-window', sentence(error), { next: 'Shorten the text, or raise num_ctx.' }).denial;
  }
  if (/does not support/i.test(error))
    return denied('unsupported', sentence(error), { next: 'Choose another model.' }).denial;
  if (status === 404 && /\bmodel\b.*not found/i.test(error)) {
    return denied('unknown-model', sentence(error), {
      next: 'Choose a model from the list, or pull it with ollama pull.',
    }).denial;
  }
  if (status >= 300 && status < 400) {
    return denied('no-server', sentence(error), { next: 'Use the address that it redirects to.' }).denial;
  }
  if (status === 403) {
    return denied('not-allowed', sentence(error), { next: 'Check OLLAMA_HOST and OLLAMA_ORIGINS of the server.' })
      .denial;
  }
  if (status === 404 || status === 405) return notOllama(address);
  if (status === 501) return denied('unsupported', sentence(error), { next: 'Choose another model.' }).denial;
  if (status === 503)
    return denied('busy', sentence(error), { next: 'Wait until other calls are done, then try again.' }).denial;
  if (status === 400) return denied('bad-input', sentence(error), { next: 'Correct it and send it again.' }).denial;
  return denied('server-error', sentence(error), { next: 'Look into the log of the server.' }).denial;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

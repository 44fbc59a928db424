/**
 * What an error of the server says. Ollama packs the runner's refusal as JSON text inside JSON, older and other runners write
 * it as plain text; both end here as one sentence and the two numbers.
 */
import { type Tokens, tokens } from '../../contract/units.ts';

/** needs, has: tokens the prompt needs and the window has; null = not said. */
export interface ErrorReading {
  readonly error: string;
  readonly needs: Tokens | null;
  readonly has: Tokens | null;
}

/** Longest error text that is kept, in UTF-16 units. */
export const errorCharactersMax = 4_000;

/** `value`: the parsed body or line, or the `error` field of one. Never empty. */
export function readError(value: unknown): ErrorReading {
  const found = dig(value, 0);
  const error = (found.text ?? '').trim() === '' ? 'The server gave an empty error' : (found.text ?? '');
  const spoken = numbersIn(error);
  return {
    error: error.slice(0, errorCharactersMax),
    needs: found.needs ?? spoken.needs,
    has: found.has ?? spoken.has,
  };
}

/** The reply of a refusal: status and whole body, in whatever form it came. */
export function readRefusal(reply: {
  readonly status: number;
  readonly statusText: string;
  readonly location: string | null;
  readonly body: string;
}): ErrorReading {
  const body = reply.body.replace(/^\uFEFF/, '').trim();
  const status = `${reply.status}${reply.statusText === '' ? '' : ` ${reply.statusText}`}`;
  const plain = (error: string): ErrorReading => ({ error, needs: null, has: null });
  if (reply.status >= 300 && reply.status < 400) {
    return plain(
      `${status}: the address redirects${reply.location === null ? '' : ` to ${reply.location.slice(0, 500)}`}`,
    );
  }
  if (body === '') {
    return plain(
      reply.status === 403 ? `${status}: the server does not allow this Host or Origin` : `${status}, with no text`,
    );
  }
  if (body.startsWith('<')) return plain(`${status}: ${htmlText(body)}`);
  const parsed = parse(body);
  return parsed === undefined ? readError(body) : readError(parsed);
}

/** Says what the page is in one line, without its markup. */
export function htmlText(page: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(page)?.[1]?.trim() ?? '';
  return `an HTML page came instead of a reply${title === '' ? '' : ` ("${title}")`}`;
}

interface Found {
  readonly text: string | null;
  readonly needs: Tokens | null;
  readonly has: Tokens | null;
}

/** Goes through `error` and text that is JSON again; three levels are one more than any server writes. */
function dig(value: unknown, depth: number): Found {
  if (typeof value === 'string') {
    const inner = depth < 4 && value.trimStart().startsWith('{') ? parse(value) : undefined;
    return inner === undefined ? { text: value, needs: null, has: null } : dig(inner, depth + 1);
  }
  if (typeof value !== 'object' || value === null)
    return { text: value === null || value === undefined ? null : String(value), needs: null, has: null };
  const record = value as Record<string, unknown>;
  const inner = depth < 4 && record.error !== undefined && record.error !== null ? dig(record.error, depth + 1) : null;
  const message = typeof record.message === 'string' ? record.message : null;
  return {
    text: inner?.text ?? message ?? JSON.stringify(value),
    needs: inner?.needs ?? count(record.n_prompt_tokens),
    has: inner?.has ?? count(record.n_ctx),
  };
}

const spokenForms = [
  /request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/,
  /input length \((\d+) tokens\) exceeds the model's maximum context length \((\d+) tokens\)/,
];

function numbersIn(text: string): Pick<ErrorReading, 'needs' | 'has'> {
  for (const form of spokenForms) {
    const match = form.exec(text);
    if (match !== null) return { needs: count(Number(match[1])), has: count(Number(match[2])) };
  }
  // The fields themselves, in JSON inside a longer text or printed as a Go map.
  return { needs: field(text, 'n_prompt_tokens'), has: field(text, 'n_ctx') };
}

function field(text: string, name: string): Tokens | null {
  const match = new RegExp(`\\b${name}\\\\?"?\\s*:\\s*(\\d+)`).exec(text);
  return match === null ? null : count(Number(match[1]));
}

function count(value: unknown): Tokens | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? tokens(value) : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

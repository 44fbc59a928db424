/** Reads a recorded request body of any chat route into what the classifier wants to know. */
import type { TruncationInput } from '../truncation/types.ts';
import { type Fields, fieldsOf, listOf, textOf, wholeOf, yesNoOf } from './values.ts';

export interface ReadRequest {
  readonly model: string | null;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly hasImages: boolean;
  /** Tools, replayed tool calls, a former context: tokens that no text shows. */
  readonly hasUncountedParts: boolean;
  readonly numCtx: number | null;
  readonly numKeep: number | null;
  readonly numPredict: number | null;
  readonly truncate: boolean | null;
  readonly shift: boolean | null;
  readonly raw: boolean;
}

export function readRequestBody(body: Fields, route: TruncationInput['route']): ReadRequest {
  const options = fieldsOf(body['options']) ?? {};
  const isV1 = route === 'v1-chat' || route === 'v1-other';
  const found = messagesOf(body);
  return {
    model: textOf(body['model']),
    messages: found.messages,
    hasImages: found.hasImages || listOf(body['images']).length > 0,
    hasUncountedParts:
      found.hasUncountedParts ||
      listOf(body['tools']).length > 0 ||
      listOf(body['context']).length > 0 ||
      listOf(body['images']).length > 0,
    numCtx: isV1 ? null : wholeOf(options['num_ctx']),
    numKeep: isV1 ? null : wholeOf(options['num_keep']),
    // max_completion_tokens is not heeded by the server, so it bounds nothing.
    numPredict: isV1
      ? (wholeOf(body['max_tokens']) ?? wholeOf(body['max_output_tokens']))
      : wholeOf(options['num_predict']),
    truncate: yesNoOf(body['truncate']),
    shift: yesNoOf(body['shift']),
    raw: body['raw'] === true,
  };
}

interface Found {
  readonly messages: { role: string; content: string }[];
  hasImages: boolean;
  hasUncountedParts: boolean;
}

const MESSAGES_MAX = 100_000;

function messagesOf(body: Fields): Found {
  const found: Found = { messages: [], hasImages: false, hasUncountedParts: false };
  for (const name of ['system', 'instructions'] as const) add(found, 'system', body[name]);
  for (const item of [...listOf(body['messages']), ...listOf(body['input'])].slice(0, MESSAGES_MAX)) {
    if (typeof item === 'string') add(found, 'user', item);
    const message = fieldsOf(item);
    if (message === null) continue;
    if (listOf(message['images']).length > 0) markImages(found);
    if (listOf(message['tool_calls']).length > 0) found.hasUncountedParts = true;
    add(found, (textOf(message['role']) ?? 'user').toLowerCase(), message['content'] ?? '');
  }
  const prompt = textOf(body['prompt']) ?? textOf(body['input']);
  if (prompt !== null) add(found, 'user', prompt);
  const suffix = textOf(body['suffix']);
  if (suffix !== null && suffix !== '') add(found, 'user', suffix);
  return found;
}

/** A content of parts becomes one message a part, as the server does it. */
function add(found: Found, role: string, content: unknown): void {
  if (typeof content === 'string') found.messages.push({ role, content });
  for (const item of listOf(content)) {
    const part = fieldsOf(item);
    const text = typeof item === 'string' ? item : (textOf(part?.['text']) ?? textOf(part?.['content']));
    if (text !== null) found.messages.push({ role, content: text });
    else if (/image/.test(textOf(part?.['type']) ?? '')) markImages(found);
    else found.hasUncountedParts = true;
  }
}

function markImages(found: Found): void {
  found.hasImages = true;
  found.hasUncountedParts = true;
}

/**
 * Reads a recorded reply: one JSON object, lines of JSON, or server-sent events, of every chat route. Lines that are no JSON are
 * kept as error text; a reply without an end is `cut`.
 */
import { readError } from './nested-error.ts';
import { type Fields, countOf, fieldsOf, listOf, parseJson, textOf, yesNoOf } from './values.ts';

export interface ReadReply {
  readonly family:
    'ollama-chat' | 'ollama-generate' | 'openai' | 'anthropic' | 'responses' | 'embedding' | 'error' | 'unknown';
  readonly model: string | null;
  readonly answer: string;
  readonly thinking: string;
  readonly toolCalls: number;
  readonly done: boolean;
  readonly doneReason: string | null;
  readonly promptEvalCount: number | null;
  readonly evalCount: number | null;
  readonly contextLength: number | null;
  readonly error: string | null;
  readonly needs: number | null;
  readonly has: number | null;
  /** Something before the error arrived: it broke while it was streaming. */
  readonly startedBeforeError: boolean;
}

/** null: nothing in it looks like a reply. */
export function readReplyBody(body: unknown): ReadReply | null {
  const draft = newDraft();
  for (const part of partsOf(body)) take(draft, part);
  return draft.family === 'unknown' && draft.error === null
    ? null
    : { ...draft, answer: draft.answers.join(''), thinking: draft.thoughts.join('') };
}

type Draft = { -readonly [Key in keyof ReadReply]: ReadReply[Key] } & {
  readonly answers: string[];
  readonly thoughts: string[];
};

function newDraft(): Draft {
  return {
    family: 'unknown',
    model: null,
    answer: '',
    thinking: '',
    toolCalls: 0,
    done: false,
    doneReason: null,
    promptEvalCount: null,
    evalCount: null,
    contextLength: null,
    error: null,
    needs: null,
    has: null,
    startedBeforeError: false,
    answers: [],
    thoughts: [],
  };
}

/** Objects of the reply in order; a text that is no JSON comes as it is. */
function partsOf(body: unknown): readonly unknown[] {
  if (typeof body !== 'string') return Array.isArray(body) ? body : [body];
  const text = body.replace(/^\uFEFF/, '');
  if (text.trim() === '') return [];
  const whole = parseJson(text);
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole];
  return linesOf(text);
}

function linesOf(text: string): readonly unknown[] {
  const parts: unknown[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '' || /^(?:event|id|retry):|^:/.test(trimmed)) continue;
    const data = trimmed.startsWith('data:') ? trimmed.slice(5).trim() : trimmed;
    if (data === '[DONE]') continue;
    const parsed = parseJson(data);
    parts.push(parsed === undefined ? data : parsed);
  }
  return parts;
}

function take(draft: Draft, part: unknown): void {
  const fields = fieldsOf(part);
  if (fields === null) {
    if (typeof part === 'string') takeError(draft, part);
    return;
  }
  if (fields['error'] !== undefined && fields['error'] !== null) return takeError(draft, fields['error']);
  draft.model ??= textOf(fields['model']);
  if (Array.isArray(fields['choices'])) takeOpenAi(draft, fields);
  else if (isAnthropic(fields)) takeAnthropic(draft, fields);
  else if (fields['object'] === 'response' || textOf(fields['type'])?.startsWith('response.') === true)
    takeResponses(draft, fields);
  else if (isEmbedding(fields)) takeEmbedding(draft, fields);
  else takeOllama(draft, fields);
}

function takeError(draft: Draft, value: unknown): void {
  if (draft.error !== null) return;
  const { text, needs, has } = readError(value);
  draft.error = text.slice(0, 20_000);
  draft.needs = needs;
  draft.has = has;
  draft.startedBeforeError = draft.family !== 'unknown';
  if (draft.family === 'unknown') draft.family = 'error';
}

function takeOllama(draft: Draft, fields: Fields): void {
  const message = fieldsOf(fields['message']);
  const response = textOf(fields['response']);
  if (
    message === null &&
    response === null &&
    yesNoOf(fields['done']) === null &&
    countOf(fields['prompt_eval_count']) === null
  )
    return;
  if (draft.family === 'unknown')
    draft.family = message === null && response !== null ? 'ollama-generate' : 'ollama-chat';
  push(draft.answers, response ?? textOf(message?.['content']));
  push(draft.thoughts, textOf(message?.['thinking']) ?? textOf(fields['thinking']));
  draft.toolCalls += listOf(message?.['tool_calls']).length;
  draft.promptEvalCount = countOf(fields['prompt_eval_count']) ?? draft.promptEvalCount;
  draft.evalCount = countOf(fields['eval_count']) ?? draft.evalCount;
  if (Array.isArray(fields['context'])) draft.contextLength = fields['context'].length;
  if (fields['done'] === true) {
    draft.done = true;
    draft.doneReason = textOf(fields['done_reason']);
  }
}

function takeOpenAi(draft: Draft, fields: Fields): void {
  draft.family = 'openai';
  for (const item of listOf(fields['choices'])) {
    const choice = fieldsOf(item) ?? {};
    const message = fieldsOf(choice['message']) ?? fieldsOf(choice['delta']) ?? {};
    push(draft.answers, textOf(message['content']) ?? textOf(choice['text']));
    push(draft.thoughts, textOf(message['reasoning']) ?? textOf(message['reasoning_content']));
    draft.toolCalls += listOf(message['tool_calls']).length;
    const reason = textOf(choice['finish_reason']);
    if (reason === null) continue;
    draft.done = true;
    draft.doneReason = reason === 'tool_calls' ? 'stop' : reason;
  }
  const usage = fieldsOf(fields['usage']);
  draft.promptEvalCount = countOf(usage?.['prompt_tokens']) ?? draft.promptEvalCount;
  draft.evalCount = countOf(usage?.['completion_tokens']) ?? draft.evalCount;
}

function isEmbedding(fields: Fields): boolean {
  return (
    Array.isArray(fields['embeddings']) ||
    Array.isArray(fields['embedding']) ||
    (fields['object'] === 'list' && fields['usage'] !== undefined)
  );
}

function takeEmbedding(draft: Draft, fields: Fields): void {
  draft.family = 'embedding';
  draft.done = true;
  draft.promptEvalCount = countOf(fields['prompt_eval_count']) ?? countOf(fieldsOf(fields['usage'])?.['prompt_tokens']);
}

const ANTHROPIC = new Set([
  'message',
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'ping',
]);

function isAnthropic(fields: Fields): boolean {
  const type = textOf(fields['type']);
  return type !== null && ANTHROPIC.has(type);
}

function takeAnthropic(draft: Draft, fields: Fields): void {
  draft.family = 'anthropic';
  draft.model ??= textOf(fieldsOf(fields['message'])?.['model']);
  for (const item of listOf(fields['content'])) takeBlock(draft, fieldsOf(item) ?? {});
  takeBlock(draft, fieldsOf(fields['delta']) ?? {});
  if (fieldsOf(fields['content_block'])?.['type'] === 'tool_use') draft.toolCalls += 1;
  const reason = textOf(fields['stop_reason']) ?? textOf(fieldsOf(fields['delta'])?.['stop_reason']);
  if (reason !== null) {
    draft.done = true;
    draft.doneReason = reason === 'max_tokens' ? 'length' : 'stop';
  }
  // The count in message_start is a guess made before evaluation: only the usage at the end is the server's count.
  const usage = fieldsOf(fields['usage']);
  draft.promptEvalCount = countOf(usage?.['input_tokens']) ?? draft.promptEvalCount;
  draft.evalCount = countOf(usage?.['output_tokens']) ?? draft.evalCount;
}

function takeBlock(draft: Draft, block: Fields): void {
  push(draft.answers, textOf(block['text']));
  push(draft.thoughts, textOf(block['thinking']));
  if (block['type'] === 'tool_use') draft.toolCalls += 1;
}

function takeResponses(draft: Draft, fields: Fields): void {
  draft.family = 'responses';
  if (fields['type'] === 'response.output_text.delta') push(draft.answers, textOf(fields['delta']));
  const response = fields['object'] === 'response' ? fields : fieldsOf(fields['response']);
  if (response === null) return;
  draft.model ??= textOf(response['model']);
  const isStream = fields['object'] !== 'response';
  for (const item of listOf(response['output'])) {
    const output = fieldsOf(item) ?? {};
    if (output['type'] === 'function_call') draft.toolCalls += 1;
    if (!isStream)
      for (const block of listOf(output['content'])) push(draft.answers, textOf(fieldsOf(block)?.['text']));
  }
  const usage = fieldsOf(response['usage']);
  draft.promptEvalCount = countOf(usage?.['input_tokens']) ?? draft.promptEvalCount;
  draft.evalCount = countOf(usage?.['output_tokens']) ?? draft.evalCount;
  const status = textOf(response['status']);
  if (status !== 'completed' && status !== 'incomplete') return;
  draft.done = true;
  draft.doneReason =
    textOf(fieldsOf(response['incomplete_details'])?.['reason']) === 'max_output_tokens' ? 'length' : 'stop';
}

function push(list: string[], text: string | null): void {
  if (text !== null && text !== '') list.push(text);
}

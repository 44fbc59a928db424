/**
 * A reply that was recorded elsewhere, as the pieces it came in: one JSON object, lines of JSON or server-sent events, of every chat
 * route. Lenient: a field of the wrong type is a field that is not there.
 */
import { type Fields, fieldsOf, listOf, parseJson, textOf } from '../explain/values.ts';
import type { LogprobEntry, ReasoningPiece, ReasoningSettings } from './types.ts';

/** pieces: in order. isStream: more than one chunk, so each is about a token. */
export interface RecordedPieces {
  readonly pieces: readonly ReasoningPiece[];
  readonly isStream: boolean;
}

export function recordedPieces(body: unknown): RecordedPieces {
  const objects = objectsOf(body);
  return { pieces: objects.flatMap(pieceOf), isStream: objects.length > 1 };
}

/** `think` as the request says it, whatever the route; null = it does not say. */
export function recordedThink(body: Fields): ReasoningSettings['think'] {
  if (typeof body['think'] === 'boolean' || typeof body['think'] === 'string') return body['think'];
  const effort = textOf(body['reasoning_effort']) ?? textOf(fieldsOf(body['reasoning'])?.['effort']);
  if (effort !== null) return effort.toLowerCase() === 'none' ? false : effort;
  const anthropic = textOf(fieldsOf(body['thinking'])?.['type']);
  if (anthropic === null) return null;
  return anthropic !== 'disabled';
}

/** A grammar was asked for: the reply is data, and a thinking model wrote it in a second pass. */
export function recordedStructured(body: Fields): boolean {
  const format =
    body['format'] ??
    fieldsOf(body['response_format'])?.['type'] ??
    fieldsOf(fieldsOf(body['text'])?.['format'])?.['type'];
  return format !== undefined && format !== null && format !== '' && format !== 'text';
}

function objectsOf(body: unknown): readonly Fields[] {
  if (typeof body !== 'string') return asObjects(body);
  const text = body.replace(/^\uFEFF/, '');
  const whole = parseJson(text);
  if (whole !== undefined) return asObjects(whole);
  return text.split('\n').flatMap((line) => {
    const trimmed = line.trim();
    return asObjects(parseJson(trimmed.startsWith('data:') ? trimmed.slice(5) : trimmed));
  });
}

function asObjects(value: unknown): readonly Fields[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.map(fieldsOf).filter((item) => item !== null);
}

function pieceOf(fields: Fields): readonly ReasoningPiece[] {
  if (fields['error'] !== undefined && fields['error'] !== null) return [];
  if (Array.isArray(fields['choices'])) return listOf(fields['choices']).map((item) => ofChoice(fieldsOf(item) ?? {}));
  const type = textOf(fields['type']) ?? '';
  if (fields['object'] === 'response' || type.startsWith('response.')) return ofResponse(fields, type);
  if (ANTHROPIC.test(type)) return ofAnthropic(fields);
  const message = fieldsOf(fields['message']);
  return [
    {
      content: textOf(fields['response']) ?? textOf(message?.['content']) ?? '',
      thinking: textOf(message?.['thinking']) ?? textOf(fields['thinking']) ?? '',
      ...toolsOf(listOf(message?.['tool_calls'] ?? fields['tool_calls'])),
      logprobs: entriesOf(fields['logprobs']),
    },
  ];
}

const ANTHROPIC = /^(?:message|content_block)(?:_|$)/;

function ofChoice(choice: Fields): ReasoningPiece {
  const message = fieldsOf(choice['message']) ?? fieldsOf(choice['delta']) ?? {};
  return {
    content: textOf(message['content']) ?? textOf(choice['text']) ?? '',
    thinking: textOf(message['reasoning']) ?? textOf(message['reasoning_content']) ?? '',
    ...toolsOf(listOf(message['tool_calls'])),
    logprobs: entriesOf(fieldsOf(choice['logprobs'])?.['content']),
  };
}

function ofAnthropic(fields: Fields): readonly ReasoningPiece[] {
  const blocks = [...listOf(fields['content']), fields['delta'], fields['content_block']];
  return blocks.flatMap((item) => {
    const block = fieldsOf(item);
    return block === null ? [] : [ofBlock(block)];
  });
}

function ofBlock(block: Fields): ReasoningPiece {
  const isTool = block['type'] === 'tool_use';
  const delta = textOf(block['partial_json']) ?? '';
  return {
    content: textOf(block['text']) ?? '',
    thinking: textOf(block['thinking']) ?? '',
    toolCalls: isTool ? 1 : 0,
    toolCharacters: (isTool ? lengthOf([block['name'], block['input']]) : 0) + delta.length,
  };
}

/** Streams bring the text in deltas and once more at the end: only the deltas are read there. */
function ofResponse(fields: Fields, type: string): readonly ReasoningPiece[] {
  const delta = textOf(fields['delta']) ?? '';
  if (type === 'response.output_text.delta') return [{ content: delta }];
  if (/^response\.reasoning(?:_summary)?(?:_text)?\.delta$/.test(type)) return [{ thinking: delta }];
  if (type === 'response.output_item.done') {
    const item = fieldsOf(fields['item']) ?? {};
    return item['type'] === 'function_call' ? [ofOutput(item)] : [];
  }
  return fields['object'] === 'response' ? listOf(fields['output']).map((item) => ofOutput(fieldsOf(item) ?? {})) : [];
}

function ofOutput(item: Fields): ReasoningPiece {
  if (item['type'] === 'function_call')
    return { toolCalls: 1, toolCharacters: lengthOf([item['name'], item['arguments']]) };
  const texts = [...listOf(item['content']), ...listOf(item['summary'])]
    .map((part) => textOf(fieldsOf(part)?.['text']) ?? '')
    .join('');
  return item['type'] === 'reasoning' ? { thinking: texts } : { content: texts };
}

function toolsOf(calls: readonly unknown[]): Pick<ReasoningPiece, 'toolCalls' | 'toolCharacters'> {
  return { toolCalls: calls.length, toolCharacters: calls.length === 0 ? 0 : lengthOf(calls) };
}

/** Length as JSON: names, arguments and the signs between them. */
function lengthOf(value: unknown): number {
  return (JSON.stringify(value) as string | undefined)?.length ?? 0;
}

function entriesOf(value: unknown): readonly LogprobEntry[] {
  return listOf(value).flatMap((item) => {
    const entry = fieldsOf(item);
    const token = textOf(entry?.['token']);
    if (token === null) return [];
    const bytes = listOf(entry?.['bytes']).filter((byte) => typeof byte === 'number');
    return [{ token, bytes: bytes.length === 0 ? null : bytes }];
  });
}

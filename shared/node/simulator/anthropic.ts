/** /v1/messages: the Anthropic route as Ollama translates it. Thinking a model cannot do is dropped here, not refused. */
import { randomBytes } from 'node:crypto';
import { record } from './families/template.ts';
import { text } from './openai-request.ts';
import type {
  ChatMessage,
  ParsedRequest,
  ReplyChunk,
  RouteContext,
  RouteHandler,
  ThinkSetting,
  ToolCall,
} from './options.ts';
import { runRequest } from './pipeline.ts';
import { goJson } from './wire.ts';
import { parsedRequest, readObject, refuseV1, v1Sink, type BodyShape, type V1Format, type WholeReply } from './v1.ts';

export const anthropicRoutes: Readonly<Record<string, RouteHandler>> = { 'POST /v1/messages': messages };

type Raw = Readonly<Record<string, unknown>>;

const shape: BodyShape = {
  owner: 'anthropic',
  struct: 'MessagesRequest',
  types: {
    model: 'string',
    max_tokens: 'int',
    messages: '[]anthropic.MessageParam',
    stream: 'bool',
    temperature: 'float64',
    top_p: 'float64',
    top_k: 'int',
    stop_sequences: '[]string',
    tools: '[]anthropic.Tool',
  },
};

async function messages(context: RouteContext): Promise<void> {
  const body = readObject(context, { refusal }, shape);
  if (body === null) return;
  const problem = missing(body);
  if (problem !== null) return refuseV1(context, { refusal }, 400, problem);
  const converted = convertRequest(body);
  if (typeof converted === 'string') return refuseV1(context, { refusal }, 400, converted);
  const sink = v1Sink(context, messageFormat(converted.model, estimatedTokens(body)), converted.stream);
  await runRequest(context.state, converted, sink, context.signal);
}

function missing(body: Raw): string | null {
  if (text(body['model']) === '') return 'model is required';
  if (typeof body['max_tokens'] !== 'number' || body['max_tokens'] <= 0)
    return 'max_tokens is required and must be positive';
  return Array.isArray(body['messages']) && body['messages'].length > 0 ? null : 'messages is required';
}

function convertRequest(body: Raw): ParsedRequest | string {
  const system = blocks(body['system']).filter(isText).map(textOf).join('');
  const converted: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const message of list(body['messages'])) {
    const some = convertMessage(record(message));
    if (typeof some === 'string') return some;
    converted.push(...some);
  }
  const stops = list(body['stop_sequences']);
  const options = {
    num_predict: body['max_tokens'],
    temperature: body['temperature'],
    top_p: body['top_p'],
    top_k: body['top_k'],
    stop: stops.length > 0 ? stops : undefined,
  };
  return parsedRequest({
    kind: 'chat',
    model: text(body['model']),
    stream: body['stream'] === true,
    messages: converted,
    options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null)),
    tools: list(body['tools']).map(record).map(convertTool),
    think: thinkOf(body),
    relaxThinking: true,
  });
}

function convertTool(tool: Raw): unknown {
  const parameters = record(tool['input_schema']);
  return {
    type: 'function',
    function: {
      name: tool['name'],
      ...(text(tool['description']) === '' ? {} : { description: tool['description'] }),
      parameters,
    },
  };
}

function thinkOf(body: Raw): ThinkSetting {
  const kind = record(body['thinking'])['type'];
  if (kind === 'enabled') return true;
  if (kind === 'disabled') return false;
  const effort = text(record(body['output_config'])['effort']).trim().toLowerCase();
  if (effort === 'xhigh') return 'high';
  return effort === 'low' || effort === 'medium' || effort === 'high' || effort === 'max' ? effort : undefined;
}

/** Tool results of a user turn come before its text. A string is the refusal. */
function convertMessage(message: Raw): readonly ChatMessage[] | string {
  const role = text(message['role']).toLowerCase();
  const parts = blocks(message['content']);
  const images: string[] = [];
  const toolCalls: ToolCall[] = [];
  for (const part of parts) {
    if (part['type'] === 'image') {
      const source = record(part['source']);
      if (source['type'] !== 'base64')
        return `invalid image source type: ${text(source['type'])}. Only base64 images are supported.`;
      images.push(text(source['data']));
    }
    if (part['type'] !== 'tool_use') continue;
    for (const field of ['id', 'name'])
      if (text(part[field]) === '') return `tool_use block missing required '${field}' field`;
    toolCalls.push({
      id: text(part['id']),
      function: { index: toolCalls.length, name: text(part['name']), arguments: record(part['input']) },
    });
  }
  const results = parts.filter((part) => part['type'] === 'tool_result').map(resultMessage);
  const content = parts.filter(isText).map(textOf).join('');
  const thinking = text(parts.findLast((part) => part['type'] === 'thinking')?.['thinking']);
  const isEmpty = content === '' && images.length === 0 && toolCalls.length === 0 && thinking === '';
  const said: ChatMessage = {
    role,
    content,
    ...(images.length > 0 ? { images } : {}),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...(thinking === '' ? {} : { thinking }),
  };
  const own = isEmpty ? [] : [said];
  return role === 'user' ? [...results, ...own] : [...own, ...results];
}

function resultMessage(part: Raw): ChatMessage {
  return {
    role: 'tool',
    content: blocks(part['content']).filter(isText).map(textOf).join(''),
    toolCallId: text(part['tool_use_id']),
  };
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const blocks = (value: unknown): readonly Raw[] =>
  typeof value === 'string' ? [{ type: 'text', text: value }] : list(value).map(record);
const isText = (part: Raw): boolean => part['type'] === 'text';
const textOf = (part: Raw): string => text(part['text']);

/** What message_start claims before anything was counted: bytes divided by four. */
function estimatedTokens(body: Raw): number {
  const ofBlocks = (value: unknown): number =>
    blocks(value)
      .map(
        (part) =>
          bytes(text(part['text'])) +
          bytes(text(part['thinking'])) +
          (part['type'] === 'tool_use' || part['type'] === 'tool_result' ? bytes(goJson(part)) : 0),
      )
      .reduce((sum, size) => sum + size, 0);
  const ofMessages = list(body['messages'])
    .map(record)
    .map((message) => bytes(text(message['role'])) + ofBlocks(message['content']));
  const ofTools = list(body['tools'])
    .map(record)
    .map(
      (tool) =>
        bytes(text(tool['name'])) +
        bytes(text(tool['description'])) +
        (tool['input_schema'] === undefined ? 0 : bytes(JSON.stringify(tool['input_schema']))),
    );
  const total = [ofBlocks(body['system']), ...ofMessages, ...ofTools].reduce((sum, size) => sum + size, 0);
  return Math.max(1, Math.floor(total / 4));
}

const bytes = (value: string): number => Buffer.byteLength(value);

function refusal(status: number, message: string): unknown {
  const types: Readonly<Record<number, string>> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    429: 'rate_limit_error',
    503: 'overloaded_error',
  };
  return {
    type: 'error',
    error: { type: types[status] ?? 'api_error', message },
    request_id: `req_${randomBytes(12).toString('hex')}`,
  };
}

function messageFormat(model: string, inputTokens: number): V1Format {
  const id = `msg_${randomBytes(12).toString('hex')}`;
  const blocksSent = new BlockWriter({
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    usage: { input_tokens: inputTokens, output_tokens: 0 },
  });
  return {
    refusal,
    announcesStream: true,
    whole: (reply) => ({
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: contentOf(reply),
      ...stopReason(reply.doneReason, reply.toolCalls.length > 0),
      usage: { input_tokens: reply.metrics?.promptEvalCount ?? 0, output_tokens: reply.metrics?.evalCount ?? 0 },
    }),
    writes: (chunk) => blocksSent.chunk(chunk),
    broken: () => [],
  };
}

function contentOf(reply: WholeReply): unknown {
  const content = [
    ...(reply.thinking === '' ? [] : [{ type: 'thinking', thinking: reply.thinking }]),
    ...(reply.content === '' ? [] : [{ type: 'text', text: reply.content }]),
    ...reply.toolCalls.map((call) => ({
      type: 'tool_use',
      id: call.id ?? '',
      name: call.function.name,
      input: call.function.arguments,
    })),
  ];
  return content.length === 0 ? null : content;
}

function stopReason(reason: string, hasCalls: boolean): object {
  if (hasCalls) return { stop_reason: 'tool_use' };
  if (reason === '') return {};
  return { stop_reason: reason === 'stop' ? 'end_turn' : reason === 'length' ? 'max_tokens' : 'stop_sequence' };
}

/** One content block open at a time: thinking, then text, then a block for each call. Every event is a write of its own. */
class BlockWriter {
  private readonly head: unknown;
  private started = false;
  private index = 0;
  private open: 'thinking' | 'text' | null = null;
  private callsSent = 0;
  private events: string[] = [];

  constructor(head: unknown) {
    this.head = head;
  }

  chunk(chunk: ReplyChunk): readonly string[] {
    this.events = [];
    if (!this.started) this.put('message_start', { message: this.head });
    this.started = true;
    if (chunk.thinking !== '') this.delta('thinking', { type: 'thinking_delta', thinking: chunk.thinking });
    if (chunk.content !== '') this.delta('text', { type: 'text_delta', text: chunk.content });
    for (const call of chunk.toolCalls) this.call(call);
    if (chunk.done) this.finish(chunk);
    return this.events;
  }

  private delta(kind: 'thinking' | 'text', delta: object): void {
    if (this.open !== kind) {
      this.close();
      this.open = kind;
      this.put('content_block_start', { index: this.index, content_block: { type: kind, [kind]: '' } });
    }
    this.put('content_block_delta', { index: this.index, delta });
  }

  private call(call: ToolCall): void {
    this.close();
    this.put('content_block_start', {
      index: this.index,
      content_block: { type: 'tool_use', id: call.id ?? '', name: call.function.name, input: {} },
    });
    this.put('content_block_delta', {
      index: this.index,
      delta: { type: 'input_json_delta', partial_json: goJson(call.function.arguments) },
    });
    this.put('content_block_stop', { index: this.index });
    this.index++;
    this.callsSent++;
  }

  private close(): void {
    if (this.open === null) return;
    this.put('content_block_stop', { index: this.index });
    this.index++;
    this.open = null;
  }

  private finish(chunk: ReplyChunk): void {
    this.close();
    const usage = { input_tokens: chunk.metrics?.promptEvalCount ?? 0, output_tokens: chunk.metrics?.evalCount ?? 0 };
    this.put('message_delta', { delta: stopReason(chunk.doneReason ?? '', this.callsSent > 0), usage });
    this.put('message_stop', {});
  }

  private put(event: string, data: object): void {
    this.events.push(`event: ${event}\ndata: ${goJson({ type: event, ...data })}\n\n`);
  }
}

/** /v1/responses: OpenAI's newer route as Ollama translates it. Streamed event payloads have their keys sorted, as Go maps do. */
import { record } from './families/template.ts';
import { openAiCalls, openAiRefusal } from './openai.ts';
import { argumentsOf, responsesShape, text, thinkFromEffort } from './openai-request.ts';
import type { ChatMessage, ParsedRequest, ReplyChunk, RouteContext, RouteHandler, ToolCall } from './options.ts';
import { runRequest } from './pipeline.ts';
import { goJson } from './wire.ts';
import { parsedRequest, readObject, refuseV1, unixSeconds, v1Sink, type V1Format } from './v1.ts';

export const responsesRoutes: Readonly<Record<string, RouteHandler>> = { 'POST /v1/responses': responses };

type Raw = Readonly<Record<string, unknown>>;

async function responses(context: RouteContext): Promise<void> {
  const body = readObject(context, openAiRefusal, responsesShape);
  if (body === null) return;
  const converted = convertRequest(body);
  if (typeof converted === 'string') return refuseV1(context, openAiRefusal, 400, converted);
  await runRequest(context.state, converted, v1Sink(context, responseFormat(body), converted.stream), context.signal);
}

function convertRequest(body: Raw): ParsedRequest | string {
  const input = readInput(body['input']);
  if (typeof input === 'string') return input;
  const instructions = text(body['instructions']);
  const effort = record(body['reasoning'])['effort'];
  const think = thinkFromEffort(effort);
  if (!think.ok)
    return `invalid reasoning value: "${String(effort)}" (must be "high", "medium", "low", "max", or "none")`;
  const format = record(record(body['text'])['format']);
  const options = {
    temperature: body['temperature'] ?? 1,
    top_p: body['top_p'],
    num_predict: body['max_output_tokens'],
  };
  return parsedRequest({
    kind: 'chat',
    model: text(body['model']),
    stream: body['stream'] === true,
    messages: instructions === '' ? input : [{ role: 'system', content: instructions }, ...input],
    options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null)),
    tools: list(body['tools']).map(record).map(convertTool),
    format: format['type'] === 'json_schema' ? format['schema'] : undefined,
    think: think.value,
  });
}

function convertTool(tool: Raw): unknown {
  return {
    type: tool['type'],
    function: {
      name: tool['name'],
      ...(text(tool['description']) === '' ? {} : { description: tool['description'] }),
      parameters: record(tool['parameters']),
    },
  };
}

/** A string is the refusal: the items are wrong. */
function readInput(input: unknown): ChatMessage[] | string {
  if (typeof input === 'string') return input === '' ? [] : [{ role: 'user', content: input }];
  const messages: ChatMessage[] = [];
  let thinking = '';
  for (const [index, item] of list(input).map(record).entries()) {
    const kind = text(item['type']) || (text(item['role']) === '' ? '' : 'message');
    if (kind === 'reasoning') thinking = text(item['encrypted_content']);
    else if (kind === 'message') {
      const role = text(item['role']).toLowerCase();
      messages.push({
        role,
        content: contentText(item['content']),
        ...(role === 'assistant' && thinking !== '' ? { thinking } : {}),
      });
      if (role === 'assistant') thinking = '';
    } else if (kind === 'function_call') {
      addCall(messages, item, thinking);
      thinking = '';
    } else if (kind === 'function_call_output')
      messages.push({ role: 'tool', content: contentText(item['output']), toolCallId: text(item['call_id']) });
    else
      return `input[${index}]: ${kind === '' ? "input item missing required 'type' field" : `unknown input item type: ${JSON.stringify(kind)}`}`;
  }
  return thinking === '' ? messages : [...messages, { role: 'assistant', content: '', thinking }];
}

/** Calls join the assistant message before them. */
function addCall(messages: ChatMessage[], item: Raw, thinking: string): void {
  const call: ToolCall = {
    id: text(item['call_id']),
    function: { name: text(item['name']), arguments: argumentsOf(item['arguments'] ?? '') ?? {} },
  };
  const last = messages.at(-1);
  const more = thinking === '' ? {} : { thinking };
  if (last?.role === 'assistant')
    messages[messages.length - 1] = { ...last, ...more, toolCalls: [...(last.toolCalls ?? []), call] };
  else messages.push({ role: 'assistant', content: '', ...more, toolCalls: [call] });
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const contentText = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : list(value)
        .map((part) => text(record(part)['text']))
        .join('');

function responseFormat(body: Raw): V1Format {
  const id = `resp_${Math.floor(Math.random() * 999_999)}`;
  const itemId = `msg_${Math.floor(Math.random() * 999_999)}`;
  const stream = new EventWriter(body, id, itemId);
  return {
    ...openAiRefusal,
    announcesStream: true,
    whole(reply) {
      const output: unknown[] =
        reply.thinking === '' ? [] : [{ id: `rs_${id}`, type: 'reasoning', ...reasoning(reply.thinking) }];
      if (reply.toolCalls.length === 0) output.push(messageItem(itemId, 'completed', [outputText(reply.content)]));
      for (const [index, call] of openAiCalls(reply.toolCalls).entries()) {
        output.push({
          id: `fc_${id}_${index}`,
          type: 'function_call',
          status: 'completed',
          call_id: call.id,
          name: call.function.name,
          arguments: call.function.arguments,
        });
      }
      return responseObject(
        body,
        id,
        'completed',
        output,
        usageOf(reply.metrics?.promptEvalCount ?? 0, reply.metrics?.evalCount ?? 0),
      );
    },
    writes: (chunk) => stream.chunk(chunk),
    broken: () => [],
  };
}

/** The whole response with every field the API knows, most of them fixed. */
function responseObject(body: Raw, id: string, status: string, output: readonly unknown[], usage: unknown): object {
  const now = unixSeconds();
  const effort = record(body['reasoning']);
  const hasReasoning = text(effort['effort']) !== '' || text(effort['summary']) !== '';
  return {
    id,
    object: 'response',
    created_at: now,
    completed_at: status === 'completed' ? now : null,
    status,
    incomplete_details: null,
    model: text(body['model']),
    previous_response_id: null,
    instructions: text(body['instructions']) === '' ? null : body['instructions'],
    output,
    error: null,
    tools: list(body['tools']),
    tool_choice: 'auto',
    truncation: text(body['truncation']) || 'disabled',
    parallel_tool_calls: true,
    text: { format: record(body['text'])['format'] ?? { type: 'text' } },
    top_p: body['top_p'] ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: body['temperature'] ?? 1,
    reasoning: hasReasoning ? effort : null,
    usage,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: null,
    store: false,
    background: body['background'] === true,
    service_tier: 'default',
    metadata: {},
    safety_identifier: null,
    prompt_cache_key: null,
  };
}

const usageOf = (input: number, output: number): unknown => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
});
const outputText = (said: string): object => ({ type: 'output_text', text: said, annotations: [], logprobs: [] });
const messageItem = (id: string, status: string, content: readonly unknown[]): object => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});
const reasoning = (said: string): object => ({
  summary: [{ type: 'summary_text', text: said }],
  encrypted_content: said,
});

class EventWriter {
  private readonly body: Raw;
  private readonly id: string;
  private readonly itemId: string;
  private readonly reasoningId = `rs_${Math.floor(Math.random() * 999_999)}`;
  private sequence = 0;
  private outputIndex = 0;
  private thinking = '';
  private reasoningState: 'none' | 'open' | 'done' = 'none';
  private said = '';
  private isMessageOpen = false;
  private readonly callItems: object[] = [];
  private events: string[] = [];

  constructor(body: Raw, id: string, itemId: string) {
    this.body = body;
    this.id = id;
    this.itemId = itemId;
  }

  chunk(chunk: ReplyChunk): readonly string[] {
    this.events = [];
    if (this.sequence === 0) {
      for (const event of ['response.created', 'response.in_progress'])
        this.put(event, { response: responseObject(this.body, this.id, 'in_progress', [], null) });
    }
    if (chunk.thinking !== '') this.think(chunk.thinking);
    if (chunk.toolCalls.length > 0) this.call(chunk.toolCalls);
    else if (this.callItems.length === 0 && chunk.content !== '') this.say(chunk.content);
    if (chunk.done) this.finish(chunk);
    return this.events;
  }

  private think(said: string): void {
    if (this.reasoningState === 'none')
      this.put('response.output_item.added', {
        output_index: this.outputIndex,
        item: { id: this.reasoningId, type: 'reasoning', summary: [] },
      });
    this.reasoningState = 'open';
    this.thinking += said;
    this.put('response.reasoning_summary_text.delta', {
      item_id: this.reasoningId,
      output_index: this.outputIndex,
      summary_index: 0,
      delta: said,
    });
  }

  private finishThinking(): void {
    if (this.reasoningState !== 'open') return;
    this.reasoningState = 'done';
    this.put('response.reasoning_summary_text.done', {
      item_id: this.reasoningId,
      output_index: this.outputIndex,
      summary_index: 0,
      text: this.thinking,
    });
    this.put('response.output_item.done', { output_index: this.outputIndex, item: this.reasoningItem() });
    this.outputIndex++;
  }

  private call(toolCalls: readonly ToolCall[]): void {
    this.finishThinking();
    for (const [index, call] of openAiCalls(toolCalls).entries()) {
      const id = `fc_${Math.floor(Math.random() * 999_999)}_${index}`;
      const item = {
        id,
        type: 'function_call',
        status: 'completed',
        call_id: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
      };
      const place = { item_id: id, output_index: this.outputIndex + index };
      this.put('response.output_item.added', {
        output_index: place.output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      });
      this.put('response.function_call_arguments.delta', { ...place, delta: call.function.arguments });
      this.put('response.function_call_arguments.done', { ...place, arguments: call.function.arguments });
      this.put('response.output_item.done', { output_index: place.output_index, item });
      this.callItems.push(item);
    }
  }

  private say(said: string): void {
    this.finishThinking();
    const place = { item_id: this.itemId, output_index: this.outputIndex, content_index: 0 };
    if (!this.isMessageOpen) {
      this.isMessageOpen = true;
      this.put('response.output_item.added', {
        output_index: this.outputIndex,
        item: messageItem(this.itemId, 'in_progress', []),
      });
      this.put('response.content_part.added', { ...place, part: outputText('') });
    }
    this.said += said;
    this.put('response.output_text.delta', { ...place, delta: said, logprobs: [] });
  }

  private finish(chunk: ReplyChunk): void {
    this.finishThinking();
    const message = messageItem(this.itemId, 'completed', [outputText(this.said)]);
    if (this.callItems.length === 0 && this.isMessageOpen) {
      const place = { item_id: this.itemId, output_index: this.outputIndex, content_index: 0 };
      this.put('response.output_text.done', { ...place, text: this.said, logprobs: [] });
      this.put('response.content_part.done', { ...place, part: outputText(this.said) });
      this.put('response.output_item.done', { output_index: this.outputIndex, item: message });
    }
    const output = [
      ...(this.reasoningState === 'none' ? [] : [this.reasoningItem()]),
      ...this.callItems,
      ...(this.callItems.length === 0 && this.isMessageOpen ? [message] : []),
    ];
    const usage = usageOf(chunk.metrics?.promptEvalCount ?? 0, chunk.metrics?.evalCount ?? 0);
    this.put('response.completed', { response: responseObject(this.body, this.id, 'completed', output, usage) });
  }

  private reasoningItem(): object {
    return { id: this.reasoningId, type: 'reasoning', ...reasoning(this.thinking) };
  }

  private put(event: string, data: object): void {
    this.events.push(
      `event: ${event}\ndata: ${goJson(sorted({ ...data, type: event, sequence_number: this.sequence++ }))}\n\n`,
    );
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

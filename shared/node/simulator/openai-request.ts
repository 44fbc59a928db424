/** Bodies of the OpenAI routes as Ollama understands them. What it does not know (max_completion_tokens, options, tool_choice, n) is ignored. */
import type { ChatMessage, ParsedRequest, ThinkSetting, ToolCall } from './options.ts';
import { record } from './families/template.ts';
import { parsedRequest, type BodyShape } from './v1.ts';

const sampling: Readonly<Record<string, string>> = {
  model: 'string',
  stream: 'bool',
  max_tokens: 'int',
  seed: 'int',
  temperature: 'float64',
  top_p: 'float64',
  frequency_penalty: 'float64',
  presence_penalty: 'float64',
};

export const chatShape: BodyShape = {
  owner: 'openai',
  struct: 'ChatCompletionRequest',
  types: { ...sampling, messages: '[]openai.Message', tools: '[]api.Tool', reasoning_effort: 'string' },
};
export const completionShape: BodyShape = {
  owner: 'openai',
  struct: 'CompletionRequest',
  types: { ...sampling, prompt: 'string', suffix: 'string' },
};
export const embedShape: BodyShape = {
  owner: 'openai',
  struct: 'EmbedRequest',
  types: { model: 'string', dimensions: 'int', encoding_format: 'string' },
};
export const responsesShape: BodyShape = {
  owner: 'openai',
  struct: 'ResponsesRequest',
  types: {
    model: 'string',
    instructions: 'string',
    max_output_tokens: 'int',
    temperature: 'float64',
    top_p: 'float64',
    stream: 'bool',
    tools: '[]openai.ResponsesTool',
  },
};

export type Converted =
  { readonly ok: true; readonly request: ParsedRequest } | { readonly ok: false; readonly error: string };

export function chatFromOpenAi(body: Readonly<Record<string, unknown>>): Converted {
  const list = Array.isArray(body['messages']) ? body['messages'].map(record) : [];
  if (list.length === 0) return { ok: false, error: "[] is too short - 'messages'" };
  const messages: ChatMessage[] = [];
  for (const message of list) {
    const converted = convertMessage(message, list);
    if (typeof converted === 'string') return { ok: false, error: converted };
    messages.push(...converted);
  }
  const effort = record(body['reasoning'])['effort'] ?? body['reasoning_effort'];
  const think = thinkFromEffort(effort);
  if (!think.ok)
    return {
      ok: false,
      error: `invalid reasoning value: '${String(effort)}' (must be "high", "medium", "low", "max", or "none")`,
    };
  return {
    ok: true,
    request: parsedRequest({
      kind: 'chat',
      model: text(body['model']),
      stream: body['stream'] === true,
      messages,
      options: samplingOptions(body, body['max_tokens']),
      format: formatOf(record(body['response_format'])),
      tools: Array.isArray(body['tools']) ? body['tools'] : [],
      think: think.value,
      logprobs: body['logprobs'] === true,
      topLogprobs: typeof body['top_logprobs'] === 'number' ? body['top_logprobs'] : 0,
      debugRenderOnly: body['_debug_render_only'] === true,
    }),
  };
}

export function generateFromOpenAi(body: Readonly<Record<string, unknown>>): Converted {
  return {
    ok: true,
    request: parsedRequest({
      kind: 'generate',
      model: text(body['model']),
      stream: body['stream'] === true,
      prompt: text(body['prompt']),
      suffix: text(body['suffix']),
      options: samplingOptions(body, body['max_tokens']),
      debugRenderOnly: body['_debug_render_only'] === true,
    }),
  };
}

/** none is off, minimal is low, xhigh and ultra are max. */
export function thinkFromEffort(effort: unknown): { ok: true; value: ThinkSetting } | { ok: false } {
  if (effort === undefined || effort === null || effort === '') return { ok: true, value: undefined };
  const known: Readonly<Record<string, ThinkSetting>> = {
    none: false,
    minimal: 'low',
    low: 'low',
    medium: 'medium',
    high: 'high',
    max: 'max',
    xhigh: 'max',
    ultra: 'max',
  };
  if (typeof effort !== 'string' || !Object.hasOwn(known, effort)) return { ok: false };
  return { ok: true, value: known[effort] };
}

export function samplingOptions(
  body: Readonly<Record<string, unknown>>,
  maxTokens: unknown,
): Readonly<Record<string, unknown>> {
  const stop =
    typeof body['stop'] === 'string'
      ? [body['stop']]
      : Array.isArray(body['stop'])
        ? body['stop'].filter((one) => typeof one === 'string')
        : undefined;
  const given: Readonly<Record<string, unknown>> = {
    stop,
    num_predict: maxTokens,
    temperature: body['temperature'] ?? 1,
    seed: body['seed'],
    frequency_penalty: body['frequency_penalty'],
    presence_penalty: body['presence_penalty'],
    top_p: body['top_p'] ?? 1,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

type Raw = Readonly<Record<string, unknown>>;

/** Each part of a content list becomes a message of its own. A string is the refusal. */
function convertMessage(message: Raw, all: readonly Raw[]): readonly ChatMessage[] | string {
  const role = text(message['role']).toLowerCase();
  const toolCalls = callsOf(message['tool_calls']);
  if (typeof toolCalls === 'string') return toolCalls;
  const thinking = text(message['reasoning']);
  const more = {
    ...(thinking === '' ? {} : { thinking }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(role === 'tool'
      ? {
          toolName: text(message['name']) || nameOfCall(all, text(message['tool_call_id'])),
          toolCallId: text(message['tool_call_id']),
        }
      : {}),
  };
  if (typeof message['content'] === 'string') return [{ role, content: message['content'], ...more }];
  if (!Array.isArray(message['content']))
    return toolCalls.length > 0
      ? [{ role, content: '', ...more }]
      : `invalid message content type: ${goType(message['content'])}`;
  const parts = message['content'].map((part) => convertPart(role, record(part)));
  const wrong = parts.find((part) => typeof part === 'string');
  if (wrong !== undefined) return wrong;
  const messages = parts.filter((part) => typeof part !== 'string');
  const last = messages.pop();
  return last === undefined ? [] : [...messages, { ...last, ...more }];
}

function convertPart(role: string, part: Raw): ChatMessage | string {
  if (part['type'] === 'text' && typeof part['text'] === 'string') return { role, content: part['text'] };
  if (part['type'] !== 'image_url') return 'invalid message format';
  const url = typeof part['image_url'] === 'string' ? part['image_url'] : record(part['image_url'])['url'];
  if (typeof url !== 'string') return 'invalid message format';
  if (/^https?:\/\//.test(url)) return 'image URLs are not currently supported, please use base64 encoded data instead';
  const data = /^data:(?:image\/(?:jpeg|jpg|png|webp))?;base64,(.*)$/s.exec(url)?.[1];
  return data === undefined ? 'invalid image input' : { role, content: '', images: [data] };
}

function callsOf(value: unknown): readonly ToolCall[] | string {
  if (!Array.isArray(value)) return [];
  const calls: ToolCall[] = [];
  for (const [index, call] of value.map(record).entries()) {
    const definition = record(call['function']);
    const found = argumentsOf(definition['arguments']);
    if (found === null) return 'invalid tool call arguments';
    calls.push({ id: text(call['id']), function: { index, name: text(definition['name']), arguments: found } });
  }
  return calls;
}

export function argumentsOf(value: unknown): Raw | null {
  if (typeof value !== 'string') return record(value);
  try {
    return record(JSON.parse(value));
  } catch {
    return null;
  }
}

function nameOfCall(all: readonly Raw[], id: string): string {
  const calls = all.flatMap((message) =>
    Array.isArray(message['tool_calls']) ? message['tool_calls'].map(record) : [],
  );
  return text(record(calls.find((call) => call['id'] === id)?.['function'])['name']);
}

function formatOf(format: Raw): unknown {
  if (format['type'] === 'json_object') return 'json';
  return format['type'] === 'json_schema' ? record(format['json_schema'])['schema'] : undefined;
}

function goType(value: unknown): string {
  if (value === undefined || value === null) return '<nil>';
  if (typeof value === 'number') return 'float64';
  return typeof value === 'boolean' ? 'bool' : 'map[string]interface {}';
}

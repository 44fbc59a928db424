/** Bodies of /api/chat and /api/generate as typed requests, refused with the texts of the real server. */
import { checkFields, decodeObject } from './body.ts';
import { goKind } from './families/go-json.ts';
import type { ChatMessage, ParsedRequest, ThinkSetting, ToolCall } from './options.ts';

export type Parsed = { ok: true; request: ParsedRequest } | { ok: false; status: number; error: string };

export function parseChat(body: string): Parsed {
  return parseWith(body, 'ChatRequest', chatTypes, (fields) => ({
    ...common('chat', fields),
    messages: messagesOf(fields['messages']),
  }));
}

export function parseGenerate(body: string): Parsed {
  return parseWith(body, 'GenerateRequest', generateTypes, (fields) => ({
    ...common('generate', fields),
    prompt: text(fields['prompt']),
    suffix: text(fields['suffix']),
    system: typeof fields['system'] === 'string' && fields['system'] !== '' ? fields['system'] : undefined,
    template: text(fields['template']),
    context: Array.isArray(fields['context']) ? (fields['context'] as number[]) : [],
    raw: fields['raw'] === true,
    images: Array.isArray(fields['images']) ? (fields['images'] as string[]) : [],
  }));
}

/** `keep_alive` in seconds: a number or a Go duration as text. undefined = not sent, a text = the error. */
export function keepAliveOf(value: unknown): number | undefined | string {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return `Unsupported type: '${goKind(value)}'`;
  return durationSeconds(value);
}

/** Go type names, as they stand in the error texts. */
const shared: Readonly<Record<string, string>> = {
  model: 'string',
  stream: 'bool',
  options: 'map[string]interface {}',
  truncate: 'bool',
  shift: 'bool',
  logprobs: 'bool',
  top_logprobs: 'int',
  _debug_render_only: 'bool',
};
const chatTypes: Readonly<Record<string, string>> = { ...shared, messages: '[]api.Message', tools: '[]api.Tool' };
const generateTypes: Readonly<Record<string, string>> = {
  ...shared,
  prompt: 'string',
  suffix: 'string',
  system: 'string',
  template: 'string',
  context: '[]int',
  raw: 'bool',
  images: '[]api.ImageData',
};
const messageTypes: Readonly<Record<string, string>> = {
  role: 'string',
  content: 'string',
  thinking: 'string',
  images: '[]api.ImageData',
  tool_calls: '[]api.ToolCall',
  tool_name: 'string',
  tool_call_id: 'string',
};

function parseWith(
  body: string,
  struct: string,
  types: Readonly<Record<string, string>>,
  build: (fields: Readonly<Record<string, unknown>>) => ParsedRequest,
): Parsed {
  try {
    const request = build(decodeObject(body, struct, types));
    // Generate looks the model up first.
    if (request.kind === 'chat' && (request.topLogprobs < 0 || request.topLogprobs > 20))
      return { ok: false, status: 400, error: 'top_logprobs must be between 0 and 20' };
    return { ok: true, request };
  } catch (error) {
    return { ok: false, status: 400, error: error instanceof Error ? error.message : String(error) };
  }
}

function common(kind: ParsedRequest['kind'], fields: Readonly<Record<string, unknown>>): ParsedRequest {
  return {
    kind,
    model: text(fields['model']).trim(),
    messages: undefined,
    prompt: '',
    suffix: '',
    system: undefined,
    template: '',
    context: [],
    raw: false,
    images: [],
    stream: fields['stream'] !== false,
    format: fields['format'] === null || fields['format'] === '' ? undefined : fields['format'],
    keepAliveSeconds: numberOrThrow(keepAliveOf(fields['keep_alive'])),
    tools: kind === 'chat' && Array.isArray(fields['tools']) ? fields['tools'] : [],
    options: (fields['options'] ?? {}) as Record<string, unknown>,
    think: thinkOf(fields['think']),
    truncate: boolean(fields['truncate']),
    shift: boolean(fields['shift']),
    logprobs: fields['logprobs'] === true,
    topLogprobs: typeof fields['top_logprobs'] === 'number' ? fields['top_logprobs'] : 0,
    debugRenderOnly: fields['_debug_render_only'] === true,
  };
}

function messagesOf(value: unknown): readonly ChatMessage[] | undefined {
  return Array.isArray(value) ? value.map(messageOf) : undefined;
}

function messageOf(value: unknown): ChatMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`json: cannot unmarshal ${goKind(value)} into Go value of type api.Message`);
  }
  const fields = value as Record<string, unknown>;
  checkFields(fields, 'Alias', messageTypes);
  return {
    role: text(fields['role']).toLowerCase(),
    content: text(fields['content']),
    ...(typeof fields['thinking'] === 'string' ? { thinking: fields['thinking'] } : {}),
    ...(Array.isArray(fields['images']) ? { images: fields['images'] as string[] } : {}),
    ...(Array.isArray(fields['tool_calls']) ? { toolCalls: fields['tool_calls'] as ToolCall[] } : {}),
    ...(typeof fields['tool_name'] === 'string' ? { toolName: fields['tool_name'] } : {}),
    ...(typeof fields['tool_call_id'] === 'string' ? { toolCallId: fields['tool_call_id'] } : {}),
  };
}

function thinkOf(value: unknown): ThinkSetting {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  if (value === 'low' || value === 'medium' || value === 'high' || value === 'max') return value;
  const shown = typeof value === 'string' ? `"${value}"` : JSON.stringify(value);
  if (typeof value !== 'string')
    throw new Error('think must be a boolean or string ("high", "medium", "low", "max", true, or false)');
  throw new Error(`invalid think value: ${shown} (must be "high", "medium", "low", "max", true, or false)`);
}

function numberOrThrow(value: number | undefined | string): number | undefined {
  if (typeof value === 'string') throw new Error(value);
  return value;
}

/** A text = the error. */
function durationSeconds(value: string): number | string {
  const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };
  const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.exec(value);
  if (value === '0') return 0;
  if (match === null) {
    return /^[+-]?\d+(\.\d+)?$/.test(value)
      ? `time: missing unit in duration "${value}"`
      : `time: invalid duration "${value}"`;
  }
  const parts = [...value.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
  const total = parts.reduce((sum, part) => sum + Number(part[1]) * (units[part[2] ?? 's'] ?? 1), 0);
  return match[1] === '-' ? -total : total;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function boolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

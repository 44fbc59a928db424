/** A call as it goes out (design, section 4, step 4): every option said aloud, nothing that would take a bound off. */
import type { CallRequest, Message, ToolDefinition } from '../contract/calls.ts';
import { type Result, denied, ok } from '../contract/denials.ts';
import { must } from './must.ts';
import type { WireRequest } from './ports.ts';

/**
 * num_ctx is left out when it is not set: 0 would run in a window of 4. `think` is left out for "default", which is a state of
 * its own on the server. The policy `refuse` sends truncate:false and shift:false, so that an overflow answers 400.
 * logprobs: the caller knows that the server has them. Denied: a conversation on /api/generate, which takes one system text and one prompt.
 */
export function wireRequest(request: CallRequest, { logprobs = false } = {}): Result<WireRequest> {
  must(request.numPredict >= 1, 'num_predict is never 0 or absent');
  const head = { model: request.model };
  const tail = {
    stream: request.stream,
    options: options(request),
    ...(request.think === 'default' ? {} : { think: request.think }),
    ...(request.tools === undefined || request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) }),
    ...(logprobs ? { logprobs: true } : {}),
    ...(request.policy === 'refuse' ? { truncate: false, shift: false } : {}),
  };
  const timeoutMs = request.timeoutMs ?? null;
  if (request.route === 'chat') {
    return ok({ path: '/api/chat', body: { ...head, messages: request.messages.map(plain), ...tail }, timeoutMs });
  }
  if ((request.tools?.length ?? 0) > 0) {
    return denied('bad-input', 'The route generate takes no tools.', {
      field: 'tools',
      next: 'Choose the route chat.',
    });
  }
  const system = request.messages.filter((message) => message.role === 'system');
  const prompts = request.messages.filter((message) => message.role !== 'system');
  const prompt = prompts[0];
  if (system.length > 1 || prompts.length !== 1 || prompt === undefined || prompt.role !== 'user') {
    return denied('bad-input', 'The route generate takes one message, and at most one system text.', {
      field: 'messages',
      next: 'Choose the route chat for a conversation.',
    });
  }
  const systemText = system[0]?.content;
  return ok({
    path: '/api/generate',
    body: { ...head, prompt: prompt.content, ...(systemText === undefined ? {} : { system: systemText }), ...tail },
    timeoutMs,
  });
}

function options(request: CallRequest): Record<string, number> {
  return {
    ...(request.numCtx === null ? {} : { num_ctx: request.numCtx }),
    num_predict: request.numPredict,
    ...(request.numKeep === undefined ? {} : { num_keep: request.numKeep }),
    seed: request.seed,
    temperature: request.temperature,
  };
}

function plain(message: Message): Record<string, unknown> {
  return {
    role: message.role,
    content: message.content,
    ...(message.toolCalls === undefined || message.toolCalls.length === 0
      ? {}
      : {
          tool_calls: message.toolCalls.map(({ name, argumentsText }) => ({
            function: { name, arguments: argumentsObject(argumentsText) },
          })),
        }),
    ...(message.toolName === undefined ? {} : { tool_name: message.toolName }),
  };
}

function wireTool({ name, description, parameters }: ToolDefinition): Record<string, unknown> {
  return { type: 'function', function: { name, description, parameters } };
}

/** The server takes an object here, and refuses anything else; arguments that are none were answered with an error already. */
function argumentsObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

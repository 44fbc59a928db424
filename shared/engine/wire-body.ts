/** A call as it goes out (design, section 4, step 4): every option said aloud, nothing that would take a bound off. */
import type { CallRequest, Message } from '../contract/calls.ts';
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
    ...(logprobs ? { logprobs: true } : {}),
    ...(request.policy === 'refuse' ? { truncate: false, shift: false } : {}),
  };
  const timeoutMs = request.timeoutMs ?? null;
  if (request.route === 'chat') {
    return ok({ path: '/api/chat', body: { ...head, messages: request.messages.map(plain), ...tail }, timeoutMs });
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

function plain(message: Message): Message {
  return { role: message.role, content: message.content };
}

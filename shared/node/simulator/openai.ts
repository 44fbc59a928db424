/** /v1/chat/completions, /v1/completions, /v1/models and /v1/embeddings in the words of the OpenAI API, as Ollama translates. */
import { embedInputs } from './embed.ts';
import { record } from './families/template.ts';
import { chatFromOpenAi, chatShape, completionShape, embedShape, generateFromOpenAi, text } from './openai-request.ts';
import type { LogprobEntry, Metrics, ReplyChunk, RouteContext, RouteHandler, ToolCall } from './options.ts';
import { findProfile, withTag } from './admission.ts';
import { runRequest } from './pipeline.ts';
import { goJson } from './wire.ts';
import { readObject, refuseV1, sendV1, unixSeconds, v1Sink, type V1Format } from './v1.ts';

export const openAiRoutes: Readonly<Record<string, RouteHandler>> = {
  'POST /v1/chat/completions': chatCompletions,
  'POST /v1/completions': completions,
  'GET /v1/models': listModels,
  'GET /v1/models/:model': retrieveModel,
  'POST /v1/embeddings': embeddings,
};

/** Shape of every OpenAI error; the type follows the status. */
export function openAiError(status: number, message: string): unknown {
  const type = status === 400 ? 'invalid_request_error' : status === 404 ? 'not_found_error' : 'api_error';
  return { error: { message, type, param: null, code: null } };
}

export const openAiRefusal: Pick<V1Format, 'refusal'> = { refusal: openAiError };

async function chatCompletions(context: RouteContext): Promise<void> {
  const body = readObject(context, openAiRefusal, chatShape);
  if (body === null) return;
  const converted = chatFromOpenAi(body);
  if (!converted.ok) return refuseV1(context, openAiRefusal, 400, converted.error);
  const format = chatFormat(converted.request.model, wantsUsage(body), context.state.behaviour.engine === 'runner');
  await runRequest(context.state, converted.request, v1Sink(context, format, converted.request.stream), context.signal);
}

async function completions(context: RouteContext): Promise<void> {
  const body = readObject(context, openAiRefusal, completionShape);
  if (body === null) return;
  const converted = generateFromOpenAi(body);
  if (!converted.ok) return refuseV1(context, openAiRefusal, 400, converted.error);
  const format = completionFormat(converted.request.model, wantsUsage(body));
  await runRequest(context.state, converted.request, v1Sink(context, format, converted.request.stream), context.signal);
}

const wantsUsage = (body: Readonly<Record<string, unknown>>): boolean =>
  record(body['stream_options'])['include_usage'] === true;

function listModels(context: RouteContext): void {
  const data = context.state.profiles.map((profile) => modelEntry(profile.name, profile.modifiedAt));
  sendV1(context, 200, { object: 'list', data: data.length === 0 ? null : data });
}

function retrieveModel(context: RouteContext): void {
  const name = decodeURIComponent((context.request.url ?? '').split('?')[0]?.replace('/v1/models/', '') ?? '');
  const profile = findProfile(context.state, name);
  if (profile === null) return sendV1(context, 404, openAiError(404, `model '${withTag(name)}' not found`));
  sendV1(context, 200, modelEntry(name, profile.modifiedAt));
}

const modelEntry = (id: string, modifiedAt: string): unknown => ({
  id,
  object: 'model',
  created: Math.floor(Date.parse(modifiedAt) / 1000),
  owned_by: 'library',
});

async function embeddings(context: RouteContext): Promise<void> {
  const body = readObject(context, openAiRefusal, embedShape);
  if (body === null) return;
  const encoding = text(body['encoding_format']).toLowerCase();
  if (encoding !== '' && encoding !== 'float' && encoding !== 'base64') {
    return refuseV1(
      context,
      openAiRefusal,
      400,
      `Invalid value for 'encoding_format' = ${text(body['encoding_format'])}. Supported values: ['float', 'base64'].`,
    );
  }
  const input = body['input'] === '' ? [''] : body['input'];
  if (input === undefined || input === null || (Array.isArray(input) && input.length === 0))
    return refuseV1(context, openAiRefusal, 400, 'invalid input');
  const result = await embedInputs(
    context.state,
    {
      model: text(body['model']),
      input,
      dimensions: Number(body['dimensions'] ?? 0),
      truncate: true,
      options: {},
      keepAliveSeconds: undefined,
    },
    context.signal,
  );
  if (!result.ok) return sendV1(context, result.status, openAiError(result.status, result.error));
  const data = result.embeddings.map((embedding, index) => ({
    object: 'embedding',
    embedding: encoding === 'base64' ? base64Floats(embedding) : embedding,
    index,
  }));
  sendV1(context, 200, {
    object: 'list',
    data: data.length === 0 ? null : data,
    model: text(body['model']),
    usage: { prompt_tokens: result.promptEvalCount, total_tokens: result.promptEvalCount },
  });
}

const base64Floats = (values: readonly number[]): string =>
  Buffer.from(Float32Array.from(values).buffer).toString('base64');

/** Servers before 0.30 name the role in every delta and finish in the chunk that was last. */
function chatFormat(model: string, includeUsage: boolean, isOld: boolean): V1Format {
  const head = completionHead('chatcmpl', 'chat.completion.chunk', model);
  let isFirst = true;
  let sentCalls = false;
  const event = (choices: readonly unknown[], more: object = {}): string => sse({ ...head(), choices, ...more });
  const delta = (chunk: ReplyChunk): unknown => {
    const role = isFirst || isOld ? { role: 'assistant' } : {};
    isFirst = false;
    return { ...role, content: chunk.content, ...optional('reasoning', chunk.thinking), ...calls(chunk.toolCalls) };
  };
  return {
    ...openAiRefusal,
    announcesStream: false,
    whole: (reply) => ({
      ...completionHead('chatcmpl', 'chat.completion', model)(),
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: reply.content,
            ...optional('reasoning', reply.thinking),
            ...calls(reply.toolCalls),
          },
          finish_reason: reply.toolCalls.length > 0 ? 'tool_calls' : reply.doneReason === '' ? null : reply.doneReason,
          ...logprobsOf(reply.logprobs),
        },
      ],
      usage: usageOf(reply.metrics),
      ...(reply.rendered === null ? {} : { _debug_info: { rendered_template: reply.rendered } }),
    }),
    writes(chunk) {
      sentCalls ||= chunk.toolCalls.length > 0;
      const reason = sentCalls ? 'tool_calls' : (chunk.doneReason ?? null);
      const said = (finish: string | null): string =>
        apart(chunk)
          .map((part) => event([{ index: 0, delta: delta(part), finish_reason: finish, ...logprobsOf(part.logprobs) }]))
          .join('');
      if (!chunk.done) return [said(null)];
      const isEmpty = chunk.content === '' && chunk.thinking === '' && chunk.toolCalls.length === 0;
      const finish = isOld
        ? said(reason)
        : `${isEmpty ? '' : said(null)}${event([{ index: 0, delta: {}, finish_reason: reason }])}`;
      const usage = includeUsage ? event([], { usage: usageOf(chunk.metrics ?? null) }) : '';
      return [`${finish}${usage}data: [DONE]\n\n`];
    },
    // The text of the failure is lost on this route: Ollama reads the error line as an empty chunk.
    broken: () => [sse({ ...head(), model: '', choices: [{ index: 0, delta: {}, finish_reason: null }] })],
  };
}

/** Thinking never shares a delta with an answer or a call; the log probabilities go with the first. */
function apart(chunk: ReplyChunk): readonly ReplyChunk[] {
  const isMixed = chunk.thinking !== '' && (chunk.content !== '' || chunk.toolCalls.length > 0);
  if (!isMixed) return [chunk];
  return [
    { ...chunk, content: '', toolCalls: [] },
    { ...chunk, thinking: '', logprobs: [] },
  ];
}

function completionFormat(model: string, includeUsage: boolean): V1Format {
  const head = completionHead('cmpl', 'text_completion', model);
  const choice = (said: string, reason: string | null): unknown => ({ text: said, index: 0, finish_reason: reason });
  const chunkBody = (choices: readonly unknown[], usage: unknown): string => {
    const { id, object, created, system_fingerprint } = head();
    return sse({ id, object, created, choices, model, system_fingerprint, ...(usage === null ? {} : { usage }) });
  };
  return {
    ...openAiRefusal,
    announcesStream: false,
    whole: (reply) => ({
      ...head(),
      choices: [choice(reply.content, reply.doneReason === '' ? null : reply.doneReason)],
      usage: usageOf(reply.metrics),
    }),
    writes(chunk) {
      const shown = chunkBody(
        [choice(chunk.content, chunk.done ? (chunk.doneReason ?? null) : null)],
        includeUsage ? usageOf(null) : null,
      );
      if (!chunk.done) return [shown];
      return [`${shown}${includeUsage ? chunkBody([], usageOf(chunk.metrics ?? null)) : ''}data: [DONE]\n\n`];
    },
    broken: () => [chunkBody([choice('', null)], null)],
  };
}

interface CompletionHead {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

function completionHead(prefix: string, object: string, model: string): () => CompletionHead {
  const id = `${prefix}-${Math.floor(Math.random() * 999)}`;
  const created = unixSeconds();
  return () => ({ id, object, created, model, system_fingerprint: 'fp_ollama' });
}

const sse = (value: unknown): string => `data: ${goJson(value)}\n\n`;
const optional = (key: string, value: string): object => (value === '' ? {} : { [key]: value });
const logprobsOf = (entries: readonly LogprobEntry[]): object =>
  entries.length === 0 ? {} : { logprobs: { content: entries } };

function usageOf(metrics: Metrics | null): unknown {
  const prompt = metrics?.promptEvalCount ?? 0;
  const completion = metrics?.evalCount ?? 0;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Arguments travel as JSON text here. */
function calls(toolCalls: readonly ToolCall[]): object {
  if (toolCalls.length === 0) return {};
  return { tool_calls: openAiCalls(toolCalls) };
}

export function openAiCalls(
  toolCalls: readonly ToolCall[],
): readonly { id: string; index: number; type: 'function'; function: { name: string; arguments: string } }[] {
  return toolCalls.map((call) => ({
    id: call.id ?? '',
    index: call.function.index ?? 0,
    type: 'function',
    function: { name: call.function.name, arguments: goJson(call.function.arguments) },
  }));
}

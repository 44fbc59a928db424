/** Verdicts for a reply that was recorded elsewhere. Pure: the text in, the reading out; hostile text gets a refusal. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { ExplainInput, Explanation } from '../../contract/explain.ts';
import { estimateMessages } from '../estimate/estimate.ts';
import { classifyRecorded } from '../reasoning/from-recording.ts';
import { classifyTruncation } from '../truncation/classify.ts';
import type { TruncationInput } from '../truncation/types.ts';
import { type Recording, readRecording, splitLines } from './recording.ts';
import { type ReadReply, readReplyBody } from './reply-body.ts';
import { type ReadRequest, readRequestBody } from './request-body.ts';

/** UTF-16 units of a recording; longer ones are refused. */
export const EXPLAIN_CHARACTERS_MAX = 64_000_000;

export function explain(input: ExplainInput): Result<Explanation> {
  if (input.text.length > EXPLAIN_CHARACTERS_MAX) {
    return denied('bad-input', 'The recording is over 64 million characters.', {
      field: 'text',
      next: 'Give one call at a time.',
    });
  }
  const read = readRecording(input.text);
  if (!read.ok) return read;
  const recording = read.value;
  const reply = readReplyBody(recording.replyBody);
  if (reply === null && recording.requestBody === null && recording.status === null) {
    return denied('bad-input', 'This is no reply of a chat or generate route.', {
      field: 'text',
      next: 'Give the JSON, the JSON lines or the event stream as the server sent it, or a file with request and response.',
    });
  }
  return ok(explanationOf(input, recording, reply ?? nothingRead));
}

const nothingRead: ReadReply = {
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
};

function explanationOf(input: ExplainInput, recording: Recording, reply: ReadReply): Explanation {
  const route = routeOf(recording.path, reply.family);
  const request = readRequestBody(recording.requestBody ?? {}, route);
  const model = request.model ?? reply.model;
  const version = input.version ?? recording.version;
  const window = input.window ?? runningWindow(recording, model, request.numCtx);
  const log = input.log === undefined ? recording.log : splitLines(input.log);
  const estimate = estimateMessages(request.messages);
  const question: TruncationInput = {
    route,
    promptPath: 'unknown',
    serverVersion: version,
    raw: request.raw,
    messages: request.messages.map((message, index) => ({
      role: message.role,
      characters: message.content.length,
      estimate: estimate.messages[index] ?? estimate.total,
    })),
    estimate: estimate.total,
    hasUncountedParts: request.hasUncountedParts,
    hasImages: request.hasImages,
    numCtxRequested: request.numCtx,
    windowRunning: window,
    trainedContext: null,
    numKeep: request.numKeep,
    numPredict: request.numPredict,
    truncate: request.truncate,
    shift: request.shift,
    addsBos: null,
    reply: {
      status: recording.status,
      ending: endingOf(recording, reply),
      promptEvalCount: reply.promptEvalCount,
      evalCount: reply.evalCount,
      doneReason: reply.doneReason,
      contextLength: reply.contextLength,
      error: reply.error,
      needs: reply.needs,
      has: reply.has,
      thinking: reply.thinking,
    },
    log: log === null || log.length === 0 ? null : log,
    render: null,
    previous: null,
  };
  const truncation = classifyTruncation(question);
  return {
    truncation,
    reasoning: reasoningOf(recording, question, truncation.shifts),
    read: {
      model,
      version,
      window: window ?? requestedWindow(request, route),
      path: recording.path,
      promptEvalCount: reply.promptEvalCount,
      evalCount: reply.evalCount,
      answer: reply.answer,
      needle: 'none',
    },
  };
}

/** null for what writes no text: embeddings, lists of models, a prompt that was only rendered. */
function reasoningOf(recording: Recording, question: TruncationInput, shifts: number | null): Explanation['reasoning'] {
  const isOther = question.route === 'unknown' && recording.path !== null;
  if (isOther || question.route === 'embed' || recording.requestBody?.['_debug_render_only'] === true) return null;
  const { outcome, cause, complete, places, suspected, obedience, answer } = classifyRecorded(
    recording,
    question,
    shifts,
  );
  return { outcome, cause, complete, places, suspected, obedience, answer };
}

function routeOf(path: string | null, family: ReadReply['family']): TruncationInput['route'] {
  if (path !== null) {
    if (path.endsWith('/api/chat')) return 'chat';
    if (path.endsWith('/api/generate')) return 'generate';
    if (path.endsWith('/v1/chat/completions')) return 'v1-chat';
    if (/\/(?:api\/embed|api\/embeddings|v1\/embeddings)$/.test(path)) return 'embed';
    return path.includes('/v1/') ? 'v1-other' : 'unknown';
  }
  if (family === 'ollama-chat') return 'chat';
  if (family === 'ollama-generate') return 'generate';
  if (family === 'openai') return 'v1-chat';
  if (family === 'embedding') return 'embed';
  return family === 'anthropic' || family === 'responses' ? 'v1-other' : 'unknown';
}

/**
 * The window that ran. A runner that two names share is listed under the name that loaded it, so a single other entry is taken
 * where the request asked for no window.
 */
function runningWindow(recording: Recording, model: string | null, requested: number | null): number | null {
  const own = recording.running.find((entry) => model !== null && fullName(entry.name) === fullName(model));
  if (own !== undefined) return own.window;
  const [only, ...others] = recording.running;
  return requested === null && only !== undefined && others.length === 0 ? only.window : null;
}

function requestedWindow(request: ReadRequest, route: TruncationInput['route']): number | null {
  return request.numCtx === null || route === 'v1-chat' || route === 'v1-other' ? null : Math.max(4, request.numCtx);
}

function fullName(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return (last.includes(':') ? name : `${name}:latest`).toLowerCase();
}

function endingOf(recording: Recording, reply: ReadReply): TruncationInput['reply']['ending'] {
  if (recording.status !== null && recording.status >= 300) return 'refused';
  if (reply.error !== null) return reply.startedBeforeError ? 'error-line' : 'refused';
  if (reply.done) return 'done';
  return recording.clientLeft ? 'aborted' : 'cut';
}

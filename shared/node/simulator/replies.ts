/** Sinks of /api/chat and /api/generate: NDJSON a chunk a line, or one JSON object, keys in the server's order. */
import { chunksBeforeFault } from './faults.ts';
import type {
  FaultName,
  Metrics,
  ParsedRequest,
  ReplyChunk,
  ReplySink,
  ReplyStream,
  RouteContext,
  ToolCall,
} from './options.ts';
import { goJson, goTime, nowMs } from './wire.ts';

export function replySink(context: RouteContext, request: ParsedRequest): ReplySink {
  return request.stream ? streamed(context, request) : whole(context, request);
}

function streamed(context: RouteContext, request: ParsedRequest): ReplySink {
  const faults = context.state.faults;
  let stream: ReplyStream | null = null;
  let sent = 0;
  let isBroken = false;
  const open = (): ReplyStream => (stream ??= context.stream('application/x-ndjson'));
  return {
    ...alone(context, request),
    async chunk(chunk) {
      if (isBroken) return;
      if (sent === 0 && faults.has('slow-headers')) await context.state.wait(slowHeadersMs, context.signal);
      await open().write(lineWith(faults, objectOf(request, chunk), chunk, sent));
      sent += 1;
      if (sent >= chunksBeforeFault && !chunk.done) isBroken = await breakStream(faults, open(), context);
    },
    fail(status, error) {
      if (isBroken) return;
      const text = goJson({ error });
      if (stream !== null) void stream.write(`${text}\n`).then(() => stream?.end());
      // Before the first line: no charset, no length and no line feed.
      else context.failStream(status, text);
    },
    end() {
      if (!isBroken) open().end();
    },
  };
}

function whole(context: RouteContext, request: ParsedRequest): ReplySink {
  const chunks: ReplyChunk[] = [];
  const { json } = context;
  return {
    ...alone(context, request),
    chunk: (chunk) => void chunks.push(chunk),
    fail: (status, error) => json(status, { error }),
    end: () => json(200, objectOf(request, joined(chunks, context.state.faults))),
  };
}

function alone(context: RouteContext, request: ParsedRequest): Pick<ReplySink, 'refuse' | 'alone'> {
  const isChat = request.kind === 'chat';
  return {
    refuse: (status, error) => context.json(status, { error }),
    alone(reply) {
      const head = { model: request.model, created_at: createdAt() };
      if (reply.kind === 'render') {
        const debug = {
          rendered_template: reply.text,
          ...(reply.imageCount > 0 ? { image_count: reply.imageCount } : {}),
        };
        const text = isChat ? { message: { role: '', content: '' } } : { response: '' };
        return context.json(200, { ...head, ...text, done: false, _debug_info: debug });
      }
      const text = isChat ? { message: { role: 'assistant', content: '' } } : { response: '' };
      context.json(200, { ...head, ...text, done: true, done_reason: reply.kind });
    },
  };
}

/** One chunk as the wire has it. Everything optional is left out when it is zero. */
function objectOf(request: ParsedRequest, chunk: ReplyChunk): Record<string, unknown> {
  const head = { model: request.model, created_at: createdAt() };
  const logprobs = chunk.logprobs.length > 0 ? { logprobs: chunk.logprobs } : {};
  const calls = chunk.toolCalls.length > 0 ? { tool_calls: chunk.toolCalls.map(callOnWire) } : {};
  const thinking = chunk.thinking === '' ? {} : { thinking: chunk.thinking };
  const ending = { done: chunk.done, ...(chunk.doneReason === undefined ? {} : { done_reason: chunk.doneReason }) };
  if (request.kind === 'chat') {
    const message = { role: 'assistant', content: chunk.content, ...thinking, ...calls };
    return { ...head, message, ...ending, ...logprobs, ...metricsOnWire(chunk.metrics) };
  }
  const context = chunk.context === undefined || chunk.context.length === 0 ? {} : { context: chunk.context };
  return {
    ...head,
    response: chunk.content,
    ...thinking,
    ...ending,
    ...context,
    ...metricsOnWire(chunk.metrics),
    ...calls,
    ...logprobs,
  };
}

function callOnWire(call: ToolCall): unknown {
  return {
    ...(call.id === undefined ? {} : { id: call.id }),
    function: { index: call.function.index ?? 0, name: call.function.name, arguments: call.function.arguments },
  };
}

function metricsOnWire(metrics: Metrics | undefined): Record<string, number> {
  if (metrics === undefined) return {};
  const entries: [string, number][] = [
    ['total_duration', metrics.totalNs],
    ['load_duration', metrics.loadNs],
    ['prompt_eval_count', metrics.promptEvalCount],
    ['prompt_eval_duration', metrics.promptEvalNs],
    ['eval_count', metrics.evalCount],
    ['eval_duration', metrics.evalNs],
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== 0));
}

/** Without a done chunk (the repeat guard) the object says done:false and has no counts. */
function joined(chunks: readonly ReplyChunk[], faults: ReadonlySet<FaultName>): ReplyChunk {
  const last = chunks.at(-1);
  const isDone = last?.done === true;
  return {
    thinking: chunks.map((chunk) => chunk.thinking).join(''),
    content: chunks.map((chunk) => chunk.content).join(''),
    toolCalls: chunks.flatMap((chunk) => chunk.toolCalls),
    logprobs: chunks.flatMap((chunk) => chunk.logprobs),
    done: isDone,
    ...(isDone && last.doneReason !== undefined ? { doneReason: last.doneReason } : {}),
    ...(isDone && last.metrics !== undefined && !faults.has('missing-metrics') ? { metrics: last.metrics } : {}),
    ...(isDone && last.context !== undefined ? { context: last.context } : {}),
  };
}

function createdAt(): string {
  return goTime(nowMs());
}

/** The line of a chunk, spoiled as the faults want it. */
function lineWith(
  faults: ReadonlySet<FaultName>,
  value: Record<string, unknown>,
  chunk: ReplyChunk,
  index: number,
): string {
  if (chunk.done && faults.has('missing-metrics'))
    for (const key of Object.keys(metricsOnWire(chunk.metrics))) delete value[key];
  let line = goJson(value);
  if (index === 1 && faults.has('invalid-json-line')) line = line.slice(0, Math.floor(line.length / 2));
  if (index === 1 && faults.has('huge-line'))
    line = line
      .replace('"content":"', `"content":"${'x'.repeat(hugeCharacters)}`)
      .replace('"response":"', `"response":"${'x'.repeat(hugeCharacters)}`);
  return chunk.done && faults.has('no-last-newline') ? line : `${line}\n`;
}

/** True when the stream is over. */
async function breakStream(
  faults: ReadonlySet<FaultName>,
  stream: ReplyStream,
  context: RouteContext,
): Promise<boolean> {
  // What was written still goes out, the end of the reply does not.
  if (faults.has('drop-connection')) context.response.socket?.destroySoon();
  else if (faults.has('error-line'))
    await stream.write(`${goJson({ error: 'an error was encountered while running the model: unexpected EOF' })}\n`);
  else if (faults.has('plain-text-error')) await stream.write('internal failure: the runner is gone\n');
  else if (!faults.has('cut-stream')) return false;
  if (!faults.has('drop-connection')) stream.end();
  return true;
}

const slowHeadersMs = 400;
const hugeCharacters = 1_000_000;

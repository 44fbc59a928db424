/** What the compatibility routes share: a request in Ollama's own terms, and a sink that speaks another wire format. */
import { decodeObject } from './body.ts';
import { goJson } from './wire.ts';
import type {
  ExtraHeaders,
  LogprobEntry,
  Metrics,
  ParsedRequest,
  ReplyChunk,
  ReplySink,
  ReplyStream,
  RouteContext,
  ToolCall,
} from './options.ts';

/** A reply that was not streamed, summed up. */
export interface WholeReply {
  readonly thinking: string;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly logprobs: readonly LogprobEntry[];
  /** '' where the reply ended without a done chunk. */
  readonly doneReason: string;
  readonly metrics: Metrics | null;
  /** `_debug_render_only`: the prompt as rendered. */
  readonly rendered: string | null;
}

export interface V1Format {
  /** Body of an error before the first byte. */
  refusal(status: number, error: string): unknown;
  whole(reply: WholeReply): unknown;
  /** Cache-Control and Connection are set when a stream is asked for, before anything is known: errors have them too. */
  readonly announcesStream: boolean;
  /** One string for each write to the socket. */
  writes(chunk: ReplyChunk): readonly string[];
  /** What is left of a failure once the stream has begun. */
  broken(error: string): readonly string[];
}

export function v1Sink(context: RouteContext, format: V1Format, streamed: boolean): ReplySink {
  return streamed ? streamedSink(context, format) : wholeSink(context, format);
}

/** Replies of the compatibility routes end with a line feed and name no charset. */
export function sendV1(context: RouteContext, status: number, body: unknown, headers: ExtraHeaders = []): void {
  context.text(status, `${goJson(body)}\n`, 'application/json', headers);
}

/** Refusals of the route itself, before Ollama's own handler is asked. */
export function refuseV1(
  context: RouteContext,
  format: Pick<V1Format, 'refusal'>,
  status: number,
  error: string,
): void {
  context.json(status, format.refusal(status, error));
}

/** A request with nothing set but what is given. */
export function parsedRequest(
  given: Partial<ParsedRequest> & Pick<ParsedRequest, 'kind' | 'model' | 'stream'>,
): ParsedRequest {
  return {
    messages: undefined,
    prompt: '',
    suffix: '',
    system: undefined,
    template: '',
    context: [],
    raw: false,
    images: [],
    format: undefined,
    keepAliveSeconds: undefined,
    tools: [],
    options: {},
    think: undefined,
    truncate: undefined,
    shift: undefined,
    logprobs: false,
    topLogprobs: 0,
    debugRenderOnly: false,
    ...given,
  };
}

/** What a route's body is called in Go, and the types of the fields that are checked. */
export interface BodyShape {
  readonly owner: 'openai' | 'anthropic';
  readonly struct: string;
  readonly types: Readonly<Record<string, string>>;
}

/** Decodes the body as Go would into an object; null after refusing. */
export function readObject(
  context: RouteContext,
  format: Pick<V1Format, 'refusal'>,
  shape: BodyShape,
): Readonly<Record<string, unknown>> | null {
  try {
    // Unlike Ollama's own routes, these pass the bare end of the input on.
    if (context.body.trim() === '') throw new Error('EOF');
    return decodeObject(context.body, shape.struct, shape.types, shape.owner);
  } catch (error) {
    refuseV1(context, format, 400, error instanceof Error ? error.message : String(error));
    return null;
  }
}

export const unixSeconds = (): number => Math.floor(Date.now() / 1000);

function wholeSink(context: RouteContext, format: V1Format): ReplySink {
  const chunks: ReplyChunk[] = [];
  const refuse = (status: number, error: string): void => sendV1(context, status, format.refusal(status, error));
  return {
    refuse,
    fail: refuse,
    alone: (reply) =>
      sendV1(
        context,
        200,
        format.whole({
          ...sum([]),
          doneReason: reply.kind === 'render' ? '' : reply.kind,
          rendered: reply.kind === 'render' ? reply.text : null,
        }),
      ),
    chunk: (chunk) => void chunks.push(chunk),
    end: () => sendV1(context, 200, format.whole(sum(chunks))),
  };
}

function streamedSink(context: RouteContext, format: V1Format): ReplySink {
  const headers = format.announcesStream ? announcement(context) : [];
  let stream: ReplyStream | null = null;
  const open = (): ReplyStream => (stream ??= context.stream('text/event-stream', headers));
  const refuse = (status: number, error: string): void =>
    sendV1(context, status, format.refusal(status, error), headers);
  return {
    refuse,
    alone(reply) {
      if (reply.kind === 'render') sendV1(context, 200, format.whole({ ...sum([]), rendered: reply.text }));
      else {
        for (const text of format.writes(doneChunk(reply.kind))) void open().write(text);
        open().end();
      }
    },
    async chunk(chunk) {
      for (const text of format.writes(chunk)) await open().write(text);
    },
    fail(status, error) {
      // The stream's writer knows no length, also for an error before the first chunk.
      if (stream === null) return context.failStream(status, `${goJson(format.refusal(status, error))}\n`, headers);
      for (const text of format.broken(error)) void open().write(text);
      open().end();
    },
    end: () => open().end(),
  };
}

/** A client that closes overrules the route. */
function announcement({ request }: RouteContext): ExtraHeaders {
  const closes = /\bclose\b/i.test(request.headers.connection ?? '');
  return [['Cache-Control', 'no-cache'], ...(closes ? [] : [['Connection', 'keep-alive'] as const])];
}

const doneChunk = (doneReason: string): ReplyChunk => ({
  thinking: '',
  content: '',
  toolCalls: [],
  logprobs: [],
  done: true,
  doneReason,
});

function sum(chunks: readonly ReplyChunk[]): WholeReply {
  const last = chunks.at(-1);
  return {
    thinking: chunks.map((chunk) => chunk.thinking).join(''),
    content: chunks.map((chunk) => chunk.content).join(''),
    toolCalls: chunks.flatMap((chunk) => chunk.toolCalls),
    logprobs: chunks.flatMap((chunk) => chunk.logprobs),
    doneReason: last?.done === true ? (last.doneReason ?? '') : '',
    metrics: last?.metrics ?? null,
    rendered: null,
  };
}

/**
 * The only way to an Ollama server. Each call has its own client and its own socket: a cancel closes that socket at any time,
 * before headers, while a model loads and for calls that do not stream, and it never touches another call.
 */
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { ModelFacts, ModelSummary, RunningModel } from '../../contract/server.ts';
import type { Milliseconds, Tokens } from '../../contract/units.ts';
import type { CancelSignal, ModelEvent, ModelPort, WireRequest } from '../../engine/ports.ts';
import { type OllamaAddress, parseOllamaHost } from './address.ts';
import { askOf } from './client.ts';
import { embeddingOf, type Embedding } from './embedding.ts';
import { factsOf, modelsOf, runningOf, versionOf } from './facts.ts';
import type { DoorOptions } from './options.ts';
import { createReader, type Reader } from './read.ts';
import { renderPrompt } from './render.ts';
import { assertBounded, streamCall } from './stream-call.ts';

export type { DoorLimits, DoorLogEntry, DoorOptions } from './options.ts';

/** Asked after every call, so a server that is slow with it must not hold up a sweep for the time of other reads. */
export const psTimeoutMs = 10_000;

export interface OllamaDoor extends ModelPort {
  readonly address: OllamaAddress;
  version(signal: CancelSignal): Promise<Result<string>>;
  tags(signal: CancelSignal): Promise<Result<readonly ModelSummary[]>>;
  show(model: string, signal: CancelSignal): Promise<Result<ModelFacts>>;
  ps(signal: CancelSignal): Promise<Result<readonly RunningModel[]>>;
  /**
   * The prompt as the server would build it from this body of /api/chat, without generating; null where it does not know the
   * question, and then one token was generated at most. No time limit of its own: the model may have to load first.
   */
  render(body: WireRequest['body'], signal: CancelSignal): Promise<Result<string | null>>;
  /** No time limit of its own: the model may have to load first. An empty input gives an empty list. */
  embed(ask: EmbedAsk, signal: CancelSignal): Promise<Result<Embedding>>;
}

export interface EmbedAsk {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly truncate?: boolean;
  readonly dimensions?: number;
  readonly numCtx?: Tokens;
  readonly timeoutMs?: Milliseconds;
}

export function createOllamaDoor(options: DoorOptions): OllamaDoor {
  const parsed = parseOllamaHost(options.url);
  if (!parsed.ok) throw new Error(parsed.denial.message);
  const address = parsed.value;
  const reader = createReader({ address, ...options });
  const ps = (signal: CancelSignal): Promise<Result<RunningModel[]>> =>
    reader.read(
      {
        path: '/api/ps',
        ask: (client) => client.ps(),
        take: runningOf,
        timeoutMs: options.limits?.psTimeoutMs ?? psTimeoutMs,
      },
      signal,
    );
  const tags = (signal: CancelSignal): Promise<Result<ModelSummary[]>> =>
    reader.read({ path: '/api/tags', ask: (client) => client.list(), take: modelsOf }, signal);

  return {
    address,
    version: (signal) =>
      reader.read({ path: '/api/version', ask: (client) => client.version(), take: versionOf }, signal),
    tags,
    show: (model, signal) => show(reader, tags, model, signal),
    ps,
    async running(signal) {
      const running = await ps(signal);
      return running.ok ? running.value : null;
    },
    render: (body, signal) => renderPrompt(reader, body, signal),
    embed: (ask, signal) => embed(reader, ask, signal),
    stream(request, signal): AsyncIterable<readonly ModelEvent[]> {
      assertBounded(request);
      return streamCall({ address, ...options, makeAsk: (body) => chatAsk(address, request, body) }, request, signal);
    },
  };
}

/**
 * The package makes the request, with a stand-in for the body: it would change it (`stream` false where it is absent, image
 * texts), and what goes out has to be what is stored with the call.
 */
async function chatAsk(address: OllamaAddress, request: WireRequest, body: string): ReturnType<typeof askOf> {
  const model = typeof request.body.model === 'string' ? request.body.model : '';
  const ask = await askOf(address, (client) =>
    request.path === '/api/chat'
      ? client.chat({ model, messages: [], stream: true })
      : client.generate({ model, prompt: '', stream: true }),
  );
  return { ...ask, body };
}

/** The digest is only in the list; a model may be named there with the tag that was left out here. */
async function show(
  reader: Reader,
  tags: OllamaDoor['tags'],
  model: string,
  signal: CancelSignal,
): Promise<Result<ModelFacts>> {
  const [shown, listed] = await Promise.all([
    reader.read({ path: '/api/show', ask: (client) => client.show({ model }), take: (body) => ({ body }) }, signal),
    tags(signal),
  ]);
  if (!shown.ok) return shown;
  const names = listed.ok ? listed.value : [];
  const found = names.find((each) => each.name === model) ?? names.find((each) => each.name === `${model}:latest`);
  return ok(factsOf(model, shown.value.body, found?.digest ?? null));
}

async function embed(reader: Reader, ask: EmbedAsk, signal: CancelSignal): Promise<Result<Embedding>> {
  if (ask.numCtx !== undefined && ask.numCtx < 1) return refuseNumCtx();
  const request = {
    model: ask.model,
    input: typeof ask.input === 'string' ? ask.input : [...ask.input],
    ...(ask.truncate === undefined ? {} : { truncate: ask.truncate }),
    ...(ask.dimensions === undefined ? {} : { dimensions: ask.dimensions }),
    ...(ask.numCtx === undefined ? {} : { options: { num_ctx: ask.numCtx } }),
  };
  return reader.read(
    { path: '/api/embed', ask: (client) => client.embed(request), take: embeddingOf, timeoutMs: ask.timeoutMs ?? null },
    signal,
  );
}

function refuseNumCtx(): { ok: false; denial: Denial } {
  return denied('bad-input', 'num_ctx must be at least 1.', {
    field: 'numCtx',
    next: 'Leave it empty for the default.',
  });
}

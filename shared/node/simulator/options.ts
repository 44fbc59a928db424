/** Types of the simulator: what a caller may set, what a model profile says, and how routes and the generation core meet. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerBehaviour } from './behaviour.ts';
import type { SimulatorLog } from './log.ts';
import type { Scheduler } from './scheduler.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 11500; 0 = any free port. */
  readonly port?: number;
  /** The server version to behave like, default 0.33.0-rc2. */
  readonly version?: string;
  /** Decides ids, sampled wording and invented codes where the request has no seed of its own. Default 1837. */
  readonly seed?: number;
  /** 1 = the pace of a small model on a CPU, 0 = no waiting at all. Default 1. */
  readonly timeScale?: number;
  /** Log lines are appended to this file, as `ollama serve` would write them. */
  readonly logFile?: string;
  /** OLLAMA_DEBUG=1: DEBUG lines are written too. Default false. */
  readonly debug?: boolean;
  /** OLLAMA_CONTEXT_LENGTH, default 4096. */
  readonly defaultNumCtx?: number;
  /** OLLAMA_NUM_PARALLEL, default 1. */
  readonly numParallel?: number;
  /** OLLAMA_MAX_QUEUE, default 512. */
  readonly maxQueue?: number;
  /** OLLAMA_MAX_LOADED_MODELS, default 3. */
  readonly maxLoadedModels?: number;
  /** OLLAMA_KEEP_ALIVE in seconds, default 300; negative = for ever. */
  readonly keepAliveSeconds?: number;
  /** Installed models, the first one is the default. */
  readonly profiles?: readonly ModelProfile[];
  /** Replaces the built-in brain. */
  readonly brain?: Brain;
  /** For conformance only: true token count of a prompt text without BOS, or null where the tokenizer may decide. */
  readonly pinTokens?: (text: string, model: string) => number | null;
  readonly faults?: readonly FaultName[];
  /** OLLAMA_ORIGINS: further allowed origins, `*` allows all. */
  readonly origins?: readonly string[];
}

/** Faults a person can switch on; `faults.ts` says what each does. */
export const faultNames = [
  'error-line',
  'plain-text-error',
  'cut-stream',
  'drop-connection',
  'torn-bytes',
  'glued-lines',
  'no-last-newline',
  'slow-headers',
  'busy',
  'client-closed',
  'server-error',
  'missing-metrics',
  'invalid-json-line',
  'huge-line',
] as const;
export type FaultName = (typeof faultNames)[number];

export interface Simulator {
  /** Such as `http://127.0.0.1:11500`, no slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly state: SimulatorState;
  /** The last log lines, oldest first (bounded). */
  readonly logLines: () => readonly string[];
  /** Replaces the faults in force. */
  setFaults(faults: readonly FaultName[]): void;
  /** Calls whose client left before the reply was complete (bounded). */
  readonly aborted: readonly AbortedCall[];
  /** Closes every socket, unloads, closes the log. Safe to call twice. */
  stop(): Promise<void>;
}

export interface AbortedCall {
  readonly path: string;
  readonly model: string;
  /** Output tokens sampled when the client left; 0 = it left before the first. */
  readonly sampledTokens: number;
}

export type ThinkSetting = boolean | 'low' | 'medium' | 'high' | 'max' | undefined;

export interface ModelProfile {
  /** With tag, such as `sim-small:latest`. */
  readonly name: string;
  /**
   * rendered: Ollama builds the prompt; native: llama-server does; mlx: rendered, by the engine that never cuts, never shifts
   * and knows no num_ctx, format or stop words. Servers before 0.30 render everything.
   */
  readonly mode: 'rendered' | 'native' | 'mlx';
  /** Parser family of `families/index.ts`: `plain`, `template`, `qwen3`, `qwen3.5`, `harmony`, `gemma4`, `deepseek3`, ... */
  readonly family: string;
  /** Prompt layout of chat. `prompt-only` = nothing around the text. */
  readonly template: 'turns' | 'chatml' | 'prompt-only';
  /** Layout of /api/generate where it differs from chat (native models: the text alone). */
  readonly generateTemplate?: 'turns' | 'chatml' | 'prompt-only';
  readonly architecture: string;
  readonly parameterSize: string;
  readonly parameterCount: number;
  readonly quantization: string;
  readonly trainedContext: number;
  readonly embeddingLength: number;
  /** Sliding window in tokens; such a model can shift only while the padded window fits window + batch. null = none. */
  readonly slidingWindow: number | null;
  readonly addBos: boolean;
  readonly capabilities: readonly Capability[];
  /** What the built-in brain does when the window holds no answer. */
  readonly whenLost: 'admits' | 'invents';
  /** answers: reads and answers; loops: repeats one tool call for ever. */
  readonly behaviour: 'answers' | 'loops';
  /** Built-in brain: how it thinks. Tests with scripts of their own ignore it. */
  readonly thinks: 'never' | 'asked' | 'always' | 'for-ever';
  /** Bytes on disk; size in memory grows from it with the window. */
  readonly sizeBytes: number;
  readonly digest: string;
  /** Identity of the weights: two names over the same weights share one runner. */
  readonly weights: string;
  readonly modifiedAt: string;
  /** Modelfile PARAMETER lines, SYSTEM and MESSAGE entries. */
  readonly parameters: Readonly<Record<string, number | string>>;
  readonly system: string | null;
  readonly license: string | null;
  /** Text of the TEMPLATE layer as /api/show gives it. */
  readonly templateText: string;
  readonly rates: ModelRates;
}

export type Capability = 'completion' | 'tools' | 'insert' | 'vision' | 'embedding' | 'thinking' | 'image' | 'audio';

/** Pace at timeScale 1. */
export interface ModelRates {
  readonly loadMs: number;
  readonly promptTokensPerSecond: number;
  readonly outputTokensPerSecond: number;
}

/** Model text as token pieces, before any family parser. */
export interface ModelText {
  readonly pieces: Iterable<string>;
  /** The runner crashes after the last piece. */
  readonly dies?: boolean;
}

export interface BrainAsk {
  /** What survived in the window, detokenised; the only thing a brain may read answers from. */
  readonly promptText: string;
  readonly profile: ModelProfile;
  /** For settings (format, tools, options), never for text. */
  readonly request: ParsedRequest;
  readonly seed: number;
  readonly think: boolean;
  /** The think value as given (levels), undefined = not sent. */
  readonly thinkSetting: ThinkSetting;
  /** structured output runs twice: 2 = the constrained pass. */
  readonly pass: 1 | 2;
}

/** Given the surviving prompt, the request and the profile, says what the model would write. Tests hand in scripted ones. */
export type Brain = (ask: BrainAsk) => ModelText;

export interface ToolCall {
  readonly id?: string;
  readonly function: {
    readonly index?: number;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
}

export interface ChatMessage {
  /** Lower case. */
  readonly role: string;
  readonly content: string;
  readonly thinking?: string;
  readonly images?: readonly string[];
  readonly toolCalls?: readonly ToolCall[];
  readonly toolName?: string;
  readonly toolCallId?: string;
}

/** Body of chat or generate after decoding. Absent = undefined. */
export interface ParsedRequest {
  readonly kind: 'chat' | 'generate';
  /** As typed by the client. */
  readonly model: string;
  /** undefined where the body had none. */
  readonly messages: readonly ChatMessage[] | undefined;
  readonly prompt: string;
  readonly suffix: string;
  readonly system: string | undefined;
  readonly template: string;
  readonly context: readonly number[];
  readonly raw: boolean;
  readonly images: readonly string[];
  readonly stream: boolean;
  readonly format: unknown;
  /** Seconds, negative = for ever, undefined = not sent. */
  readonly keepAliveSeconds: number | undefined;
  readonly tools: readonly unknown[];
  /** As sent; checked when the runner is scheduled. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly think: ThinkSetting;
  readonly truncate: boolean | undefined;
  readonly shift: boolean | undefined;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  readonly debugRenderOnly: boolean;
  /** /v1/messages: unsupported thinking is dropped instead of refused. */
  readonly relaxThinking?: boolean;
}

export interface LogprobEntry {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs?: readonly {
    readonly token: string;
    readonly logprob: number;
    readonly bytes: readonly number[];
  }[];
}

export interface Metrics {
  readonly totalNs: number;
  readonly loadNs: number;
  readonly promptEvalCount: number;
  readonly promptEvalNs: number;
  readonly evalCount: number;
  readonly evalNs: number;
}

/** One emitted chunk. A reply is chunk*, then a chunk with done (or none, when the repeat guard stopped it). */
export interface ReplyChunk {
  readonly thinking: string;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly logprobs: readonly LogprobEntry[];
  readonly done: boolean;
  readonly doneReason?: string;
  readonly metrics?: Metrics;
  /** generate only, in the done chunk. */
  readonly context?: readonly number[];
}

/** Where a reply goes. Calls come in order; after `refuse`, `alone`, `fail` or `end` nothing follows. */
export interface ReplySink {
  /** Before any chunk: an HTTP status with an error text. */
  refuse(status: number, error: string): void;
  /** load, unload and debug replies: one plain JSON object, also when streaming was asked. */
  alone(reply: AloneReply): void;
  /** Resolves when the transport can take more. */
  chunk(chunk: ReplyChunk): Promise<void> | void;
  /** A failure of the model: a status before the first chunk (or when not streamed), an error line after it. */
  fail(status: number, error: string): void;
  /** End of the stream, with or without a done chunk before. */
  end(): void;
}

export type AloneReply =
  | { readonly kind: 'load' | 'unload' }
  | { readonly kind: 'render'; readonly text: string; readonly imageCount: number };

/** Everything the routes share. */
export interface SimulatorState {
  readonly options: Required<Omit<SimulatorOptions, 'logFile' | 'brain' | 'pinTokens' | 'faults'>> & {
    readonly logFile: string | null;
  };
  readonly behaviour: ServerBehaviour;
  readonly profiles: readonly ModelProfile[];
  readonly brain: Brain;
  readonly pinTokens: ((text: string, model: string) => number | null) | null;
  readonly tokenizer: Tokenizer;
  /** Token number -> piece, for `context`; at most the vocabulary. */
  readonly pieces: Map<number, string>;
  readonly scheduler: Scheduler;
  readonly log: SimulatorLog;
  readonly faults: Set<FaultName>;
  /** Requests to a model so far. */
  readonly turns: { count: number };
  readonly aborted: AbortedCall[];
  /** Waits for model time, scaled; 0 comes back at once. Rejects never; returns early when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal | null): Promise<void>;
}

export interface RouteContext {
  readonly state: SimulatorState;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The whole body as text, undecoded. */
  readonly body: string;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** Sends a compact JSON reply, escaped and framed as Go does (chunked above 2,048 bytes). */
  json(status: number, value: unknown, contentType?: string): void;
  text(status: number, text: string, contentType?: string, headers?: ExtraHeaders): void;
  /** Opens a stream with this content type; write sends one chunk and resolves when the socket can take more. */
  stream(contentType: string, headers?: ExtraHeaders): ReplyStream;
  /** A stream that fails before its first chunk: an error status, chunked, without a charset. */
  failStream(status: number, text: string, headers?: ExtraHeaders): void;
}

export type ExtraHeaders = readonly (readonly [string, string])[];

/** A chunk a call; `write` resolves when the socket can take more, or has gone. */
export interface ReplyStream {
  write(text: string): Promise<void>;
  end(): void;
}

/** Keyed `POST /v1/chat/completions`. */
export type RouteHandler = (context: RouteContext) => Promise<void> | void;

/** Hand-made calls for the tables of verdicts: a prompt and its reply as fields, a call as a recording, a call to the simulator. */
import { expect } from 'vitest';
import type { Explanation } from '../../shared/contract/explain.ts';
import type { Confidence, TruncationKind, TruncationVerdict } from '../../shared/contract/verdicts.ts';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import { explain } from '../../shared/engine/explain/explain.ts';
import { classifyTruncation } from '../../shared/engine/truncation/classify.ts';
import type { TruncationInput } from '../../shared/engine/truncation/types.ts';
import type { Simulator } from '../../shared/node/simulator/index.ts';
import { rawRequest } from '../simulator/raw-http.ts';

/** One row of a table: its name there, what of it this case is about, and the case. */
export type Case = readonly [row: string, part: string, run: () => void | Promise<void>];

export type Change = Omit<Partial<TruncationInput>, 'reply' | 'messages'> & {
  readonly reply?: Partial<TruncationInput['reply']>;
  readonly texts?: readonly (readonly [role: string, content: string])[];
};

/** About 19 tokens. */
const sentence = 'Section 1: requests about parking go to desk 100 and are answered within 1 days. ';
/** Prose of `count` sentences. */
export const prose = (count: number): string => sentence.repeat(count);

/** A rendered chat of one user message in a window of 512, unless the change says otherwise. */
export function promptVerdict({ texts = [['user', prose(1)]], reply = {}, ...change }: Change): TruncationVerdict {
  const messages = texts.map(([role, content]) => ({ role, content }));
  const { total, messages: sizes } = estimateMessages(messages);
  return classifyTruncation({
    route: 'chat',
    promptPath: 'rendered',
    serverVersion: '0.33.0',
    raw: false,
    messages: messages.map(({ role, content }, index) => ({
      role,
      characters: content.length,
      estimate: sizes[index] ?? total,
    })),
    estimate: total,
    hasUncountedParts: false,
    numCtxRequested: 512,
    windowRunning: 512,
    trainedContext: 32_768,
    numKeep: null,
    numPredict: 20,
    truncate: null,
    shift: null,
    addsBos: true,
    log: null,
    render: null,
    previous: null,
    ...change,
    reply: {
      status: 200,
      ending: 'done',
      promptEvalCount: 30,
      evalCount: 4,
      doneReason: 'stop',
      contextLength: null,
      error: null,
      needs: null,
      has: null,
      ...reply,
    },
  });
}

/** Fields of a verdict, in plain numbers. */
export interface Expected {
  readonly kinds?: readonly TruncationKind[];
  readonly confidence?: Confidence;
  readonly lostAtLeast?: boolean;
  readonly sent?: number | null;
  readonly kept?: number | null;
  readonly lost?: number | null;
  readonly headKept?: number | null;
  readonly tailKept?: number | null;
  readonly shifts?: number | null;
  readonly needs?: number | null;
  readonly has?: number | null;
  readonly fitsNumCtx?: number | null;
}

export function expectPrompt(change: Change, expected: Expected): void {
  expect(promptVerdict(change)).toMatchObject(expected);
}

/** The refusal of the runner, as the server passes it on. */
export const nested = (needs: number, has: number): string =>
  JSON.stringify({
    error: JSON.stringify({
      error: {
        code: 400,
        message: `request (${needs} tokens) exceeds the available context size (${has} tokens), try increasing it`,
        type: 'exceed_context_size_error',
        n_prompt_tokens: needs,
        n_ctx: has,
      },
    }),
  });

export const tooLongText =
  'the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length';

/** Over 512: one message, or a history that has to lose some. The refusals of it, and its cut. */
export const tooLong = prose(60);
export const history = [
  ['system', 'Answer in one word.'],
  ['user', prose(14)],
  ['assistant', 'Noted.'],
  ['user', prose(14)],
  ['assistant', 'Noted.'],
  ['user', 'Which desk?'],
] as const;
export const one = [['user', tooLong]] as const;
export const longText = { status: 400, ending: 'refused', promptEvalCount: null, error: tooLongText } as const;
export const nestedReply = {
  status: 400,
  ending: 'refused',
  promptEvalCount: null,
  error: nested(1_421, 512),
  needs: 1_421,
  has: 512,
} as const;
export const halved = { kinds: ['halved'], confidence: 'certain', kept: 259, headKept: 5, tailKept: 254 } as const;
export interface RecordedCall {
  readonly path?: string;
  readonly body?: unknown;
  readonly status?: number;
  readonly reply: unknown;
  readonly running?: readonly unknown[];
  readonly log?: readonly string[];
  readonly version?: string;
}

/** What the console says of a call that was written down. */
export function recorded(call: RecordedCall): Explanation {
  const recording = {
    server: { version: call.version ?? '0.33.0' },
    request: { path: call.path ?? '/api/chat', body: call.body ?? {} },
    response: {
      status: call.status ?? 200,
      body: typeof call.reply === 'string' ? call.reply : JSON.stringify(call.reply),
    },
    running_after: call.running ?? [],
    ...(call.log === undefined ? {} : { log: call.log }),
  };
  const result = explain({ text: JSON.stringify(recording) });
  if (!result.ok) throw new Error(result.denial.message);
  return result.value;
}

export interface Asked extends Explanation {
  readonly status: number;
  readonly text: string;
  /** Window of the first running model. */
  readonly runningWindow: number | null;
}

/** One call to the simulator, read without its log. */
export async function ask(simulator: Simulator, path: string, body: unknown): Promise<Asked> {
  const reply = await rawRequest(simulator.url, { method: 'POST', path, body });
  const ps = (await (await fetch(`${simulator.url}/api/ps`)).json()) as { models: { context_length: number }[] };
  const read = recorded({
    path,
    body,
    status: reply.status,
    reply: reply.body,
    running: ps.models,
    version: simulator.version,
  });
  return { ...read, status: reply.status, text: reply.body, runningWindow: ps.models[0]?.context_length ?? null };
}

/** A chat with one user message, not streamed. */
export function askChat(
  simulator: Simulator,
  content: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<Asked> {
  return ask(simulator, '/api/chat', {
    model: 'sim-reader',
    messages: [{ role: 'user', content }],
    stream: false,
    ...body,
  });
}

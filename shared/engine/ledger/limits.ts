/** Limits of one call, checked before any budget is touched. Each has a code of its own; the ranked first one is told. */
import type { Message } from '../../contract/calls.ts';
import { type Denial, denied, mostImportant } from '../../contract/denials.ts';
import type { CallLimits, Plan } from '../../contract/plans.ts';
import type { MessagesEstimate } from '../estimate/estimate.ts';
import { utf8Bytes } from '../utf8.ts';
import { fullName } from '../running.ts';

export interface CallFacts {
  readonly model: string;
  /** Bytes of the body as it came from the client, or as it goes out. */
  readonly bodyBytes: number;
  /** Of the newest user message; null where there is none. */
  readonly messageCharacters: number | null;
  readonly conversationTokens: number;
  readonly outputTokens: number;
}

/** null = within all of them. */
export function limitDenial(plan: Plan, facts: CallFacts): Denial | null {
  const { limits } = plan;
  const { bodyBytes, messageCharacters, conversationTokens, outputTokens, model } = facts;
  const denials = [
    limits.wallClockMsMax === 0
      ? denied('not-allowed', `The plan ${plan.name} gives calls no time: its wall clock limit is 0.`, {
          field: 'timeoutMs',
          next: 'Ask for a limit, or choose another plan.',
        }).denial
      : null,
    isOver(bodyBytes, limits.bodyBytesMax)
      ? denial(
          'body-too-large',
          plan,
          'body',
          `The request has ${count(bodyBytes)} bytes`,
          limits.bodyBytesMax,
          'Send less at once.',
        )
      : null,
    messageCharacters !== null && isOver(messageCharacters, limits.messageCharactersMax)
      ? denial(
          'message-too-long',
          plan,
          'messages',
          `The message has ${count(messageCharacters)} characters`,
          limits.messageCharactersMax,
          'Shorten the message.',
        )
      : null,
    isOver(conversationTokens, limits.conversationTokensMax)
      ? denial(
          'conversation-too-long',
          plan,
          'messages',
          `The conversation has about ${count(conversationTokens)} tokens`,
          limits.conversationTokensMax,
          'Start a new conversation, or choose a plan that summarises.',
        )
      : null,
    isOver(outputTokens, limits.outputTokensMax)
      ? denial(
          'output-over-cap',
          plan,
          'numPredict',
          `The output cap asked for is ${count(outputTokens)} tokens`,
          limits.outputTokensMax,
          `Ask for at most ${count(limits.outputTokensMax ?? 0)}.`,
        )
      : null,
    limits.models !== null && !limits.models.some((name) => isSameModel(name, model))
      ? denied('model-not-in-plan', `The plan ${plan.name} does not allow the model ${model.slice(0, 200)}.`, {
          field: 'model',
          next: 'Choose one that it allows.',
        }).denial
      : null,
  ].filter((one) => one !== null);
  return mostImportant(denials) ?? null;
}

/** Everything that would be sent again, on the pessimistic side, without what a template adds. */
export function conversationTokens(sizes: Pick<MessagesEstimate, 'messages'>): number {
  return sizes.messages.reduce((sum, one) => sum + one.high, 0);
}

export function newestUserMessage(messages: readonly Message[]): Message | null {
  return messages.findLast((message) => message.role === 'user') ?? null;
}

/**
 * Tokens of the prompt as they are reserved: each text on its pessimistic side, or, where that is more, the likely size with all
 * that a template may add. A prompt the server has counted before is reserved as counted.
 */
export function inputTokensReserved(sizes: MessagesEstimate): number {
  if (sizes.total.source === 'counted') return sizes.total.high;
  const texts = conversationTokens(sizes);
  return Math.max(texts, sizes.total.likely + Math.max(0, sizes.total.high - texts));
}

/** What one message's role, markers and turn end can have at most, in tokens. */
const TEMPLATE_TOKENS_MAX = 64;
/** Windows of models with a path of their own are padded to a multiple of this. */
const WINDOW_STEP = 256;

/**
 * What a prompt can have at most: no vocabulary needs more tokens than bytes, and no server evaluates more than its window.
 * window null = not known. ownTextBytes: what the model's own file may add to it.
 */
export function inputTokensAtMost(messages: readonly Message[], window: number | null, ownTextBytes = 0): number {
  const bytes = messages.reduce(
    (sum, message) => sum + utf8Bytes(message.content) + TEMPLATE_TOKENS_MAX,
    TEMPLATE_TOKENS_MAX + ownTextBytes,
  );
  return window === null ? bytes : Math.min(bytes, Math.ceil(window / WINDOW_STEP) * WINDOW_STEP);
}

function isOver(value: number, limit: number | null): boolean {
  return limit !== null && value > limit;
}

function denial(
  code: 'body-too-large' | 'message-too-long' | 'conversation-too-long' | 'output-over-cap',
  { name }: Plan,
  field: string,
  what: string,
  limit: CallLimits['bodyBytesMax'],
  next: string,
): Denial {
  return denied(code, `${what}; the plan ${name} allows ${count(limit ?? 0)}.`, { field, next }).denial;
}

/** `llama3.2` and `llama3.2:latest` are one model. */
const isSameModel = (allowed: string, model: string): boolean => fullName(allowed) === fullName(model);

const count = (value: number): string => value.toLocaleString('en-US');

/**
 * A conversation over the limit of its plan, where the plan says `summarise`: a call of its own, paid by the same one, writes a
 * summary of what came before, and that goes on in its place. System texts and the newest message stay as they are.
 */
import type { CallRecord, CallRequest, Message } from '../contract/calls.ts';
import type { Plan } from '../contract/plans.ts';
import type { EnginePorts } from './ports.ts';
import { conversationTokens, limitDenial, newestUserMessage } from './ledger/limits.ts';
import { never } from './cancel.ts';

export interface Shortening {
  /** The call that writes the summary. */
  readonly request: CallRequest;
  readonly messagesReplaced: number;
  readonly tokensBefore: number;
}

/** A summary has this share of the conversation's limit at most. */
const SUMMARY_SHARE = 4;
const SUMMARY_TOKENS_MIN = 32;
const HEADING = 'Summary of the conversation so far:';
const HEADING_TOKENS_MAX = 16;
const SUMMARISE =
  'Summarise the conversation below for yourself, so that it can go on from your summary alone. Keep names, numbers, decisions and open questions. Write the summary only.';

/** null where nothing is to be shortened, or where it would not help: the call then goes its way and is refused. */
export async function shorteningOf(ports: EnginePorts, request: CallRequest): Promise<Shortening | null> {
  if (ports.budgets === undefined || request.route !== 'chat') return null;
  const { plan } = ports.budgets.ledger.policyOf(request.payer ?? ports.budgets.payer());
  const limit = plan.limits.conversationTokensMax;
  if (limit === null || plan.onConversationOverflow !== 'summarise' || isRefusedAnyway(plan, request)) return null;
  const subject = await ports.subjects.of(request.model, never);
  if (!subject.ok) return null;
  const sizes = await ports.estimator.estimate(request.messages, subject.value.learned);
  const tokensBefore = conversationTokens(sizes);
  if (tokensBefore <= limit) return null;
  const kept = new Set(keptOf(request.messages));
  const keptTokens = request.messages.reduce(
    (sum, message, index) => sum + (kept.has(message) ? (sizes.messages[index]?.high ?? 0) : 0),
    0,
  );
  // A text is estimated at up to twice the tokens it was made of; a summary that does not fit would be paid for nothing.
  const room = Math.floor((limit - keptTokens - HEADING_TOKENS_MAX) / 2);
  const summaryTokens = Math.min(Math.floor(limit / SUMMARY_SHARE), room, plan.limits.outputTokensMax ?? Infinity);
  const replaced = request.messages.filter((message) => !kept.has(message));
  if (replaced.length === 0 || summaryTokens < SUMMARY_TOKENS_MIN) return null;
  const { needles: _needles, thinkingCap: _cap, logprobs: _logprobs, ...rest } = request;
  return {
    messagesReplaced: replaced.length,
    tokensBefore,
    request: {
      ...rest,
      messages: [
        { role: 'system', content: SUMMARISE },
        { role: 'user', content: replaced.map(({ role, content }) => `${role}: ${content}`).join('\n\n') },
      ],
      needles: [],
      numPredict: summaryTokens,
      think: false,
      // A cut transcript would give a summary of its end: then there is none.
      policy: 'refuse',
    },
  };
}

/** By a limit that a summary does nothing about: then none is paid for. */
function isRefusedAnyway({ limits, ...plan }: Plan, { model, messages, numPredict }: CallRequest): boolean {
  const others = { ...plan, limits: { ...limits, conversationTokensMax: null, bodyBytesMax: null } };
  const messageCharacters = newestUserMessage(messages)?.content.length ?? null;
  const facts = { model, bodyBytes: 0, messageCharacters, conversationTokens: 0, outputTokens: numPredict };
  return limitDenial(others, facts) !== null;
}

/** null where the summary did not come to an end with text in it. */
export function shortenedRequest(request: CallRequest, summary: CallRecord): CallRequest | null {
  const text = summary.reply.answer.trim();
  if (summary.reply.ending !== 'done' || text === '') return null;
  const kept = keptOf(request.messages);
  // Before the question, wherever that stands: what comes last is what the model answers.
  const question = kept.findLastIndex((message) => message.role === 'user');
  return { ...request, messages: kept.toSpliced(question < 0 ? kept.length : question, 0, summaryMessage(text)) };
}

const summaryMessage = (text: string): Message => ({ role: 'system', content: `${HEADING}\n${text}` });

function keptOf(messages: readonly Message[]): Message[] {
  const newest = messages.findLast((message) => message.role === 'user');
  return messages.filter((message) => message.role === 'system' || message === newest);
}

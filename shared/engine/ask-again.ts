/** The second call after a thinking cap: the same question with what was thought so far, for the answer alone. */
import type { CallRecord, CallRequest, Message, Reply } from '../contract/calls.ts';
import { partsOf } from './reasoning/parts.ts';

/** Tokens the answer gets at least, however much of the cap the thinking took. */
export const ANSWER_ONLY_TOKENS_MIN = 64;

/** Only the end of a long thought is sent along: its conclusion, if it has one, stands there. */
const THOUGHT_CHARACTERS_MAX = 4_000;

const ANSWER_NOW = 'Stop thinking now. Give only your final answer to the question above.';

/** null where nothing was stopped, or asking again was not asked for. Thinking is off and the cap is gone in the second call. */
export function answerOnlyRequest({ request, reply, reasoning }: CallRecord): CallRequest | null {
  const { thinkingCap, ...rest } = request;
  if (thinkingCap?.then !== 'ask-again' || reply.abortedBy !== 'thinking-cap') return null;
  const thought = thoughtOf(reply);
  const spent = reasoning?.split?.thinkingTokens ?? thinkingCap.tokensMax;
  return {
    ...rest,
    messages: request.route === 'chat' ? asTurns(request.messages, thought) : asOnePrompt(request.messages, thought),
    think: false,
    numPredict: Math.max(Math.min(ANSWER_ONLY_TOKENS_MIN, request.numPredict), request.numPredict - spent),
  };
}

function asTurns(messages: readonly Message[], thought: string): Message[] {
  return [
    ...messages,
    { role: 'assistant', content: `My thoughts so far:\n${thought}` },
    { role: 'user', content: ANSWER_NOW },
  ];
}

/** /api/generate takes one prompt. */
function asOnePrompt(messages: readonly Message[], thought: string): Message[] {
  return messages.map((message) =>
    message.role === 'user'
      ? { ...message, content: `${message.content}\n\nThoughts so far:\n${thought}\n\n${ANSWER_NOW}` }
      : message,
  );
}

/** Without its tags, so that nothing opens a thought again. */
function thoughtOf({ thinking, answer }: Reply): string {
  const { fieldThinking, taggedThinking } = partsOf(thinking, answer);
  const thought = `${fieldThinking}${taggedThinking}`.trim();
  return (thought === '' ? answer.trim() : thought).slice(-THOUGHT_CHARACTERS_MAX).toWellFormed();
}

/** What a conversation costs that sends its history again at every turn: n x base + added x n(n-1)/2 input tokens. */
import {
  type Conversation,
  type ConversationCost,
  type Month,
  type PriceSet,
  TOKENS_INPUT_MAX,
  TURNS_MAX,
} from '../../contract/costs.ts';
import { type Denial, type Result, ok } from '../../contract/denials.ts';
import { inputCost } from './call-cost.ts';
import { exactNanoDollars, exactTokens, outOfRange } from './exact.ts';

/** In closed form, whatever the number of turns. */
export function costOfConversation(conversation: Conversation, prices: PriceSet): Result<ConversationCost> {
  return faultOf(conversation) ?? priced(countedOf(conversation), prices);
}

/** Turn by turn, as it would run; the proof of the closed form. At most `TURNS_MAX` steps. */
export function simulateConversation(conversation: Conversation, prices: PriceSet): Result<ConversationCost> {
  const fault = faultOf(conversation);
  if (fault !== null) return fault;
  let inputTokens = 0n;
  let cachedTokens = 0n;
  let outputTokens = 0n;
  let history = BigInt(conversation.baseTokens);
  let sentBefore = 0n;
  for (let turn = 0; turn < conversation.turns; turn += 1) {
    inputTokens += history;
    if (conversation.historyCached) cachedTokens += sentBefore;
    outputTokens += BigInt(conversation.outputTokensPerTurn);
    sentBefore = history;
    history += BigInt(conversation.addedTokensPerTurn);
  }
  return priced({ inputTokens, cachedTokens, outputTokens }, prices);
}

/** The same conversation many times a day: `conversationsPerDay` x `days`. */
export function costOfMonth(conversation: Conversation, month: Month, prices: PriceSet): Result<ConversationCost> {
  const fault =
    faultOf(conversation) ??
    outOfRange('conversationsPerDay', month.conversationsPerDay, 0, 1_000_000_000) ??
    outOfRange('days', month.days, 0, 31);
  if (fault !== null) return fault;
  const one = countedOf(conversation);
  const times = BigInt(month.conversationsPerDay) * BigInt(month.days);
  return priced(
    {
      inputTokens: one.inputTokens * times,
      cachedTokens: one.cachedTokens * times,
      outputTokens: one.outputTokens * times,
    },
    prices,
  );
}

interface Counted {
  readonly inputTokens: bigint;
  readonly cachedTokens: bigint;
  readonly outputTokens: bigint;
}

function countedOf(conversation: Conversation): Counted {
  const turns = BigInt(conversation.turns);
  const base = BigInt(conversation.baseTokens);
  const added = BigInt(conversation.addedTokensPerTurn);
  // The last turn's prompt is never sent again, so the cached part is the same sum over one turn less.
  const before = turns === 0n ? 0n : turns - 1n;
  return {
    inputTokens: resent(turns, base, added),
    cachedTokens: conversation.historyCached ? resent(before, base, added) : 0n,
    outputTokens: turns * BigInt(conversation.outputTokensPerTurn),
  };
}

/** Input tokens of `turns` turns. */
export function resent(turns: bigint, base: bigint, added: bigint): bigint {
  return turns * base + (added * turns * (turns - 1n)) / 2n;
}

function priced(counted: Counted, prices: PriceSet): Result<ConversationCost> {
  const inputTokens = exactTokens(counted.inputTokens);
  if (!inputTokens.ok) return inputTokens;
  const cachedTokens = exactTokens(counted.cachedTokens);
  if (!cachedTokens.ok) return cachedTokens;
  const outputTokens = exactTokens(counted.outputTokens);
  if (!outputTokens.ok) return outputTokens;
  const inputAmount = inputCost(counted.inputTokens, counted.cachedTokens, prices);
  const outputAmount = counted.outputTokens * BigInt(prices.outputNanoDollarsPerToken);
  const total = exactNanoDollars(inputAmount + outputAmount);
  if (!total.ok) return total;
  const input = exactNanoDollars(inputAmount);
  if (!input.ok) return input;
  const output = exactNanoDollars(outputAmount);
  if (!output.ok) return output;
  return ok({
    inputTokens: inputTokens.value,
    cachedTokens: cachedTokens.value,
    outputTokens: outputTokens.value,
    input: input.value,
    output: output.value,
    total: total.value,
  });
}

function faultOf(conversation: Conversation): { ok: false; denial: Denial } | null {
  return (
    outOfRange('turns', conversation.turns, 0, TURNS_MAX) ??
    outOfRange('baseTokens', conversation.baseTokens, 0, TOKENS_INPUT_MAX) ??
    outOfRange('addedTokensPerTurn', conversation.addedTokensPerTurn, 0, TOKENS_INPUT_MAX) ??
    outOfRange('outputTokensPerTurn', conversation.outputTokensPerTurn, 0, TOKENS_INPUT_MAX)
  );
}

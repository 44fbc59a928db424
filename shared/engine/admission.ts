/**
 * Steps 3 and 7 of the corridor: limits and a reservation before a call leaves, and what it is charged when it has ended.
 * Without a ledger nothing is limited and nothing reserved.
 */
import type { Reply } from '../contract/calls.ts';
import { type Denial, type Result, denied, ok } from '../contract/denials.ts';
import type { Book, CallBudget } from '../contract/ledger.ts';
import type { Payer } from '../contract/plans.ts';
import type { CallAsk } from './call.ts';
import type { MessagesEstimate } from './estimate/estimate.ts';
import type { Held, Ledger } from './ledger/ledger.ts';
import {
  conversationTokens,
  inputTokensAtMost,
  inputTokensReserved,
  limitDenial,
  newestUserMessage,
  utf8Bytes,
} from './ledger/limits.ts';
import type { Policy } from './ledger/lines.ts';
import { settlementOf } from './ledger/settlement.ts';
import type { Subject, WireRequest } from './ports.ts';
import { preflightInput } from './readings.ts';

export interface BudgetPort {
  readonly ledger: Ledger;
  /** Who pays where a call does not say. */
  payer(): Payer;
  /** How long a call may take that brings no limit of its own. */
  wallClockMs(): number;
}

export interface Admission {
  readonly held: Held;
  readonly policy: Policy;
  readonly inputTokensLikely: number;
  /** The plan's wall clock, where it is shorter than what was asked for. */
  readonly wire: WireRequest;
}

/** Denied: nothing is held. */
export async function admit(
  budgets: BudgetPort,
  ask: CallAsk,
  about: { readonly wire: WireRequest; readonly subject: Subject; readonly sizes: MessagesEstimate },
): Promise<Result<Admission>> {
  const { ledger } = budgets;
  const { request } = ask;
  const { subject, sizes } = about;
  const payer = request.payer ?? budgets.payer();
  const policy = ledger.policyOf(payer);
  const book: Book = subject.simulated ? 'simulated' : 'real';
  const refused = (denial: Denial): Result<never> => {
    ledger.countRefusal({ book, payer, model: request.model }, denial);
    return { ok: false, denial };
  };

  const over = limitDenial(policy.plan, factsOf(ask, policy, about));
  if (over !== null) return refused(over);
  const strict = policy.plan.overrun === 'strict';
  const { window } = preflightInput(request, subject, sizes);
  if (strict && window === null && subject.facts === null) {
    return refused(
      denied(
        'bound-unknown',
        `The plan ${policy.plan.name} reserves what a prompt can be at most, and nothing is known of this model.`,
        {
          field: 'numCtx',
          next: 'Set num_ctx.',
        },
      ).denial,
    );
  }
  const wallClockMs = Math.min(
    about.wire.timeoutMs ?? budgets.wallClockMs(),
    policy.plan.limits.wallClockMsMax ?? Infinity,
  );
  const held = await ledger.reserve({
    key: keyOf(ask),
    book,
    payer,
    model: request.model,
    experiment: ask.runId,
    callId: ask.id,
    inputTokens: strict ? inputTokensAtMost(request.messages, window) : inputTokensReserved(sizes),
    outputTokens: request.numPredict,
    sentTokensEstimated: sizes.total.likely,
    wallClockMs,
    strict,
  });
  if (!held.ok) return held;
  if (held.value.repeated) {
    return denied('key-used', 'A call with this key was made before; it is not sent again.', {
      field: 'idempotencyKey',
      next: 'Look for its reply in the history, or use another key.',
    });
  }
  return ok({
    held: held.value,
    policy,
    inputTokensLikely: sizes.total.likely,
    wire: { ...about.wire, timeoutMs: wallClockMs },
  });
}

function factsOf(
  { request, isSummary }: CallAsk,
  { plan }: Policy,
  { wire, sizes }: { readonly wire: WireRequest; readonly sizes: MessagesEstimate },
): Parameters<typeof limitDenial>[1] {
  const message = newestUserMessage(request.messages);
  return {
    model: request.model,
    // A summary is made of what is too long: it is bounded by the budget alone.
    bodyBytes: plan.limits.bodyBytesMax === null || isSummary === true ? 0 : utf8Bytes(JSON.stringify(wire.body)),
    messageCharacters: message === null || isSummary === true ? null : message.content.length,
    conversationTokens: isSummary === true ? 0 : conversationTokens(sizes),
    outputTokens: request.numPredict,
  };
}

/** The two calls of one request are two reservations. */
function keyOf({ id, request, askedAfter, isSummary }: CallAsk): string {
  const key = request.idempotencyKey ?? id;
  if (isSummary === true) return `${key}/summary`;
  return askedAfter === undefined ? key : `${key}/again`;
}

/** Never throws for what the store does: the settlement then waits, and the hold stands. */
export async function close(
  budgets: BudgetPort,
  { held, policy, inputTokensLikely }: Admission,
  ended: { readonly reply: Reply; readonly wasSent: boolean; readonly outputTokensSeen: number },
): Promise<CallBudget> {
  const { detail, id, book } = held.reservation;
  const settlement = settlementOf({
    ...ended,
    reservedInputTokens: detail.inputTokens,
    reservedOutputTokens: detail.outputTokens,
    inputTokensLikely,
    onCancel: policy.plan.onCancel,
  });
  const closed = await budgets.ledger.resolve(held, settlement);
  return {
    reservationId: id,
    tenant: detail.tenant,
    user: detail.user,
    plan: detail.plan,
    book,
    reservedInputTokens: detail.inputTokens,
    reservedOutputTokens: detail.outputTokens,
    sentTokensEstimated: detail.sentTokensEstimated,
    resolution: closed === null || closed.state === 'open' ? 'unresolved' : closed.state,
    source: closed?.charge?.source ?? settlement.source,
    chargedInputTokens: closed?.charge?.inputTokens ?? settlement.inputTokens,
    chargedOutputTokens: closed?.charge?.outputTokens ?? settlement.outputTokens,
    chargedNanoDollars: closed?.charge?.nanoDollars ?? 0,
    overrunTokens: closed?.charge?.overrunTokens ?? 0,
    reason: closed?.charge?.reason ?? settlement.reason,
  };
}

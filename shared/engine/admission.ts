/**
 * Steps 3 and 7 of the corridor: limits and a reservation before a call leaves, and what it is charged when it has ended.
 * Without a ledger nothing is limited and nothing reserved.
 */
import type { CallRequest, Reply } from '../contract/calls.ts';
import { type Denial, type Result, denied, ok } from '../contract/denials.ts';
import type { Preflight } from '../contract/estimates.ts';
import type { Book, CallBudget } from '../contract/ledger.ts';
import type { Payer } from '../contract/plans.ts';
import type { CallAsk } from './call.ts';
import type { MessagesEstimate } from './estimate/estimate.ts';
import type { Held, Ledger, Settlement } from './ledger/ledger.ts';
import {
  conversationTokens,
  inputTokensAtMost,
  inputTokensReserved,
  limitDenial,
  newestUserMessage,
} from './ledger/limits.ts';
import { utf8Bytes } from './utf8.ts';
import { type Policy, amountsOf } from './ledger/lines.ts';
import { settlementOf } from './ledger/settlement.ts';
import type { Subject, WireRequest } from './ports.ts';
import { preflightInput, textsOf } from './readings.ts';

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

/** What `admit` would hold, and the limit of a call that would refuse it; budgets are not asked. */
export function foresee(
  budgets: BudgetPort,
  request: CallRequest,
  about: { readonly wire: WireRequest; readonly subject: Subject; readonly sizes: MessagesEstimate },
): NonNullable<Preflight['admission']> {
  const policy = budgets.ledger.policyOf(request.payer ?? budgets.payer());
  const unbounded = boundDenial(request, policy, about);
  return {
    inputTokens: unbounded === null ? inputTokensHeld(request, policy, about) : inputTokensReserved(about.sizes),
    outputTokens: request.numPredict,
    denial: limitDenial(policy.plan, factsOf({ request }, policy, about)) ?? unbounded,
  };
}

function inputTokensHeld(
  request: CallRequest,
  { plan }: Policy,
  { subject, sizes }: { readonly subject: Subject; readonly sizes: MessagesEstimate },
): number {
  if (plan.overrun !== 'strict') return inputTokensReserved(sizes);
  return inputTokensAtMost(textsOf(request), windowAskedFor(request, subject, sizes), ownTextOf(subject) ?? 0);
}

/** Builtin prompts of models with a path of their own stand in no file. */
const BUILTIN_PROMPT_BYTES_MAX = 1_000;

/** null = not known: the model was not asked, or has not answered. */
function ownTextOf({ facts }: Subject): number | null {
  const known = facts?.ownTextBytes ?? null;
  return known === null ? null : known + (facts?.promptPath === 'rendered' ? 0 : BUILTIN_PROMPT_BYTES_MAX);
}

/** A strict plan lets nothing go whose size has no bound; null = it has one, or the plan does not ask. */
function boundDenial(
  request: CallRequest,
  { plan }: Policy,
  { subject }: { readonly subject: Subject },
): Denial | null {
  if (plan.overrun !== 'strict' || ownTextOf(subject) !== null) return null;
  const message = `The plan ${plan.name} reserves what a prompt can be at most, and the server says nothing of the model ${request.model.slice(0, 200)}.`;
  return denied('bound-unknown', message, { field: 'model', next: 'Look whether the server has it, then try again.' })
    .denial;
}

/**
 * null where a window is no bound: one that nobody asked for is what was seen before, and another call or a restart may have
 * changed it; and one engine takes every prompt whole.
 */
function windowAskedFor(request: CallRequest, subject: Subject, sizes: MessagesEstimate): number | null {
  const { window, windowSource } = preflightInput(request, subject, sizes);
  return windowSource === 'requested' && subject.facts?.keepsWindow === true ? window : null;
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

  if (ask.refused !== undefined) return { ok: false, denial: ask.refused };
  const over = limitDenial(policy.plan, factsOf(ask, policy, about));
  if (over !== null) return refused(over);
  const unbounded = boundDenial(request, policy, about);
  if (unbounded !== null) return refused(unbounded);
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
    inputTokens: inputTokensHeld(request, policy, about),
    outputTokens: request.numPredict,
    sentTokensEstimated: sizes.total.likely,
    wallClockMs,
    strict: policy.plan.overrun === 'strict',
  });
  // Those of budgets are counted with the balances they touched.
  if (!held.ok) return held.denial.budget === undefined ? refused(held.denial) : held;
  if (held.value.repeated) {
    return refused(
      denied('key-used', 'A call with this key was made before; it is not sent again.', {
        field: 'idempotencyKey',
        next: 'Look for its reply in the history, or use another key.',
      }).denial,
    );
  }
  return ok({
    held: held.value,
    policy,
    inputTokensLikely: sizes.total.likely,
    wire: { ...about.wire, timeoutMs: wallClockMs },
  });
}

function factsOf(
  { request, isSummary }: Pick<CallAsk, 'request' | 'isSummary'>,
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

const moneyOf = ({ operation, inputTokens, outputTokens }: Settlement, prices: Held['prices']): number =>
  operation === 'void' ? 0 : amountsOf(inputTokens, outputTokens, prices)['nano-dollars'];

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
    chargedNanoDollars: closed?.charge?.nanoDollars ?? moneyOf(settlement, held.prices),
    overrunTokens: closed?.charge?.overrunTokens ?? 0,
    reason: closed?.charge?.reason ?? settlement.reason,
  };
}

/** What a storm will send and under which limits: the same calls for both sides, all of it decided by the ask. */
import { type CallRequest, type Message, callRequestSchema } from '../../contract/calls.ts';
import type { StormAsk } from '../../contract/ledger.ts';
import { type Directory, type Payer, directorySchema } from '../../contract/plans.ts';
import { milliseconds } from '../../contract/units.ts';
import { type MessagesEstimate, estimateMessages } from '../estimate/estimate.ts';
import { inputTokensReserved } from '../ledger/limits.ts';
import { STORM_SYSTEM_PROMPT, stormMessage } from './message.ts';

/** Of the simulator: it reads what it is given and answers from it. */
export const STORM_MODEL = 'sim-quick:latest';

export interface StormPlan {
  readonly messages: readonly Message[];
  readonly sizes: MessagesEstimate;
  /** Worst case of one call, as the ledger holds it. */
  readonly reservedTokensEach: number;
  /** Who pays, call by call. */
  readonly payers: readonly Payer[];
  /** Two limits, both in tokens: of a user's day and of the tenant's month. */
  readonly directory: Directory;
  /** Holds the prompt and the reply whole, so that nothing is cut and the counts are those of what was sent. */
  readonly numCtx: number;
}

export function planStorm(ask: StormAsk): StormPlan {
  const messages: Message[] = [
    { role: 'system', content: STORM_SYSTEM_PROMPT },
    { role: 'user', content: stormMessage(ask.messageCharacters) },
  ];
  const sizes = estimateMessages(messages);
  const reservedTokensEach = inputTokensReserved(sizes) + ask.outputTokensMax;
  return {
    messages,
    sizes,
    reservedTokensEach,
    payers: Array.from({ length: ask.calls }, (_, index) => ({
      tenant: TENANT,
      user: ask.users === 'one' ? 'user-1' : `user-${index + 1}`,
    })),
    directory: directoryOf(ask),
    numCtx: windowFor(reservedTokensEach),
  };
}

export function stormRequest(
  { messages, numCtx }: StormPlan,
  call: { readonly payer: Payer; readonly outputTokensMax: number; readonly timeoutMs: number },
): CallRequest {
  return callRequestSchema.parse({
    model: STORM_MODEL,
    route: 'chat',
    messages,
    numCtx,
    numPredict: call.outputTokensMax,
    think: 'default',
    temperature: 0,
    seed: 1_837,
    policy: 'allow',
    timeoutMs: milliseconds(call.timeoutMs),
    payer: call.payer,
  } satisfies Parameters<typeof callRequestSchema.parse>[0]);
}

const TENANT = 'storm';
const WINDOW_MIN = 4_096;

function windowFor(tokensMax: number): number {
  let window = WINDOW_MIN;
  while (window <= tokensMax) window *= 2;
  return window;
}

function directoryOf({ userLimit, tenantLimit }: StormAsk): Directory {
  return directorySchema.parse({
    plans: [
      {
        name: 'storm',
        budgets: [
          { scope: 'user', window: 'day', unit: 'tokens', limit: userLimit },
          { scope: 'tenant', window: 'month', unit: 'tokens', limit: tenantLimit },
        ],
      },
    ],
    tenants: [{ id: TENANT, plan: 'storm' }],
    defaultPlan: 'storm',
  });
}

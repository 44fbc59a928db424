/** The storm's form and figures. Pure. */
import { stormAskSchema } from '../../../shared/contract/ledger.ts';
import type { Storm, StormAsk, StormSide } from '../../../shared/contract/ledger.ts';
import { aboutDuration, count, counted } from '../../format/numbers.ts';
import { parseWhole } from '../live/build-request.ts';

/** As typed. Limits may be empty: unlimited. */
export interface StormText {
  readonly calls: string;
  readonly users: StormAsk['users'];
  readonly messageCharacters: string;
  readonly outputTokensMax: string;
  readonly userLimit: string;
  readonly tenantLimit: string;
}

export type StormField = keyof StormText;
export type StormProblems = Readonly<Partial<Record<StormField, string>>>;

export function textOfAsk(ask: StormAsk): StormText {
  const text = (value: number | null): string => (value === null ? '' : String(value));
  return {
    calls: text(ask.calls),
    users: ask.users,
    messageCharacters: text(ask.messageCharacters),
    outputTokensMax: text(ask.outputTokensMax),
    userLimit: text(ask.userLimit),
    tenantLimit: text(ask.tenantLimit),
  };
}

export const firstStorm: StormText = textOfAsk(stormAskSchema.parse({}));

export function readStorm(text: StormText): { readonly ask: StormAsk } | { readonly problems: StormProblems } {
  const number = (typed: string): number | null => {
    const whole = parseWhole(typed);
    return 'problem' in whole ? Number.NaN : whole.value;
  };
  const read = stormAskSchema.safeParse({
    calls: number(text.calls),
    users: text.users,
    messageCharacters: number(text.messageCharacters),
    outputTokensMax: number(text.outputTokensMax),
    userLimit: number(text.userLimit),
    tenantLimit: number(text.tenantLimit),
  });
  if (read.success) return { ask: read.data };
  const problems: Partial<Record<StormField, string>> = {};
  for (const { path } of read.error.issues) {
    const field = fields.find((each) => each === path[0]);
    if (field !== undefined) problems[field] = words[field];
  }
  return { problems };
}

const fields = ['calls', 'users', 'messageCharacters', 'outputTokensMax', 'userLimit', 'tenantLimit'] as const;
const words: Readonly<Record<StormField, string>> = {
  calls: 'Calls must be a whole number from 1 to 200.',
  users: 'Choose one user, or one each.',
  messageCharacters: 'Characters must be a whole number from 1 to 100,000.',
  outputTokensMax: 'Tokens of answer must be a whole number from 1 to 10,000.',
  userLimit: 'User limit must be a whole number of tokens, or empty for none.',
  tenantLimit: 'Tenant limit must be a whole number of tokens, or empty for none.',
};

/** What all calls together may spend, and whose limit that is; null where nothing limits them. */
export function limitOf({
  calls,
  users,
  userLimit,
  tenantLimit,
}: StormAsk): { readonly tokens: number; readonly of: 'user' | 'users' | 'tenant' } | null {
  const ofUsers = userLimit === null ? null : users === 'one' ? userLimit : userLimit * calls;
  if (ofUsers === null && tenantLimit === null) return null;
  if (tenantLimit !== null && (ofUsers === null || tenantLimit <= ofUsers))
    return { tokens: tenantLimit, of: 'tenant' };
  return { tokens: ofUsers ?? 0, of: users === 'one' ? 'user' : 'users' };
}

/** One scale for both tanks, known before the storm begins, so that nothing jumps while it runs. */
export function scaleOf(
  ask: StormAsk,
  reservedTokensEach: number,
): { readonly max: number; readonly ticks: readonly number[] } {
  const most = Math.max(ask.calls * reservedTokensEach, limitOf(ask)?.tokens ?? 0, 1);
  const step = niceStep(most / 5);
  const steps = Math.ceil(most / step);
  return { max: step * steps, ticks: Array.from({ length: steps + 1 }, (_, index) => index * step) };
}

function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= raw) ?? 10;
  return Math.max(1, Math.round(factor * power));
}

/** Before it was run, as the estimate has it: a third of the characters and the answer's cap. */
export const guessEach = ({ messageCharacters, outputTokensMax }: StormAsk): number =>
  Math.ceil(messageCharacters / 3) + outputTokensMax;

/** `spent, 4.4 times the limit`. */
export function spentWord(side: StormSide, ask: StormAsk): string {
  return `spent, ${againstLimit(side.spentTokens, ask)}`;
}

/** `held at most, under the limit`: held and spent together never stood higher. */
export function heldWord(side: StormSide, ask: StormAsk): string {
  return `held at most, ${againstLimit(side.heldTokensMax, ask)}`;
}

function againstLimit(tokens: number, ask: StormAsk): string {
  const limit = limitOf(ask);
  if (limit === null) return 'and there is no limit';
  if (tokens <= limit.tokens) return tokens === limit.tokens ? 'exactly the limit' : 'under the limit';
  if (limit.tokens === 0) return 'and nothing is allowed';
  const times = tokens / limit.tokens;
  return times < 1.05 ? `${count(tokens - limit.tokens)} over the limit` : `${times.toFixed(1)} times the limit`;
}

/** `20 of 20 calls let through, none refused`. isStopped: those that did not end were stopped, nothing failed. */
export function throughWord(side: StormSide, ask: StormAsk, isStopped = false): string {
  const failed = side.calls.filter((state) => state === 'failed').length;
  const parts = [
    `${count(side.admitted)} of ${counted(ask.calls, 'call')} let through`,
    side.refused === 0 ? 'none refused' : `${count(side.refused)} refused`,
    failed === 0 ? null : `${count(failed)} ${isStopped ? 'stopped' : 'failed'}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

/** `20 calls twice · simulator only · about 4 s`. The time is that of the last storm, by calls; nothing is said before one. */
export function costWord(ask: StormAsk, last: Storm | null): string {
  const parts = [`${counted(ask.calls, 'call')} twice`, 'simulator only'];
  if (last !== null && last.endedAt !== null && last.state === 'done') {
    const tookMs = Date.parse(last.endedAt) - Date.parse(last.startedAt);
    parts.push(aboutDuration((tookMs * ask.calls) / Math.max(1, last.ask.calls)));
  } else parts.push(`at most ${count(2 * ask.calls * guessEach(ask))} simulated tokens`);
  return parts.join(' · ');
}

/** A row of squares that fills the width: all in one row up to 40, then equal rows. */
export function squareColumns(calls: number): number {
  const rows = Math.ceil(calls / 40);
  return Math.max(1, Math.ceil(calls / rows));
}

/** Holds and refusals as rows of one list, the youngest on top. Pure. */
import type { RefusalLine, Reservation } from '../../../shared/contract/ledger.ts';
import { count } from '../../format/numbers.ts';
import { shortOf, sourceShort } from './words.ts';

export const holdFilters = ['all', 'open', 'closed', 'refused'] as const;
export type HoldFilter = (typeof holdFilters)[number];

export interface HoldRow {
  readonly key: string;
  /** What it is sorted by: when it was opened, or refused last. */
  readonly at: string;
  readonly user: string;
  readonly tenant: string;
  readonly model: string;
  /** `open`, `settled`, `refused` … */
  readonly state: string;
  /** Refusals that were the same. */
  readonly times: number;
  readonly reserved: number | null;
  /** null while it is open, or was never held. */
  readonly used: number | null;
  readonly tokens: string;
  readonly note: string;
  readonly hold: Reservation | null;
  readonly refusal: RefusalLine | null;
}

export function holdRows(
  holds: Iterable<Reservation>,
  refusals: Iterable<RefusalLine>,
  filter: HoldFilter,
): readonly HoldRow[] {
  const rows: HoldRow[] = [];
  if (filter !== 'refused')
    for (const hold of holds)
      if (filter === 'all' || (hold.state === 'open') === (filter === 'open')) rows.push(rowOfHold(hold));
  if (filter === 'all' || filter === 'refused') for (const line of refusals) rows.push(rowOfRefusal(line));
  // Equal times keep the order of arrival, the later one on top.
  return rows.reverse().sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

function rowOfHold(hold: Reservation): HoldRow {
  const { detail, charge } = hold;
  const reserved = detail.inputTokens + detail.outputTokens;
  const used = charge === null ? null : charge.inputTokens + charge.outputTokens;
  return {
    key: hold.id,
    at: hold.openedAt,
    user: detail.user,
    tenant: detail.tenant,
    model: detail.model,
    state: hold.state,
    times: 1,
    reserved,
    used,
    tokens: used === null ? `${count(detail.inputTokens)} in + ${count(detail.outputTokens)} out` : chargeText(hold),
    note: charge === null ? (detail.strict ? 'held, strict' : 'held') : sourceShort[charge.source],
    hold,
    refusal: null,
  };
}

/** `1,968, 466 back`, `2,434, nothing back`, `2,500, 66 over`. */
export function chargeText({ state, detail, charge }: Reservation): string {
  if (charge === null) return '';
  const used = charge.inputTokens + charge.outputTokens;
  const reserved = detail.inputTokens + detail.outputTokens;
  if (state === 'voided') return `0, ${count(reserved)} back`;
  if (charge.overrunTokens > 0) return `${count(used)}, ${count(charge.overrunTokens)} over`;
  const back = Math.max(0, reserved - used);
  return `${count(used)}, ${back === 0 ? 'nothing' : count(back)} back`;
}

function rowOfRefusal(line: RefusalLine): HoldRow {
  return {
    key: `refused ${line.id}`,
    at: line.lastAt,
    user: line.user,
    tenant: line.tenant,
    model: line.model,
    state: 'refused',
    times: line.count,
    reserved: line.refusal?.account.unit === 'tokens' ? line.refusal.needed : null,
    used: null,
    tokens: shortOf(line.refusal),
    note: line.code,
    hold: null,
    refusal: line,
  };
}

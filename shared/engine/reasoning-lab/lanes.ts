/** What the repeats of a lane say together: how many answered, how many starved, how often the switch was obeyed. */
import type { CallSummary } from '../../contract/calls.ts';
import type { ReasoningCell } from '../../contract/experiments.ts';
import type { LaneSummary, ObeyedRate } from '../../contract/reasoning.ts';
import type { Milliseconds, Tokens } from '../../contract/units.ts';
import { thinkName } from './variants.ts';

/** In the order in which the lanes first appear; warm-ups count nowhere. */
export function laneSummaries(cells: Iterable<ReasoningCell>): LaneSummary[] {
  const lanes = new Map<string, ReasoningCell[]>();
  for (const cell of [...cells].sort((a, b) => a.plan.index - b.plan.index)) {
    if (cell.plan.warmUp || cell.plan.search === true) continue;
    const key = JSON.stringify([cell.plan.model, cell.plan.variant]);
    const lane = lanes.get(key);
    if (lane === undefined) lanes.set(key, [cell]);
    else lane.push(cell);
  }
  return [...lanes.values()].map(summaryOfLane);
}

function summaryOfLane(cells: readonly ReasoningCell[]): LaneSummary {
  const { model, variant, think } = (cells[0] as ReasoningCell).plan;
  const calls = cells.flatMap((cell) => (cell.state === 'done' && cell.call !== null ? [cell.call] : []));
  const readings = calls.flatMap((call) => (call.reasoning ? [call.reasoning] : []));
  const splits = readings.flatMap(({ split }) => (split === null ? [] : [split]));
  return {
    model,
    variant,
    runs: cells.length,
    ended: calls.length,
    answered: readings.filter(({ outcome }) => outcome === 'answered').length,
    complete: readings.filter(({ outcome, complete }) => outcome === 'answered' && complete === true).length,
    starved: readings.filter(({ outcome }) => outcome === 'starved').length,
    thinkingTokensMedian: median(splits.map(({ thinkingTokens }) => thinkingTokens)) as Tokens | null,
    answerTokensMedian: median(splits.map(({ answerTokens }) => answerTokens)) as Tokens | null,
    splitSource:
      splits.length === 0 ? null : splits.every(({ source }) => source === 'counted') ? 'counted' : 'estimated',
    wallMsMedian: median(calls.map(({ wallMs }) => wallMs)) as Milliseconds | null,
    obeyed: think === false ? obeyedRate(calls) : null,
  };
}

/** Only runs where it could be told are counted: a reply that broke off before anything showed says nothing about obedience. */
export function obeyedRate(calls: readonly Pick<CallSummary, 'reasoning' | 'think'>[]): ObeyedRate {
  const told = calls.flatMap(({ reasoning }) => (reasoning ? [reasoning.obedience] : []));
  const obeyed = told.filter((obedience) => obedience === 'obeyed').length;
  const notObeyed = told.filter((obedience) => obedience === 'not-obeyed').length;
  const suspect = told.filter((obedience) => obedience === 'suspect').length;
  const of = obeyed + notObeyed + suspect;
  const name = thinkName(calls[0]?.think ?? false);
  const unsure = suspect === 0 ? '' : `, ${suspect} suspect`;
  return { obeyed, notObeyed, suspect, of, sentence: `${name} obeyed ${obeyed} of ${of}${unsure}` };
}

/** The middle value, the lower of two; null without any. */
function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known[Math.floor((known.length - 1) / 2)] ?? null;
}

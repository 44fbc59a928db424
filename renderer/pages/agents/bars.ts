/** The eight dimensions of a node as bars: what it used itself, what its agents hold or used, what is left. Pure. */
import type { AgentNode, Dimension } from '../../../shared/contract/agents.ts';
import { count } from '../../format/numbers.ts';
import { inSeconds, money, wholeMoney } from './words.ts';

export interface Bar {
  readonly dimension: Dimension;
  /** What stands over the bar. */
  readonly text: string;
  /** All of it, for hover and screen readers. */
  readonly help: string;
  /** Shares of the limit, 0 to 1; null = no limit. */
  readonly own: number | null;
  readonly agents: number;
}

export const barHeads: Record<Dimension, { readonly text: string; readonly help: string }> = {
  calls: { text: 'calls', help: 'Tool calls that were made, its own and those of its agents.' },
  tokens: { text: 'tokens', help: 'What came into contexts, or what turns were billed: the limit says which.' },
  'nano-dollars': { text: 'money', help: 'What tools cost.' },
  'wall-clock': { text: 'time', help: 'From its start to its end.' },
  depth: { text: 'depth', help: 'How far below the first agent it is.' },
  'fan-out': { text: 'fan-out', help: 'The most calls of one step.' },
  descendants: { text: 'agents', help: 'Agents below it, those that ended included.' },
  'output-bytes': { text: 'bytes', help: 'The largest output that came into its context.' },
};

/** nowMs: since the start of the run. */
export function barsOf(node: AgentNode, nowMs: number): readonly Bar[] {
  const { used, carved, limits, peak } = node;
  const tokens = limits.tokensMean === 'context' ? used.contextTokens : used.billedTokens;
  const spentMs = Math.max(0, (node.endedMs ?? nowMs) - node.startedMs);
  const meaning = limits.tokensMean === 'context' ? 'context tokens' : 'billed tokens';
  return [
    bar('calls', used.calls, carved.calls, limits.calls, count, (all) => ofLimit(all, limits.calls), 'calls'),
    bar('tokens', tokens, carved.tokens, limits.tokens, count, (all) => short3(all), meaning),
    bar('nano-dollars', used.nanoDollars, carved.nanoDollars, limits.nanoDollars, wholeMoney, money, ''),
    bar('wall-clock', spentMs, 0, limits.wallClockMs, inSeconds, inSeconds, ''),
    bar('depth', node.depth, 0, limits.depth, count, (all) => ofLimit(all, limits.depth), 'levels'),
    bar('fan-out', peak.fanOut, 0, limits.fanOut, count, (all) => ofLimit(all, limits.fanOut), 'calls in one step'),
    bar(
      'descendants',
      node.descendants,
      0,
      limits.descendants,
      count,
      (all) => ofLimit(all, limits.descendants),
      'agents',
    ),
    bar('output-bytes', peak.outputBytes, 0, limits.outputBytes, count, (all) => count(all), 'bytes'),
  ];
}

function bar(
  dimension: Dimension,
  own: number,
  agents: number,
  limit: number | null,
  exact: (value: number) => string,
  shown: (all: number) => string,
  unit: string,
): Bar {
  const all = own + agents;
  const share = (value: number): number => (limit === 0 ? (value > 0 ? 1 : 0) : Math.min(1, value / (limit ?? 1)));
  const ownShare = limit === null ? null : share(own);
  const parts = agents > 0 ? `: ${exact(own)} itself, ${exact(agents)} its agents` : '';
  const of = limit === null ? 'no limit' : `of ${exact(limit)}`;
  return {
    dimension,
    text: shown(all),
    help: `${barHeads[dimension].text}: ${exact(all)}${unit === '' ? '' : ` ${unit}`}, ${of}${parts}`,
    own: ownShare,
    agents: ownShare === null ? 0 : Math.min(1 - ownShare, share(agents)),
  };
}

const ofLimit = (value: number, limit: number | null): string =>
  limit === null ? shorter(value) : `${shorter(value)} / ${shorter(limit)}`;

const shorter = (value: number): string => (value >= 10_000 ? short3(value) : count(value));

/** 205k, 89.7k, 1.2M: three digits. */
function short3(value: number): string {
  if (value < 1_000) return String(value);
  const [scaled, sign] = value >= 999_500 ? [value / 1_000_000, 'M'] : [value / 1_000, 'k'];
  return `${scaled >= 99.95 ? Math.round(scaled) : scaled.toFixed(1)}${sign}`;
}

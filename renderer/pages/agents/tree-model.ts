/** The budget tree as lines of an outline: agents under their parent, in the order they began, and delegations that were refused. Pure. */
import type { AgentNode, GatewayCall } from '../../../shared/contract/agents.ts';
import { count, counted } from '../../format/numbers.ts';
import { callsAsked, codeWords, inSeconds, isRefused, ordinal } from './words.ts';

export type TreeLine =
  | { readonly kind: 'node'; readonly key: string; readonly level: number; readonly node: AgentNode }
  | {
      readonly kind: 'refused';
      readonly key: string;
      readonly level: number;
      readonly name: string;
      readonly text: string;
    };

/** Reasons of one agent; more become one line with their count. */
export const REFUSED_SHOWN_MAX = 2;

export function treeLines(nodes: Iterable<AgentNode>, calls: Iterable<GatewayCall>): readonly TreeLine[] {
  const children = new Map<string | null, AgentNode[]>();
  const known = new Set<string>();
  for (const node of nodes) {
    known.add(node.id);
    const list = children.get(node.parentId);
    if (list === undefined) children.set(node.parentId, [node]);
    else list.push(node);
  }
  const refused = delegationsOf(calls);
  const lines: TreeLine[] = [];
  const roots = [...children].flatMap(([parent, list]) => (parent === null || !known.has(parent) ? list : []));
  // A stack, not recursion: how deep a tree is comes from outside.
  const stack = roots.map((node) => ({ node, level: 0 })).reverse();
  const pending: { after: number; lines: TreeLine[] }[] = [];
  while (stack.length > 0 || pending.length > 0) {
    const due = pending.at(-1);
    if (due !== undefined && stack.length <= due.after) {
      lines.push(...due.lines);
      pending.pop();
      continue;
    }
    const next = stack.pop();
    if (next === undefined) break;
    const { node, level } = next;
    lines.push({ kind: 'node', key: node.id, level, node });
    const own = refused.get(node.id);
    // They come after the agents that were started: a refusal is what ended the series.
    if (own !== undefined) pending.push({ after: stack.length, lines: refusedLines(node.id, own, level + 1) });
    for (const child of [...(children.get(node.id) ?? [])].reverse()) stack.push({ node: child, level: level + 1 });
  }
  return lines;
}

interface Delegations {
  started: number;
  readonly refused: { readonly call: GatewayCall; readonly nth: number }[];
}

function delegationsOf(calls: Iterable<GatewayCall>): Map<string, Delegations> {
  const byNode = new Map<string, Delegations>();
  for (const call of calls) {
    if (call.tool !== 'delegate') continue;
    const own = byNode.get(call.nodeId) ?? { started: 0, refused: [] };
    byNode.set(call.nodeId, own);
    if (isRefused(call)) own.refused.push({ call, nth: own.started + own.refused.length + 1 });
    else own.started += 1;
  }
  return byNode;
}

/** One line for each reason: a model that asks three times at once was refused once, for three. */
function refusedLines(nodeId: string, { refused }: Delegations, level: number): TreeLine[] {
  const groups = new Map<string, typeof refused>();
  for (const one of refused) {
    const key = `${one.call.code ?? ''} ${callsAsked(one.call) ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const shown = [...groups.values()].slice(0, REFUSED_SHOWN_MAX);
  const lines = shown.flatMap((group): TreeLine[] => {
    const [first] = group;
    const last = group.at(-1);
    if (first === undefined || last === undefined) return [];
    const { call, nth } = first;
    const asked = callsAsked(call);
    const why = call.code === null ? 'not allowed' : codeWords[call.code];
    const each = group.length > 1 ? ' each' : '';
    const wanted = asked === null ? why : `asked for ${counted(asked, 'call')}${each}, ${why}`;
    const from = inSeconds(call.startedMs);
    const to = inSeconds(last.call.startedMs);
    return [
      {
        kind: 'refused',
        key: call.id,
        level,
        name: group.length === 1 ? `${ordinal(nth)} agent` : `${count(group.length)} agents`,
        text: `refused ${from === to ? `at ${from}` : `from ${from} to ${to}`}: ${wanted}`,
      },
    ];
  });
  const more = refused.length - shown.reduce((sum, group) => sum + group.length, 0);
  if (more > 0)
    lines.push({
      kind: 'refused',
      key: `${nodeId} more`,
      level,
      name: `${count(more)} more`,
      text: `refused, the last at ${inSeconds(refused.at(-1)?.call.startedMs ?? 0)}`,
    });
  return lines;
}

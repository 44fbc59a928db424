/**
 * Agents over time: for each a lane with its model turns as bars and its calls as boxes, stacked per step. Pure geometry in
 * pixels, so that it is tested without a screen; boxes of one look become one path, so that 5,000 calls are a few elements.
 */
import type { AgentNode, GatewayCall, GuardTrip, ModelTurn } from '../../shared/contract/agents.ts';

export const looks = ['done', 'marked', 'cached', 'failed', 'refused', 'running', 'asking'] as const;
export type Look = (typeof looks)[number];

export interface LaneBox {
  readonly call: GatewayCall;
  readonly look: Look;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LaneWait {
  readonly call: GatewayCall;
  /** Name of the agent; null while it has not begun. */
  readonly childId: string | null;
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly open: boolean;
}

export interface Lane {
  readonly node: AgentNode;
  readonly top: number;
  readonly bottom: number;
  readonly fromX: number;
  readonly toX: number;
  /** Model turns; closing ones apart. */
  readonly turns: string;
  readonly closing: string;
  readonly boxes: readonly LaneBox[];
  readonly waits: readonly LaneWait[];
}

export interface LaneTrip {
  readonly trip: GuardTrip;
  readonly x: number;
  readonly lane: Lane;
  readonly deciding: boolean;
}

export interface LanesModel {
  readonly lanes: readonly Lane[];
  readonly trips: readonly LaneTrip[];
  readonly ticks: readonly { readonly x: number; readonly atMs: number }[];
  readonly height: number;
  readonly lanesLeftOut: number;
}

export interface LanesInput {
  readonly nodes: readonly AgentNode[];
  readonly calls: Iterable<GatewayCall>;
  readonly turns: Iterable<ModelTurn>;
  readonly trips: readonly GuardTrip[];
  readonly marked: ReadonlySet<string>;
  readonly isDeciding: (trip: GuardTrip) => boolean;
  /** Time that the axis reaches to. */
  readonly nowMs: number;
  readonly width: number;
  /** Height that is there; lanes get more where they need it. */
  readonly height: number;
  /** Highest lane; more on a wall. */
  readonly laneMax?: number;
}

export const LANES_MAX = 60;
export const NAME_WIDTH = 76;
const RIGHT = 16;
const TOP = 18;
const AXIS = 20;
const LANE_MIN = 60;
const LANE_MAX = 150;
const FOOT = 12;
/** Height of a call in a stack; more where lanes are high, as on a wall. */
const PITCH_MIN = 9;
const PITCH_MAX = 14;
const TICK_WIDTH_MIN = 64;

export function lanesModel(input: LanesInput): LanesModel {
  const { nodes, width, height, isDeciding } = input;
  const shown = nodes.slice(0, LANES_MAX);
  const endMs = Math.max(1_000, input.nowMs, ...shown.map(({ endedMs }) => endedMs ?? 0));
  const plotWidth = Math.max(60, width - NAME_WIDTH - RIGHT);
  const xOf = (ms: number): number => NAME_WIDTH + (Math.min(ms, endMs) / endMs) * plotWidth;
  const each = Math.floor((height - TOP - AXIS) / Math.max(1, shown.length));
  const laneHeight = Math.max(LANE_MIN, Math.min(input.laneMax ?? LANE_MAX, each));
  const callsOf = grouped(input.calls);
  const turnsOf = grouped(input.turns);
  // A delegation says which agent it became only when it comes back.
  const childOf = ({ nodeId, startedMs }: GatewayCall): string | null =>
    nodes.findLast((node) => node.parentId === nodeId && node.startedMs >= startedMs && node.endedMs === null)?.id ??
    null;
  const lanes = shown.map((node, index): Lane => {
    const top = TOP + index * laneHeight;
    const bottom = top + laneHeight;
    return {
      node,
      top,
      bottom,
      fromX: xOf(node.startedMs),
      toX: xOf(node.endedMs ?? endMs),
      ...turnPaths(turnsOf.get(node.id) ?? [], xOf, bottom - FOOT, endMs),
      ...boxesOf(
        callsOf.get(node.id) ?? [],
        input.marked,
        xOf,
        bottom - FOOT - 3,
        laneHeight - FOOT - 8,
        endMs,
        childOf,
      ),
    };
  });
  const laneOf = new Map(lanes.map((lane) => [lane.node.id, lane]));
  const trips = input.trips.flatMap((trip): LaneTrip[] => {
    const lane = laneOf.get(trip.nodeId);
    return lane === undefined ? [] : [{ trip, lane, x: xOf(trip.atMs), deciding: isDeciding(trip) }];
  });
  return {
    lanes,
    trips,
    ticks: ticksOf(endMs, plotWidth).map((atMs) => ({ atMs, x: xOf(atMs) })),
    height: TOP + lanes.length * laneHeight + AXIS,
    lanesLeftOut: nodes.length - shown.length,
  };
}

export function lookOf(call: GatewayCall, marked: ReadonlySet<string>): Look {
  switch (call.outcome) {
    case 'refused':
    case 'not-run':
      return 'refused';
    case 'failed':
      return 'failed';
    case 'running':
      return 'running';
    case 'waiting-approval':
      return 'asking';
    case 'cached':
      return marked.has(call.id) ? 'marked' : 'cached';
    case 'done':
      return marked.has(call.id) ? 'marked' : 'done';
  }
}

/** Rectangles of one look as one path. Hollow ones are drawn on their edge, so they shrink by half a stroke. */
export function pathOf(boxes: readonly LaneBox[], inset: number): string {
  let path = '';
  for (const { x, y, width, height } of boxes) {
    const w = Math.max(1, width - 2 * inset);
    const h = Math.max(1, height - 2 * inset);
    path += `M${r(x + inset)} ${r(y + inset)}h${r(w)}v${r(h)}h${r(-w)}z`;
  }
  return path;
}

/** The box under a point; the nearest within a few pixels, so that thin ones can be hit. */
export function boxAt(model: LanesModel, x: number, y: number): LaneBox | null {
  const lane = model.lanes.find(({ top, bottom }) => y >= top && y < bottom);
  if (lane === undefined) return null;
  let best: LaneBox | null = null;
  let bestDistance = 6;
  for (const box of lane.boxes) {
    const dx = Math.max(box.x - x, 0, x - box.x - box.width);
    const dy = Math.max(box.y - y, 0, y - box.y - box.height);
    const distance = dx + dy;
    if (distance < bestDistance) [best, bestDistance] = [box, distance];
  }
  if (best !== null) return best;
  const wait = lane.waits.find((one) => x >= one.x && x <= one.x + one.width && Math.abs(y - one.y) < 10);
  return wait === undefined
    ? null
    : { call: wait.call, look: 'done', x: wait.x, y: wait.y - 3, width: wait.width, height: 6 };
}

const LABELS_MAX = 3;
const CHARACTER_WIDTH = 6.6;

/** Trips whose words have room, the latest first: what stopped a run is said before what warned of it. */
export function labelledTrips(
  model: LanesModel,
  wordsOf: (trip: LaneTrip) => string,
  width: number,
): readonly PlacedLabel[] {
  const ranked = [...model.trips]
    .filter(({ deciding }) => deciding)
    .sort((a, b) => Number(b.trip.stage === 'stop') - Number(a.trip.stage === 'stop') || b.x - a.x);
  const placed: PlacedLabel[] = [];
  for (const one of ranked) {
    if (placed.length === LABELS_MAX) break;
    const text = wordsOf(one);
    const wide = text.length * CHARACTER_WIDTH;
    const toLeft = one.x > width / 2;
    const from = Math.max(0, toLeft ? one.x - 6 - wide : one.x + 6);
    const taken = placed.some((other) => other.trip.lane === one.lane && from < other.to && from + wide > other.from);
    if (!taken) placed.push({ trip: one, text, toLeft, from, to: from + wide });
  }
  return placed;
}

export interface PlacedLabel {
  readonly trip: LaneTrip;
  readonly text: string;
  readonly toLeft: boolean;
  readonly from: number;
  readonly to: number;
}

/** Round times, so that there are not more of them than the width takes. */
export function ticksOf(endMs: number, plotWidth: number): readonly number[] {
  const ticksMax = Math.max(2, Math.floor(plotWidth / TICK_WIDTH_MIN));
  const step =
    steps.find((candidate) => endMs / candidate <= ticksMax) ?? Math.ceil(endMs / ticksMax / 3_600_000) * 3_600_000;
  const ticks: number[] = [];
  for (let atMs = 0; atMs <= endMs && ticks.length <= 100; atMs += step) ticks.push(atMs);
  return ticks;
}

const steps = [
  200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
];

function turnPaths(
  turns: readonly ModelTurn[],
  xOf: (ms: number) => number,
  y: number,
  endMs: number,
): { turns: string; closing: string } {
  let plain = '';
  let closing = '';
  for (const turn of turns) {
    const x = xOf(turn.startedMs);
    const width = Math.max(1, xOf(turn.endedMs ?? endMs) - x - 1);
    const path = `M${r(x)} ${r(y)}h${r(width)}v5h${r(-width)}z`;
    if (turn.closing) closing += path;
    else plain += path;
  }
  return { turns: plain, closing };
}

function boxesOf(
  calls: readonly GatewayCall[],
  marked: ReadonlySet<string>,
  xOf: (ms: number) => number,
  baseY: number,
  room: number,
  endMs: number,
  childOf: (call: GatewayCall) => string | null,
): { boxes: LaneBox[]; waits: LaneWait[] } {
  const waits: LaneWait[] = [];
  const steps = new Map<number, GatewayCall[]>();
  for (const call of calls) {
    if (call.tool === 'delegate' && !isHollow(call)) {
      const x = xOf(call.startedMs);
      const width = Math.max(2, xOf(call.endedMs ?? endMs) - x);
      waits.push({ call, childId: call.childId ?? childOf(call), x, width, y: baseY - 4, open: call.endedMs === null });
      continue;
    }
    const step = steps.get(call.step);
    if (step === undefined) steps.set(call.step, [call]);
    else step.push(call);
  }
  const ordered = [...steps.values()].sort((a, b) => startOf(a) - startOf(b));
  const boxes: LaneBox[] = [];
  ordered.forEach((step, at) => {
    const from = xOf(startOf(step));
    const longest = Math.max(...step.map((call) => xOf(call.endedMs ?? endMs) - xOf(call.startedMs)));
    // The last one is drawn as those before it.
    const [one, other] = at + 1 < ordered.length ? [ordered[at], ordered[at + 1]] : [ordered[at - 1], ordered[at]];
    const gap = one === undefined || other === undefined ? Infinity : xOf(startOf(other)) - xOf(startOf(one)) - 1;
    const width = Math.max(1.5, Math.min(Math.max(longest, 6), 48, gap));
    // In the order they were asked for, from below; what was not made lies on top.
    const stack = step.sort((a, b) => Number(isHollow(a)) - Number(isHollow(b)) || a.index - b.index);
    const lift = waits.some((wait) => wait.x < from + width - 1 && wait.x + wait.width > from + 1) ? 12 : 0;
    const pitch = Math.min(Math.max(PITCH_MIN, Math.min(PITCH_MAX, room / 12)), (room - lift) / step.length);
    stack.forEach((call, height) => {
      const look = lookOf(call, marked);
      const y = baseY - lift - (height + 1) * pitch;
      boxes.push({ call, look, x: from, y, width, height: Math.max(1, pitch - 1.5) });
    });
  });
  return { boxes, waits };
}

const isHollow = ({ outcome }: GatewayCall): boolean => outcome === 'refused' || outcome === 'not-run';
const startOf = (step: readonly GatewayCall[]): number => Math.min(...step.map(({ startedMs }) => startedMs));
const r = (value: number): number => Math.round(value * 10) / 10;

function grouped<Item extends { readonly nodeId: string }>(items: Iterable<Item>): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.nodeId);
    if (group === undefined) groups.set(item.nodeId, [item]);
    else group.push(item);
  }
  return groups;
}

/** Calls of every agent over time. Moving the pointer, or the arrow keys, names a call; Enter or a click opens it. */
import { useId, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { boxAt, labelledTrips, lanesModel, looks, pathOf } from './agent-lanes-model.ts';
import type { Lane, LaneBox, LanesInput, LanesModel, LaneTrip, Look } from './agent-lanes-model.ts';
import { NAME_WIDTH } from './agent-lanes-model.ts';
import { useSize } from './use-size.ts';

export interface AgentLanesProps extends Omit<LanesInput, 'width' | 'height'> {
  /** Says the whole chart in one sentence. */
  readonly label: string;
  readonly pickedCall: string | null;
  readonly pickedNode: string | null;
  readonly onPickCall: (id: string) => void;
  readonly onPickNode: (id: string) => void;
  readonly nameOf: (box: LaneBox) => string;
  readonly tripLabel: (trip: LaneTrip) => string;
  readonly endLabel: (lane: Lane) => string;
  readonly timeOf: (atMs: number) => string;
  /** Without height of its own: it is as tall as its lanes. */
  readonly overflow?: ReactNode;
}

export function AgentLanes(props: AgentLanesProps) {
  const { nodes, calls, turns, trips, marked, isDeciding, nowMs, laneMax = 150 } = props;
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box, { width: 560, height: 360 });
  const [at, setAt] = useState<string | null>(null);
  const model = useMemo(
    () => lanesModel({ nodes, calls, turns, trips, marked, isDeciding, nowMs, width, height, laneMax }),
    [nodes, calls, turns, trips, marked, isDeciding, nowMs, width, height, laneMax],
  );
  const order = useMemo(() => model.lanes.flatMap((lane) => lane.boxes), [model]);
  const focused = at === null ? null : (order.find(({ call }) => call.id === at) ?? null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = order.findIndex(({ call }) => call.id === at);
    const next = nextIndex(event.key, index, order);
    const target = order[next ?? -1];
    if (target !== undefined) setAt(target.call.id);
    else if (event.key === 'Enter' && focused !== null) props.onPickCall(focused.call.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const place = (event: { clientX: number; clientY: number; currentTarget: Element }): LaneBox | null => {
    const frame = event.currentTarget.getBoundingClientRect();
    const scale = frame.width === 0 ? 1 : width / frame.width;
    return boxAt(model, (event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
  };
  return (
    <div ref={box} className="min-h-0 min-w-0 flex-1 overflow-x-hidden overflow-y-auto" data-chart="calls over time">
      <svg
        width={width}
        height={model.height}
        role="application"
        tabIndex={0}
        data-scrolls="yes"
        aria-label={`${props.label} Arrow keys go from call to call, Enter opens one.`}
        onKeyDown={onKeyDown}
        onPointerMove={(event) => setAt(place(event)?.call.id ?? null)}
        onPointerLeave={() => setAt(null)}
        onClick={(event) => {
          const hit = place(event);
          if (hit !== null) props.onPickCall(hit.call.id);
        }}
        className="block -outline-offset-2"
      >
        <Grid model={model} width={width} timeOf={props.timeOf} />
        <Trips model={model} width={width} tripLabel={props.tripLabel} />
        <LaneShapes
          model={model}
          pickedNode={props.pickedNode}
          width={width}
          endLabel={props.endLabel}
          onPickNode={props.onPickNode}
        />
        <Ring
          box={props.pickedCall === null ? null : (order.find(({ call }) => call.id === props.pickedCall) ?? null)}
        />
        <Ring box={focused} />
        {focused === null ? null : <Named box={focused} width={width} text={props.nameOf(focused)} />}
      </svg>
      <p className="sr-only" aria-live="polite">
        {focused === null ? '' : props.nameOf(focused)}
      </p>
      {model.lanesLeftOut > 0 ? props.overflow : null}
      {model.height > height ? <StickyAxis model={model} width={width} timeOf={props.timeOf} /> : null}
    </div>
  );
}

/** Left and right go through the steps of a lane, up and down through a stack and on to the next lane. */
function nextIndex(key: string, index: number, order: readonly LaneBox[]): number | null {
  if (key === 'Home') return 0;
  if (key === 'End') return order.length - 1;
  const here = order[index];
  if (here === undefined) return ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp'].includes(key) ? 0 : null;
  if (key === 'ArrowUp') return Math.min(order.length - 1, index + 1);
  if (key === 'ArrowDown') return Math.max(0, index - 1);
  const apart = (box: LaneBox): boolean => box.call.step !== here.call.step || box.call.nodeId !== here.call.nodeId;
  if (key === 'ArrowRight') return order.findIndex((box, at) => at > index && apart(box));
  if (key === 'ArrowLeft') return order.findLastIndex((box, at) => at < index && apart(box));
  return null;
}

function Grid({ model, width, timeOf }: { model: LanesModel; width: number; timeOf: (atMs: number) => string }) {
  const foot = model.height - 20;
  return (
    <g>
      {model.ticks.map(({ x, atMs }, index) => (
        <g key={atMs}>
          <path d={`M${x} 14V${foot}`} stroke="var(--line)" />
          <Tick x={x} y={foot + 14} first={index === 0} width={width} text={timeOf(atMs)} />
        </g>
      ))}
    </g>
  );
}

function Tick({ x, y, first, width, text }: { x: number; y: number; first: boolean; width: number; text: string }) {
  return (
    <text
      x={x}
      y={y}
      fontSize="11"
      fill="var(--ink-3)"
      textAnchor={first ? 'start' : x > width - 24 ? 'end' : 'middle'}
    >
      {text}
    </text>
  );
}

/** Where lanes scroll, their axis stays in view. */
function StickyAxis({ model, width, timeOf }: { model: LanesModel; width: number; timeOf: (atMs: number) => string }) {
  return (
    <svg width={width} height={20} aria-hidden="true" className="sticky bottom-0 block border-t bg-page">
      {model.ticks.map(({ x, atMs }, index) => (
        <Tick key={atMs} x={x} y={14} first={index === 0} width={width} text={timeOf(atMs)} />
      ))}
    </svg>
  );
}

/** Characters of an end that have room under the name of a lane. */
const UNDER_NAME_MAX = 15;

interface LaneShapesProps {
  readonly model: LanesModel;
  readonly pickedNode: string | null;
  readonly width: number;
  readonly endLabel: (lane: Lane) => string;
  readonly onPickNode: (id: string) => void;
}

function LaneShapes({ model, pickedNode, width, endLabel, onPickNode }: LaneShapesProps) {
  return (
    <>
      {model.lanes.map((lane) => {
        const y = lane.bottom - 9.5;
        const label = endLabel(lane);
        const fits = width - lane.toX - 8 > label.length * 5.8;
        return (
          <g key={lane.node.id}>
            <path d={`M0 ${lane.bottom}H${width}`} stroke="var(--line)" />
            <text
              x={0}
              y={lane.bottom - 14}
              fontSize="12"
              fontWeight={600}
              fill="var(--ink)"
              textDecoration={lane.node.id === pickedNode ? 'underline' : undefined}
              onClick={(event) => {
                event.stopPropagation();
                onPickNode(lane.node.id);
              }}
            >
              {tailOf(lane.node.id, 11)}
              <title>{lane.node.id.slice(0, 300)}</title>
            </text>
            <path d={`M${lane.fromX} ${y}H${lane.toX}`} stroke="var(--line-field)" />
            <path d={lane.turns} fill="var(--plain)" />
            <path d={lane.closing} fill="var(--surface-page)" stroke="var(--plain)" />
            {lane.waits.map(({ call, childId, x, width: wide, y: waitY, open }) => (
              <g key={call.id}>
                <rect
                  x={x}
                  y={waitY - 3}
                  width={wide}
                  height={6}
                  fill="none"
                  stroke="var(--plain)"
                  strokeDasharray={open ? '3 2' : undefined}
                />
                {wide > 96 ? (
                  <text x={x + 4} y={waitY - 7} fontSize="11" fill="var(--ink-3)">
                    waits for {tailOf(childId ?? 'an agent', 14)}
                  </text>
                ) : null}
              </g>
            ))}
            {looks.map((look) => (
              <Boxes key={look} look={look} boxes={lane.boxes.filter((box) => box.look === look)} />
            ))}
            {label === '' || (!fits && label.length > UNDER_NAME_MAX) ? null : (
              <text
                x={fits ? lane.toX + 6 : 0}
                y={fits ? lane.bottom - 6 : lane.bottom - 2}
                fontSize={fits ? 11 : 10}
                fill={fits ? 'var(--ink)' : 'var(--ink-3)'}
                paintOrder="stroke"
                stroke="var(--surface-page)"
                strokeWidth={3}
              >
                {label}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

function Boxes({ look, boxes }: { look: Look; boxes: readonly LaneBox[] }) {
  if (boxes.length === 0) return null;
  switch (look) {
    case 'done':
      return <path d={pathOf(boxes, 0)} fill="var(--plain)" />;
    case 'marked':
      return <path d={pathOf(boxes, 0)} fill="var(--loops)" />;
    case 'cached':
      return <path d={pathOf(boxes, 0)} fill="var(--plain)" opacity={0.45} />;
    case 'refused':
      return <path d={pathOf(boxes, 0.75)} fill="none" stroke="var(--budget)" strokeWidth={1.5} />;
    case 'asking':
      return <path className="pulse" d={pathOf(boxes, 0)} fill="var(--budget)" />;
    case 'running':
      return <path className="pulse" d={pathOf(boxes, 0.5)} fill="none" stroke="var(--plain)" strokeDasharray="3 2" />;
    case 'failed':
      return <path d={`${pathOf(boxes, 0.75)}${strikes(boxes)}`} fill="none" stroke="var(--plain)" strokeWidth={1.5} />;
  }
}

const strikes = (boxes: readonly LaneBox[]): string =>
  boxes.map(({ x, y, width, height }) => `M${x} ${y + height}L${x + width} ${y}`).join('');

interface TripsProps {
  readonly model: LanesModel;
  readonly width: number;
  readonly tripLabel: (trip: LaneTrip) => string;
}

const TRIPS_DRAWN_MAX = 200;

function Trips({ model, width, tripLabel }: TripsProps) {
  const foot = model.height - 20;
  return (
    <>
      {model.trips.slice(-TRIPS_DRAWN_MAX).map(({ x, lane, deciding, trip }, index) => {
        const stopped = deciding && trip.stage === 'stop';
        return (
          <g key={`${trip.nodeId} ${trip.guard} ${trip.atMs} ${index}`}>
            {stopped ? <path d={`M${x} ${lane.bottom}V${foot}`} stroke="var(--loops)" strokeDasharray="2 4" /> : null}
            <rect
              x={x - (stopped ? 1.5 : 0.75)}
              y={lane.top}
              width={stopped ? 3 : 1.5}
              height={lane.bottom - lane.top}
              fill="var(--loops)"
              opacity={deciding ? 1 : 0.4}
            />
          </g>
        );
      })}
      {labelledTrips(model, tripLabel, width).map(({ trip: { x, lane }, text, toLeft }) => (
        <text
          key={`${lane.node.id} ${x} ${text}`}
          x={toLeft ? x - 6 : x + 6}
          y={lane.top - 4 + (lane.top > 20 ? 14 : 0)}
          fontSize="12"
          fontWeight={600}
          fill="var(--ink)"
          textAnchor={toLeft ? 'end' : 'start'}
          paintOrder="stroke"
          stroke="var(--surface-page)"
          strokeWidth={3}
        >
          {text}
        </text>
      ))}
    </>
  );
}

function Ring({ box }: { box: LaneBox | null }) {
  if (box === null) return null;
  return (
    <rect
      x={box.x - 2}
      y={box.y - 2}
      width={box.width + 4}
      height={box.height + 4}
      fill="none"
      stroke="var(--ink)"
      strokeWidth={1.5}
      pointerEvents="none"
    />
  );
}

/** The name of the call under the pointer, on a strip that stays within the chart. */
function Named({ box, width, text }: { box: LaneBox; width: number; text: string }) {
  const id = useId();
  const wide = Math.min(width - NAME_WIDTH, text.length * 6 + 16);
  const x = Math.max(0, Math.min(width - wide, box.x + box.width / 2 - wide / 2));
  const y = box.y > 28 ? box.y - 26 : box.y + box.height + 6;
  return (
    <g pointerEvents="none" data-hover="yes">
      <clipPath id={id}>
        <rect x={x} y={y} width={wide} height={20} />
      </clipPath>
      <rect x={x} y={y} width={wide} height={20} rx={2} fill="var(--surface-page)" stroke="var(--line-field)" />
      <text x={x + 8} y={y + 14} fontSize="11" fill="var(--ink)" clipPath={`url(#${id})`}>
        {text}
      </text>
    </g>
  );
}

/** Names of agents begin alike: the end tells them apart. */
function tailOf(name: string, charactersMax: number): string {
  const characters = [...name.slice(-charactersMax * 2)];
  return name.length <= charactersMax || characters.length <= charactersMax
    ? characters.join('')
    : `…${characters.slice(1 - charactersMax).join('')}`;
}

/**
 * Tokens over time, one lane a variant: thinking below, what leaked into the answer hatched above it, the answer on top, the cap
 * as a line. A lane that ended without an answer carries a flag. One picture, so that it can be saved as one.
 */
import { useMemo, useRef } from 'react';
import { count } from '../format/numbers.ts';
import { barsOf, burnSummary, laneTop, tickText, timeScale, totalOf } from './burn-model.ts';
import type { BurnBar, BurnLane, TimeScale } from './burn-model.ts';
import { useSize } from './use-size.ts';

export interface BurnChartProps {
  readonly lanes: readonly BurnLane[];
  readonly laneHeight: number;
  /** Written into the picture, so that a copy of it says so too. */
  readonly simulated: boolean;
  /** The names of the lanes stand in the picture; else only in a copy of it. */
  readonly named?: boolean;
}

export const AXIS_HEIGHT = 24;
const LEFT = 16;
const RIGHT = 88;
const BAR_WIDTH = 11;
const SIZE_FIRST = { width: 720, height: 400 };

export function BurnChart({ lanes, laneHeight, simulated, named = false }: BurnChartProps) {
  const box = useRef<HTMLElement>(null);
  const { width } = useSize(box, SIZE_FIRST);
  const scale = useMemo(() => timeScale(lanes), [lanes]);
  const height = lanes.length * laneHeight + AXIS_HEIGHT;
  const plot = { left: LEFT, right: Math.max(LEFT + 80, width - RIGHT) };
  const across = (atMs: number): number =>
    plot.left + (Math.min(atMs, scale.spanMs) / scale.spanMs) * (plot.right - plot.left);
  return (
    <figure
      ref={box}
      aria-label={burnSummary(lanes)}
      className="h-full w-full min-w-0 overflow-hidden"
      data-chart="burn"
    >
      <svg width={width} height={height} role="presentation">
        <Hatches />
        {lanes.map((lane, index) => (
          <g key={lane.key} transform={`translate(0 ${index * laneHeight})`}>
            <LaneDrawing
              lane={lane}
              height={laneHeight}
              scale={scale}
              across={across}
              left={plot.left}
              right={plot.right}
              width={width}
              named={named}
            />
          </g>
        ))}
        <Axis
          scale={scale}
          across={across}
          top={lanes.length * laneHeight}
          right={plot.right}
          simulated={simulated}
          empty={lanes.every(({ endMs }) => endMs === 0)}
        />
      </svg>
    </figure>
  );
}

/** Patterns carry the colours of the theme, as everything else. */
function Hatches() {
  return (
    <defs>
      <pattern id="burn-leaked" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" fill="var(--hatch-gap)" />
        <rect width="2.5" height="6" fill="var(--thinking)" />
      </pattern>
    </defs>
  );
}

interface LaneDrawingProps {
  readonly lane: BurnLane;
  readonly height: number;
  readonly scale: TimeScale;
  readonly across: (atMs: number) => number;
  readonly left: number;
  readonly right: number;
  readonly width: number;
  readonly named: boolean;
}

function LaneDrawing({ lane, height, scale, across, left, right, width, named }: LaneDrawingProps) {
  const [top, base] = [28, height - 12];
  const tokens = laneTop(lane);
  const up = (value: number): number => base - (Math.min(value, tokens) / tokens) * (base - top);
  const stepMs = scale.spanMs / Math.max(1, Math.floor((right - left) / BAR_WIDTH));
  const bars = barsOf(lane.points, lane.endMs, stepMs);
  const endX = across(lane.endMs);
  const above = tokens < lane.capTokens;
  const capY = above ? top : up(lane.capTokens);
  const name = shortened(lane.model === null ? lane.name : `${lane.name} · ${lane.model}`);
  const nameX = lane.flagged && endX < left + 14 + name.length * NAME_WIDTH ? endX + 18 : left;
  return (
    <>
      <path d={`M0 ${height - 0.5}H${width}`} stroke="var(--line)" />
      {scale.ticksMs.map((atMs) => (
        <path key={atMs} d={`M${across(atMs)} ${top}V${base}`} stroke="var(--line)" />
      ))}
      {bars.map((bar) => (
        <Bar key={bar.fromMs} bar={bar} across={across} up={up} />
      ))}
      <path
        d={`M${left} ${capY}H${right}`}
        stroke={above ? 'var(--line)' : 'var(--ink)'}
        strokeDasharray={above ? '1 3' : '5 3'}
      />
      <text x={right + 8} y={capY + 4} fontSize={12} fill="var(--ink)">
        cap {count(lane.capTokens)}
      </text>
      {above ? (
        <text x={right + 8} y={top + 18} fontSize={11} fill="var(--ink-3)">
          drawn to {count(Math.round(tokens))}
        </text>
      ) : null}
      {lane.thinkingCapTokens === null || lane.thinkingCapTokens > tokens ? null : (
        <>
          <path
            d={`M${left} ${up(lane.thinkingCapTokens)}H${right}`}
            stroke="var(--thinking)"
            strokeWidth={1.5}
            strokeDasharray="2 3"
          />
          <text
            x={right + 8}
            y={Math.max(capY + (above ? 34 : 20), up(lane.thinkingCapTokens) + 4)}
            fontSize={11}
            fill="var(--ink-3)"
          >
            think to {count(lane.thinkingCapTokens)}
          </text>
        </>
      )}
      <path d={`M${left} ${base}H${right}`} stroke="var(--line-field)" />
      {lane.flagged ? (
        <>
          <path d={`M${endX} ${base}V10`} stroke="var(--ink)" strokeWidth={2} />
          <path d={`M${endX} 10l12 5l-12 5z`} fill="var(--ink)" />
        </>
      ) : null}
      <Words lane={lane} endX={endX} left={left} right={right} top={top} base={base} />
      <text
        x={named ? nameX : width - 8}
        y={16}
        fontSize={named ? 13 : 12}
        fontWeight={600}
        fill="var(--ink)"
        textAnchor={named ? 'start' : 'end'}
        style={named ? undefined : onlyInCopies}
      >
        {name}
      </text>
    </>
  );
}

/** A saved picture takes attributes, not styles: what is left out on screen then shows. */
const onlyInCopies = { display: 'none' } as const;
const NAME_CHARACTERS_MAX = 48;
const NAME_WIDTH = 7.4;
const shortened = (text: string): string =>
  text.length <= NAME_CHARACTERS_MAX ? text : `${text.slice(0, NAME_CHARACTERS_MAX)}…`;

/** Thinking at the bottom, then what leaked, then what is hidden, the answer on top. */
function Bar({ bar, across, up }: { bar: BurnBar; across: (atMs: number) => number; up: (tokens: number) => number }) {
  const { thinking, leaked, hidden } = bar.point;
  const x = across(bar.fromMs) + 0.5;
  const width = Math.max(1, across(bar.toMs) - across(bar.fromMs) - 1.5);
  const part = (from: number, to: number): { x: number; y: number; width: number; height: number } => ({
    x,
    y: up(to),
    width,
    height: Math.max(0, up(from) - up(to)),
  });
  const levels = [thinking, thinking + leaked, thinking + leaked + hidden, totalOf(bar.point)] as const;
  return (
    <>
      {levels[0] > 0 ? <rect {...part(0, levels[0])} fill="var(--thinking)" /> : null}
      {levels[1] > levels[0] ? (
        <rect {...part(levels[0], levels[1])} fill="url(#burn-leaked)" stroke="var(--thinking)" strokeWidth={1} />
      ) : null}
      {levels[2] > levels[1] ? (
        <rect
          {...part(levels[1], levels[2])}
          fill="none"
          stroke="var(--thinking)"
          strokeWidth={1}
          strokeDasharray="2 2"
        />
      ) : null}
      {levels[3] > levels[2] ? <rect {...part(levels[2], levels[3])} fill="var(--plain)" /> : null}
    </>
  );
}

/** Figures stay readable where bars pass behind them. */
const halo = { stroke: 'var(--surface-page)', strokeWidth: 4, paintOrder: 'stroke', strokeLinejoin: 'round' } as const;
const CHARACTER_WIDTH = 10.4;
const NOTE_WIDTH = 6.6;

interface WordsProps {
  readonly lane: BurnLane;
  readonly endX: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly base: number;
}

/** Beside the end where there is room, else above the bars at the left, where they are still low. */
function Words({ lane, endX, left, right, top, base }: WordsProps) {
  const lines = [
    ...lane.notes,
    ...(lane.cannotThink ? ['This model cannot think: there is no thinking to show.'] : []),
  ];
  const width = Math.max(lane.figure.length * CHARACTER_WIDTH, ...lines.map((line) => line.length * NOTE_WIDTH));
  const beside = lane.points.length === 0 ? left + 8 : endX + 16;
  // The cap stands beside the ceiling; below it the margin is free, unless thinking has a cap of its own.
  const fits = beside + width <= right + (lane.thinkingCapTokens === null ? RIGHT - 12 : 0);
  const x = fits ? beside : left + 8;
  const block = (lane.figure === '' ? 0 : 22) + lines.length * LINE_HEIGHT;
  const y = fits ? Math.max(top + 18, (top + base - block) / 2 + 18) : top + 22;
  const first = lane.figure === '' ? y : y + 21;
  return (
    <>
      {lane.figure === '' ? null : (
        <text x={x} y={y} fontSize={20} fontWeight={600} fill="var(--ink)" {...halo}>
          {lane.figure}
        </text>
      )}
      {lines.map((line, index) => (
        <text key={line} x={x} y={first + index * LINE_HEIGHT} fontSize={13} fill="var(--ink)" {...halo}>
          {line}
        </text>
      ))}
    </>
  );
}

const LINE_HEIGHT = 18;

interface AxisProps {
  readonly scale: TimeScale;
  readonly across: (atMs: number) => number;
  readonly top: number;
  readonly right: number;
  readonly simulated: boolean;
  /** Nothing has run: times would mean nothing. */
  readonly empty: boolean;
}

function Axis({ scale, across, top, right, simulated, empty }: AxisProps) {
  return (
    <>
      {(empty ? [] : scale.ticksMs).map((atMs) => (
        <text
          key={atMs}
          x={across(atMs)}
          y={top + 15}
          fontSize={11}
          fill="var(--ink-3)"
          textAnchor={atMs === 0 ? 'start' : across(atMs) > right - 16 ? 'end' : 'middle'}
        >
          {tickText(atMs, scale.spanMs)}
        </text>
      ))}
      {simulated ? (
        <text x={right + 80} y={top + 15} fontSize={11} fontWeight={700} fill="var(--ink-3)" textAnchor="end">
          SIMULATED
        </text>
      ) : null}
    </>
  );
}

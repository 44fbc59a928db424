/**
 * The picture of this product: tokens evaluated against tokens sent, both axes logarithmic. The diagonal is a server that
 * reads everything; where a line leaves it, text was lost. Nothing moves by itself.
 */
import { useMemo, useRef } from 'react';
import { ComposedChart, Scatter, XAxis, YAxis, usePlotArea, useXAxisScale, useYAxisScale } from 'recharts';
import { count, short } from '../format/numbers.ts';
import { Point, Refusal } from './cliff-marks.tsx';
import type { Place } from './cliff-marks.tsx';
import type { CliffLine, CliffModel } from './cliff-model.ts';
import { useSize } from './use-size.ts';

export interface CliffChartProps {
  readonly model: CliffModel;
  readonly picked: string | null;
  readonly onPick?: (pointKey: string) => void;
  /** Written into the picture, so that a copy of it says so too. */
  readonly simulated: boolean;
}

export function CliffChart({ model, picked, onPick, simulated }: CliffChartProps) {
  const domain = useMemo<[number, number]>(() => [model.from, model.to], [model.from, model.to]);
  const box = useRef<HTMLElement>(null);
  const size = useSize(box, SIZE_FIRST);
  return (
    <figure
      ref={box}
      aria-label={model.summary}
      className="h-full min-h-0 w-full min-w-0 overflow-hidden"
      data-chart="cliff"
    >
      <ComposedChart
        width={size.width}
        height={size.height}
        data={noData}
        margin={{ top: 22, right: 16, bottom: 14, left: 0 }}
        accessibilityLayer={false}
      >
        <XAxis
          type="number"
          dataKey="sent"
          scale="log"
          domain={domain}
          allowDataOverflow
          ticks={[]}
          height={24}
          {...axisLook}
        />
        <YAxis
          type="number"
          dataKey="evaluated"
          scale="log"
          domain={domain}
          allowDataOverflow
          ticks={[]}
          width={56}
          {...axisLook}
        />
        {/* The axes need one series; what is drawn stands in the layer, which places itself by their scales. */}
        <Scatter data={noData} isAnimationActive={false} />
        <CliffLayer model={model} picked={picked} onPick={onPick} simulated={simulated} />
      </ComposedChart>
    </figure>
  );
}

const SIZE_FIRST = { width: 464, height: 280 };
const noData: { sent: number; evaluated: number }[] = [];
const axisLook = { stroke: 'var(--line-field)', tickLine: false, tick: false } as const;
const tickWord = (value: number): string => (value >= 1_000_000 ? short(value) : count(value));
const CHARACTER_WIDTH = 7;
/** Figures stay readable where a line passes behind them. */
const halo = { stroke: 'var(--surface-page)', strokeWidth: 3, paintOrder: 'stroke', strokeLinejoin: 'round' } as const;

interface LayerProps {
  readonly model: CliffModel;
  readonly picked: string | null;
  readonly onPick: ((pointKey: string) => void) | undefined;
  readonly simulated: boolean;
}

function CliffLayer({ model, picked, onPick, simulated }: LayerProps) {
  const across = useXAxisScale();
  const up = useYAxisScale();
  const area = usePlotArea();
  if (across === undefined || up === undefined || area === undefined || area.width <= 0) return null;
  const place: Place = (sent, evaluated) => [across(sent) ?? area.x, up(evaluated) ?? area.y];
  const [right, bottom] = [area.x + area.width, area.y + area.height];
  const points = model.lines.flatMap((line) => line.points.map((point) => ({ point, line })));
  const reachable = Math.max(
    0,
    points.findIndex(({ point }) => point.key === picked),
  );
  const pickedLine = model.lines.find(({ points }) => points.some(({ key }) => key === picked));
  const [startX, startY] = place(model.from, model.from);
  const [endX, endY] = place(model.to, model.to);
  const slope = (Math.atan2(endY - startY, endX - startX) * 180) / Math.PI;
  return (
    <g>
      <Ticks ticks={model.ticks} place={place} left={area.x} right={right} bottom={bottom} top={area.y} />
      <path d={`M${startX} ${startY}L${endX} ${endY}`} stroke="var(--surface-pick)" strokeWidth={12} />
      <path d={`M${startX} ${startY}L${endX} ${endY}`} stroke="var(--ink-3)" strokeDasharray="2 3" />
      <WindowLines
        windows={model.windows}
        across={(tokens) => across(tokens) ?? 0}
        top={area.y}
        bottom={bottom}
        left={area.x}
      />
      {model.lines.map((line) => (
        <path
          key={line.key}
          d={pathWords(line.path, place, model.from)}
          fill="none"
          stroke="var(--context)"
          strokeWidth={line === pickedLine ? 4 : 2.5}
          strokeLinejoin="round"
        />
      ))}
      <text
        transform={`translate(${startX + (endX - startX) * 0.12},${startY + (endY - startY) * 0.12 - 10}) rotate(${slope})`}
        fill="var(--ink-3)"
        fontSize={12}
      >
        nothing lost
      </text>
      <FallLabels lines={model.lines} place={place} right={right} bottom={bottom} />
      {model.refusals.map((refusal) => (
        <Refusal
          key={refusal.key}
          refusal={refusal}
          x={place(refusal.sent, model.from)[0]}
          bottom={bottom}
          picked={refusal.key === picked}
          onPick={onPick}
        />
      ))}
      {points.map(({ point, line }, index) => (
        <Point
          key={point.key}
          point={point}
          name={line.name}
          place={place}
          picked={point.key === picked}
          reachable={index === reachable}
          {...(onPick === undefined
            ? {}
            : {
                onPick,
                onStep: (step: 1 | -1) => {
                  const next = points[index + step]?.point;
                  if (next !== undefined) onPick(next.key);
                },
              })}
        />
      ))}
      <text x={right} y={bottom + 32} textAnchor="end" fill="var(--ink-3)" fontSize={11}>
        tokens sent
      </text>
      <text x={4} y={area.y - 9} fill="var(--ink-3)" fontSize={11}>
        tokens evaluated
      </text>
      {simulated ? (
        <text x={area.x + 10} y={area.y + 18} fill="var(--ink-3)" fontSize={12} fontWeight={700} letterSpacing={1}>
          SIMULATED
        </text>
      ) : null}
    </g>
  );
}

/** Labels of both axes; one that would run into its neighbour is left out. */
function Ticks({
  ticks,
  place,
  left,
  right,
  top,
  bottom,
}: {
  ticks: readonly number[];
  place: Place;
  left: number;
  right: number;
  top: number;
  bottom: number;
}) {
  let end = left - 20;
  let above = bottom + 12;
  return ticks.map((tick) => {
    const [x, y] = place(tick, tick);
    const text = tickWord(tick);
    const half = (text.length * CHARACTER_WIDTH) / 2;
    const across = x - half > end + 6 && x + half <= right + 12;
    if (across) end = x + half;
    const up = above - y >= 14 && y >= top - 4;
    if (up) above = y;
    return (
      <g key={tick} fill="var(--ink-3)" fontSize={12}>
        <path d={`M${x} ${top}V${bottom}M${left} ${y}H${right}`} stroke="var(--line)" />
        {across ? (
          <text x={x} y={bottom + 16} textAnchor="middle">
            {text}
          </text>
        ) : null}
        {up ? (
          <text x={left - 6} y={y + 4} textAnchor="end">
            {text}
          </text>
        ) : null}
      </g>
    );
  });
}

/** Dashed lines at the windows, their figures above; one that would run into its neighbour goes below the edge. */
function WindowLines({
  windows,
  across,
  top,
  bottom,
  left,
}: {
  windows: readonly number[];
  across: (tokens: number) => number;
  top: number;
  bottom: number;
  left: number;
}) {
  // The name of the upright axis stands at the left end of the upper row.
  const ends = [left + 44, -Infinity];
  return windows.map((window) => {
    const x = across(window);
    const text = count(window);
    const half = (text.length * CHARACTER_WIDTH) / 2;
    const free = ends.findIndex((end) => end < x - half - 4);
    const row = free < 0 ? 1 : free;
    ends[row] = x + half;
    return (
      <g key={window}>
        <path d={`M${x} ${top}V${bottom}`} stroke="var(--ink-3)" strokeDasharray="5 3" />
        <text
          x={Math.max(left + half, x)}
          y={top - 6 + row * 20}
          textAnchor="middle"
          fill="var(--ink)"
          fontSize={12}
          {...halo}
        >
          {text}
        </text>
      </g>
    );
  });
}

/** The figure each line falls to, below its flat part; the deepest one is large and says what it means. */
function FallLabels({
  lines,
  place,
  right,
  bottom,
}: {
  lines: readonly CliffLine[];
  place: Place;
  right: number;
  bottom: number;
}) {
  const falling = lines
    .filter((line) => line.fallsTo !== null && line.window !== null)
    .sort((a, b) => (a.fallsTo ?? 0) - (b.fallsTo ?? 0));
  const taken: [number, number][] = [];
  return falling.map((line, index) => {
    const window = line.window ?? 1;
    const fallsTo = line.fallsTo ?? 1;
    const [x, y] = place(window, fallsTo);
    if (
      x > right - 40 ||
      y > bottom - 16 ||
      taken.some(([otherX, otherY]) => Math.abs(otherX - x) < 56 && Math.abs(otherY - y) < 20)
    )
      return null;
    taken.push([x, y]);
    const large = index === 0 && y < bottom - 60 && right - x > 110;
    return (
      <g key={line.key}>
        <text
          x={x + 10}
          y={y + (large ? 24 : 18)}
          fill="var(--ink)"
          fontSize={large ? 20 : 12}
          fontWeight={600}
          {...halo}
        >
          {count(fallsTo)}
        </text>
        {large ? (
          <>
            <text x={x + 10} y={y + 40} fill="var(--ink-3)" fontSize={11} {...halo}>
              for every text
            </text>
            <text x={x + 10} y={y + 54} fill="var(--ink-3)" fontSize={11} {...halo}>
              from {count(window)} up
            </text>
          </>
        ) : null}
      </g>
    );
  });
}

/** From the lower end of the diagonal, where a text so short that it fits would stand. */
function pathWords(path: CliffLine['path'], place: Place, from: number): string {
  const [first] = path;
  if (first === undefined) return '';
  const start = first[0] === first[1] || Math.abs(first[0] - first[1]) / first[0] < 0.05 ? [[from, from] as const] : [];
  return [...start, ...path]
    .map(([sent, evaluated], index) => `${index === 0 ? 'M' : 'L'}${place(sent, evaluated).join(' ')}`)
    .join('');
}

/**
 * Tokens sent so far, turn by turn: solid where every turn sends the history again, dashed where each token would be sent once.
 * The figure at the end of a line is its sum. Nothing was measured; the numbers are those of the calculator.
 */
import { useMemo, useRef } from 'react';
import { ComposedChart, Scatter, XAxis, YAxis, usePlotArea, useXAxisScale, useYAxisScale } from 'recharts';
import { count } from '../format/numbers.ts';
import { largeWord, spreadLabels } from './resend-model.ts';
import type { ResendLine, ResendModel } from './resend-model.ts';
import { useSize } from './use-size.ts';

export function ResendChart({ model }: { readonly model: ResendModel }) {
  const across = useMemo<[number, number]>(() => [0, model.turns], [model.turns]);
  const up = useMemo<[number, number]>(() => [0, model.tokensMax], [model.tokensMax]);
  const box = useRef<HTMLElement>(null);
  const size = useSize(box, SIZE_FIRST);
  return (
    <figure ref={box} aria-label={model.summary} className="h-full w-full min-w-0 overflow-hidden" data-chart="resend">
      <ComposedChart
        width={size.width}
        height={size.height}
        data={noData}
        margin={{ top: 24, right: LABEL_WIDTH, bottom: 14, left: 0 }}
        accessibilityLayer={false}
      >
        <XAxis type="number" dataKey="turn" domain={across} allowDataOverflow ticks={[]} height={24} {...axisLook} />
        <YAxis type="number" dataKey="tokens" domain={up} allowDataOverflow ticks={[]} width={52} {...axisLook} />
        <Scatter data={noData} isAnimationActive={false} />
        <Layer model={model} />
      </ComposedChart>
    </figure>
  );
}

const SIZE_FIRST = { width: 640, height: 300 };
const LABEL_WIDTH = 148;
const LABEL_GAP = 30;
const noData: { turn: number; tokens: number }[] = [];
const axisLook = { stroke: 'var(--line-field)', tickLine: false, tick: false } as const;
const lineLook = (line: ResendLine): { stroke: string; strokeWidth: number; strokeDasharray?: string } =>
  line.kind === 'resent'
    ? { stroke: 'var(--budget)', strokeWidth: line.most ? 3 : 2 }
    : { stroke: 'var(--ink-3)', strokeWidth: 1.5, strokeDasharray: '4 3' };

function Layer({ model }: { model: ResendModel }) {
  const across = useXAxisScale();
  const up = useYAxisScale();
  const area = usePlotArea();
  if (across === undefined || up === undefined || area === undefined || area.width <= 0) return null;
  const [right, bottom] = [area.x + area.width, area.y + area.height];
  const x = (turn: number): number => across(turn) ?? area.x;
  const y = (tokens: number): number => up(tokens) ?? bottom;
  const labels = spreadLabels(
    model.lines.map((line) => y(line.end)),
    LABEL_GAP,
    bottom - 8,
  );
  return (
    <g>
      <g fill="var(--ink-3)" fontSize={12}>
        {model.tokenTicks.map((tick) => (
          <g key={tick}>
            <path d={`M${area.x} ${y(tick)}H${right}`} stroke="var(--line)" />
            <text x={area.x - 6} y={y(tick) + 4} textAnchor="end">
              {largeWord(tick)}
            </text>
          </g>
        ))}
        {model.turnTicks.map((tick) => (
          <text key={tick} x={x(tick)} y={bottom + 16} textAnchor="middle">
            {count(tick)}
          </text>
        ))}
      </g>
      <text x={right} y={bottom + 32} textAnchor="end" fill="var(--ink-3)" fontSize={11}>
        turns
      </text>
      <text x={4} y={area.y - 12} fill="var(--ink-3)" fontSize={11}>
        tokens sent so far
      </text>
      {model.lines.map((line, index) => (
        <g key={line.key}>
          <path
            d={line.points.map(([turn, tokens], at) => `${at === 0 ? 'M' : 'L'}${x(turn)} ${y(tokens)}`).join('')}
            fill="none"
            strokeLinejoin="round"
            {...lineLook(line)}
          />
          <circle
            cx={right}
            cy={y(line.end)}
            r={line.kind === 'resent' ? 3 : 2}
            fill={line.kind === 'resent' ? 'var(--budget)' : 'var(--ink-3)'}
          />
          <path
            d={`M${right + 5} ${y(line.end)}L${right + 12} ${(labels[index] ?? 0) - 2}`}
            fill="none"
            stroke="var(--line-field)"
          />
          <text x={right + 16} y={(labels[index] ?? 0) + 2} fill="var(--ink)" fontSize={12} fontWeight={600}>
            {count(line.end)}
          </text>
          <text x={right + 16} y={(labels[index] ?? 0) + 15} fill="var(--ink-3)" fontSize={11}>
            {`${largeWord(line.size)} a turn, ${line.kind === 'resent' ? 're-sent' : 'sent once'}`}
          </text>
        </g>
      ))}
    </g>
  );
}

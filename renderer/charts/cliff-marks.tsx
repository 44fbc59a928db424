/** The marks of the cliff chart: one a prompt, to be pressed. */
import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { count } from '../format/numbers.ts';
import type { CliffPoint, CliffRefusal } from './cliff-model.ts';

/** Where tokens sent and evaluated stand, in pixels. */
export type Place = (sent: number, evaluated: number) => readonly [number, number];

export interface RefusalProps {
  readonly refusal: CliffRefusal;
  readonly x: number;
  readonly bottom: number;
  readonly picked: boolean;
  readonly onPick: ((pointKey: string) => void) | undefined;
}

/** Filled, with a bar: stopped. It stands on the axis, because nothing was evaluated. */
export function Refusal({ refusal, x, bottom, picked, onPick }: RefusalProps) {
  const label = `${count(refusal.sent)} tokens refused${refusal.window === null ? '' : ` at ${count(refusal.window)}`}`;
  return (
    <g aria-label={label} data-point={refusal.key} onClick={() => onPick?.(refusal.key)}>
      <title>{label}</title>
      <rect x={x - 11} y={bottom - 18} width={22} height={22} fill="transparent" />
      <rect x={x - 4} y={bottom - 10} width={8} height={10} fill="var(--context)" />
      <rect x={x - 8} y={bottom - 2} width={16} height={4} fill={picked ? 'var(--ink)' : 'var(--context)'} />
    </g>
  );
}

export interface PointProps {
  readonly point: CliffPoint;
  /** Of its line. */
  readonly name: string;
  readonly place: Place;
  readonly picked: boolean;
  /** One point of the chart is reached with the tab key, the others from it with the arrow keys. */
  readonly reachable: boolean;
  readonly onPick?: (pointKey: string) => void;
  readonly onStep?: (step: 1 | -1) => void;
}

export function Point({ point, name, place, picked, reachable, onPick, onStep }: PointProps) {
  const element = useRef<SVGGElement>(null);
  useEffect(() => {
    // The arrow keys moved on: the focus goes along, so that they go on from here.
    if (picked && document.activeElement?.matches('[data-point]') === true) element.current?.focus();
  }, [picked]);
  const [x, y] = place(point.sent, point.evaluated);
  const label = `${name}: ${point.sentLow === point.sentHigh ? '' : 'about '}${count(point.sent)} sent, ${count(point.evaluated)} evaluated`;
  const pick = (): void => onPick?.(point.key);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ' ') pick();
    else if (event.key === 'ArrowRight') onStep?.(1);
    else if (event.key === 'ArrowLeft') onStep?.(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <g
      ref={element}
      {...(onPick === undefined
        ? {}
        : { role: 'button', tabIndex: reachable ? 0 : -1, 'aria-pressed': picked, onClick: pick, onKeyDown })}
      aria-label={label}
      data-point={point.key}
    >
      <title>{label}</title>
      {point.sentLow === point.sentHigh ? null : (
        <path
          d={`M${place(point.sentLow, point.evaluated)[0]} ${y}H${place(point.sentHigh, point.evaluated)[0]}`}
          stroke="var(--ink-3)"
          strokeWidth={1.5}
        />
      )}
      {/* A larger target than the dot. */}
      <circle cx={x} cy={y} r={11} fill="transparent" />
      <circle
        cx={x}
        cy={y}
        r={picked ? 6 : 4}
        fill="var(--surface-page)"
        stroke={picked ? 'var(--ink)' : 'var(--context)'}
        strokeWidth={picked ? 2.5 : 2}
      />
    </g>
  );
}

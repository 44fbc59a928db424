/** The axes of a run as choices: which values there are, what they are called, what stands across and down. Pure. */
import type { ContextCellPlan } from '../../../shared/contract/experiments.ts';
import { count, short } from '../../format/numbers.ts';
import { sizeKey, windowOf } from './trials.ts';
import type { Trial } from './trials.ts';

export const axisNames = ['size', 'window', 'depth', 'model', 'route', 'policy'] as const;
export type AxisName = (typeof axisNames)[number];

export const axisWords: Readonly<Record<AxisName, string>> = {
  size: 'size',
  window: 'window',
  depth: 'needle',
  model: 'model',
  route: 'route',
  policy: 'policy',
};

export interface AxisValue {
  readonly key: string;
  readonly text: string;
}

/** What stands down and across, and the value of every other axis. */
export interface MapView {
  readonly down: AxisName;
  readonly across: AxisName;
  readonly fixed: Readonly<Partial<Record<AxisName, string>>>;
}

/** A wish of the person; what it leaves open, or what no longer exists, is filled in from the run. */
export interface MapWish {
  readonly down?: AxisName;
  readonly across?: AxisName;
  readonly fixed?: MapView['fixed'];
}

export type AxisValues = Readonly<Record<AxisName, readonly AxisValue[]>>;

export function axisValues(trials: readonly Trial[]): AxisValues {
  const values = Object.fromEntries(axisNames.map((name) => [name, new Map<string, AxisValue & { rank: number }>()]));
  for (const { plan } of trials)
    for (const name of axisNames) {
      const key = valueKey(plan, name);
      const known = values[name];
      if (known !== undefined && !known.has(key))
        known.set(key, { key, text: valueText(plan, name), rank: valueRank(plan, name) ?? known.size });
    }
  const sorted = (name: AxisName): readonly AxisValue[] =>
    [...(values[name]?.values() ?? [])].sort((a, b) => a.rank - b.rank).map(({ key, text }) => ({ key, text }));
  return {
    size: sorted('size'),
    window: sorted('window'),
    depth: sorted('depth'),
    model: sorted('model'),
    route: sorted('route'),
    policy: sorted('policy'),
  };
}

/** Size down and window across, unless they do not vary while something else does. */
export function mapViewOf(values: AxisValues, wish: MapWish): MapView {
  const varying = axisNames.filter((name) => values[name].length > 1);
  const down = wish.down ?? (varying.includes('size') ? 'size' : (varying.find((name) => name !== 'window') ?? 'size'));
  const free = varying.filter((name) => name !== down);
  const fallback: AxisName = down === 'window' ? 'size' : 'window';
  const across =
    wish.across !== undefined && wish.across !== down
      ? wish.across
      : free.includes('window')
        ? 'window'
        : (free[0] ?? fallback);
  const fixed: Partial<Record<AxisName, string>> = {};
  for (const name of axisNames) {
    if (name === down || name === across) continue;
    const wished = wish.fixed?.[name];
    const value = values[name].find((candidate) => candidate.key === wished) ?? values[name][0];
    if (value !== undefined) fixed[name] = value.key;
  }
  return { down, across, fixed };
}

/** The axes that neither stand in the map nor have one value only: each needs a menu. */
export function menuAxes(values: AxisValues, view: MapView): readonly AxisName[] {
  return axisNames.filter((name) => name !== view.down && name !== view.across && values[name].length > 1);
}

export function inView(trial: Trial, view: MapView): boolean {
  return axisNames.every((name) => view.fixed[name] === undefined || valueKey(trial.plan, name) === view.fixed[name]);
}

export function valueKey(plan: ContextCellPlan, name: AxisName): string {
  switch (name) {
    case 'size':
      return sizeKey(plan.size);
    case 'window':
      return plan.numCtx === null ? 'default' : String(plan.numCtx);
    case 'depth':
      return plan.depths.join('+');
    case 'model':
      return plan.model;
    case 'route':
      return plan.route;
    case 'policy':
      return plan.policy;
  }
}

export function valueText(plan: ContextCellPlan, name: AxisName): string {
  switch (name) {
    case 'size':
      return sizeText(plan);
    case 'window':
      return plan.numCtx === null ? 'default' : count(plan.numCtx);
    case 'depth':
      return depthsText(plan.depths);
    default:
      return valueKey(plan, name);
  }
}

/** 40k, or 8k tok where the size was asked in tokens. */
export function sizeText({ size }: Pick<ContextCellPlan, 'size'>): string {
  return typeof size === 'number' ? short(size) : `${short(size.tokens)} tok`;
}

export function depthsText(depths: readonly number[]): string {
  if (depths.length < 3) return depths.map((depth) => `${depth} %`).join(' and ');
  return `${depths
    .slice(0, -1)
    .map((depth) => `${depth} %`)
    .join(', ')} and ${depths.at(-1) ?? 0} %`;
}

/** `120k at 4,096`, the name of a trial in the pane and in sentences. */
export function trialName(trial: Trial): string {
  const window = windowOf(trial.shown.cell);
  const at = trial.plan.numCtx === null && window === null ? 'server default' : count(window);
  return `${sizeText(trial.plan)} at ${at}`;
}

function valueRank(plan: ContextCellPlan, name: AxisName): number | null {
  switch (name) {
    case 'size':
      return typeof plan.size === 'number' ? plan.size : plan.size.tokens * 4;
    case 'window':
      return plan.numCtx ?? 0;
    case 'depth':
      return plan.depths.length * 1_000 + (plan.depths[0] ?? 0);
    default:
      return null;
  }
}

/** The two pictures side by side: the heat map with its menus, and the cliff. */
import { useMemo } from 'react';
import { CliffChart } from '../../charts/cliff-chart.tsx';
import { LINES_MAX, cliffModel } from '../../charts/cliff-model.ts';
import type { CliffPoint, CliffRefusal, CliffSeries } from '../../charts/cliff-model.ts';
import { Choice } from '../../components/field.tsx';
import { count } from '../../format/numbers.ts';
import { axisNames, axisWords, inView, mapViewOf, menuAxes, valueText } from './axes.ts';
import type { AxisName, AxisValues, MapView, MapWish } from './axes.ts';
import { HeatLegend, HeatMap } from './heat-map.tsx';
import { heatModel } from './heat-model.ts';
import { windowOf } from './trials.ts';
import type { Trial } from './trials.ts';

export interface MapAndChartProps {
  readonly trials: readonly Trial[];
  readonly values: AxisValues;
  readonly wish: MapWish;
  readonly onWish: (wish: MapWish) => void;
  readonly simulated: boolean;
  readonly picked: string | null;
  readonly onPick: (trialKey: string) => void;
}

export function MapAndChart({ trials, values, wish, onWish, simulated, picked, onPick }: MapAndChartProps) {
  const view = useMemo(() => mapViewOf(values, wish), [values, wish]);
  const heat = useMemo(() => heatModel(trials, values, view), [trials, values, view]);
  const cliff = useMemo(() => cliffModel(cliffSeries(trials, view), windowsAsked(trials)), [trials, view]);
  const varying = axisNames.filter((name) => values[name].length > 1);
  return (
    <div className="@container flex-none border-b">
      <div className="grid h-[clamp(300px,41vh,560px)] grid-cols-[minmax(0,10fr)_minmax(0,11fr)] @min-[1000px]:grid-cols-[minmax(0,4fr)_minmax(0,6fr)]">
        <section aria-label="Heat map" className="@container flex min-h-0 min-w-0 flex-col pt-2 pr-4 pb-3 pl-6">
          <div className="flex min-h-6 min-w-0 items-baseline gap-2">
            <h2 className="flex-none font-semibold text-ink">Evaluated tokens</h2>
            {varying.length > 2 ? null : (
              <span className="lab truncate">
                {axisWords[view.down]} down, {axisWords[view.across]} across
              </span>
            )}
            {simulated ? <span className="lab ml-auto font-bold tracking-wider">SIMULATED</span> : null}
          </div>
          {varying.length > 2 ? (
            <AxisMenus values={values} view={view} varying={varying} wish={wish} onWish={onWish} />
          ) : null}
          <div className="-m-1 min-h-0 flex-1 overflow-auto p-1">
            <HeatMap model={heat} picked={picked} onPick={onPick} />
          </div>
          <HeatLegend model={heat} />
        </section>
        <section aria-label="Cliff" className="flex min-h-0 min-w-0 flex-col border-l px-4 pt-2 pb-1">
          <div className="flex min-h-6 min-w-0 items-baseline gap-2">
            <h2 className="flex-none font-semibold text-ink">Tokens evaluated</h2>
            <span className="lab truncate">up, against tokens sent, across; both log</span>
            {cliff.pointsDrawn < cliff.pointsAll ? (
              <span className="lab ml-auto flex-none">
                {count(cliff.pointsDrawn)} of {count(cliff.pointsAll)} points
              </span>
            ) : null}
          </div>
          <div className="min-h-0 flex-1">
            <CliffChart model={cliff} picked={picked} onPick={onPick} simulated={simulated} />
          </div>
        </section>
      </div>
    </div>
  );
}

/** They stand in the picture from the start, so that it does not jump when a window first runs. */
function windowsAsked(trials: readonly Trial[]): readonly number[] {
  return [...new Set(trials.flatMap(({ plan }) => (plan.numCtx === null ? [] : [plan.numCtx])))].slice(0, LINES_MAX);
}

/**
 * One line a window; other axes that stand in the map make lines of their own, those behind a menu are fixed. The size is
 * what the chart runs along, so all sizes are in it whatever the map shows.
 */
export function cliffSeries(trials: readonly Trial[], view: MapView): readonly CliffSeries[] {
  const series = new Map<string, { key: string; name: string; points: CliffPoint[]; refusals: CliffRefusal[] }>();
  const { size: _size, ...fixed } = view.fixed;
  const allSizes = { ...view, fixed };
  const split = axisNames.filter((name) => name !== 'size' && name !== 'depth');
  for (const trial of trials) {
    if (!inView(trial, allSizes)) continue;
    const [point, refusal] = [pointOf(trial), refusalOf(trial)];
    if (point === null && refusal === null) continue;
    const key = split.map((name) => valueText(trial.plan, name)).join('\u241f');
    const known = series.get(key) ?? { key, name: nameOf(trial, view), points: [], refusals: [] };
    series.set(key, known);
    if (point !== null) known.points.push(point);
    if (refusal !== null) known.refusals.push(refusal);
  }
  return [...series.values()];
}

function nameOf(trial: Trial, view: MapView): string {
  const other = [view.down, view.across].filter((name) => name !== 'size' && name !== 'window' && name !== 'depth');
  return [`window ${valueText(trial.plan, 'window')}`, ...other.map((name) => valueText(trial.plan, name))].join(', ');
}

function pointOf({ key, shown }: Trial): CliffPoint | null {
  const { call } = shown.cell;
  if (call === null || call.promptEvalCount === null || shown.sent === null) return null;
  const { kinds } = call.truncation;
  return {
    key,
    sent: shown.sent.tokens,
    sentLow: shown.sent.low,
    sentHigh: shown.sent.high,
    evaluated: call.promptEvalCount,
    window: windowOf(shown.cell),
    cut: kinds.includes('halved') || kinds.includes('cut-to-window'),
  };
}

function refusalOf({ key, shown }: Trial): CliffRefusal | null {
  const { call } = shown.cell;
  if (call === null || !call.truncation.kinds.includes('refused')) return null;
  const sent = call.truncation.needs ?? shown.sent?.tokens ?? null;
  return sent === null ? null : { key, sent, window: windowOf(shown.cell) };
}

interface AxisMenusProps {
  readonly values: AxisValues;
  readonly view: MapView;
  readonly varying: readonly AxisName[];
  readonly wish: MapWish;
  readonly onWish: (wish: MapWish) => void;
}

function AxisMenus({ values, view, varying, wish, onWish }: AxisMenusProps) {
  const options = varying.map((name) => ({ value: name, text: axisWords[name] }));
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 pb-1 text-table [&_select]:h-6! [&_select]:w-auto! [&_select]:max-w-36 [&_select]:px-1!">
      <label className="flex items-center gap-1">
        <span className="lab">down</span>
        <Choice
          value={view.down}
          options={options}
          onValue={(down) => onWish({ ...wish, down, ...(view.across === down ? { across: view.down } : {}) })}
        />
      </label>
      <label className="flex items-center gap-1">
        <span className="lab">across</span>
        <Choice
          value={view.across}
          options={options}
          onValue={(across) => onWish({ ...wish, across, ...(view.down === across ? { down: view.across } : {}) })}
        />
      </label>
      {menuAxes(values, view).map((name) => (
        <label key={name} className="flex min-w-0 items-center gap-1">
          <span className="lab">{axisWords[name]}</span>
          <Choice
            value={view.fixed[name] ?? ''}
            options={values[name].map(({ key, text }) => ({ value: key, text }))}
            onValue={(value) => onWish({ ...wish, fixed: { ...wish.fixed, [name]: value } })}
          />
        </label>
      ))}
    </div>
  );
}

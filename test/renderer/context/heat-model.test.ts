import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextCell } from '../../../shared/contract/experiments.ts';
import type { TruncationKind } from '../../../shared/contract/verdicts.ts';
import { axisValues, mapViewOf, menuAxes } from '../../../renderer/pages/context/axes.ts';
import type { MapWish } from '../../../renderer/pages/context/axes.ts';
import { heatModel, heatSummary } from '../../../renderer/pages/context/heat-model.ts';
import { cliffSeries } from '../../../renderer/pages/context/map-and-chart.tsx';
import { labOf } from '../../../renderer/pages/context/trials.ts';
import { makeCell } from '../support/make.ts';
import { endedCell, sweepCells } from './make-cells.ts';

const mapOf = (cells: readonly ContextCell[], wish: MapWish = {}) => {
  const { trials } = labOf(cells);
  const values = axisValues(trials);
  const view = mapViewOf(values, wish);
  return { values, view, model: heatModel(trials, values, view), trials };
};

describe('heat map', () => {
  test('the classic experiment: size down, window across, the cut cells filled', () => {
    const { model } = mapOf(
      sweepCells({ windows: [null, 40_960], sizes: [2_000, 10_000, 40_000, 120_000], repeats: 2 }),
    );
    expect(model.rows.map(({ text, note }) => [text, note])).toEqual([
      ['2k', '500 tok'],
      ['10k', '2,500 tok'],
      ['40k', '10,000 tok'],
      ['120k', '30,000 tok'],
    ]);
    expect(model.columns.map(({ text, note }) => [text, note])).toEqual([
      ['default', '4,096 ran'],
      ['40,960', ''],
    ]);
    expect(
      model.squares.map((row) => row.map((square) => `${square?.fill} ${square?.figure} ${square?.marks.join()}`)),
    ).toEqual([
      ['intact 500 found,found', 'intact 500 found,found'],
      ['intact 2,500 found,found', 'intact 2,500 found,found'],
      ['lost 2,051 invented,invented', 'intact 10,000 found,found'],
      ['lost 2,051 invented,invented', 'intact 30,000 found,found'],
    ]);
    expect(model.squares[3]?.[0]?.label).toBe(
      '120k at 4,096: halved, 2,051 tokens evaluated, 27,949 lost, needle made up, made up',
    );
    expect(heatSummary(model)).toBe('8 cells, size down, window across: 2 lost part of the text, 6 lost nothing.');
    expect(model.lostWord).toBe('halved');
  });

  test('every trial of the view has its square; axes outside of the map have a menu and one value', () => {
    const sweeps = fc.record({
      windows: fc.uniqueArray(fc.integer({ min: 256, max: 60_000 }), { minLength: 1, maxLength: 4 }),
      sizes: fc.uniqueArray(fc.integer({ min: 400, max: 400_000 }), { minLength: 1, maxLength: 4 }),
      models: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 4 }),
    });
    const axes = fc.option(fc.constantFrom('size', 'window', 'model', 'depth', 'route', 'policy'), { nil: undefined });
    fc.assert(
      fc.property(sweeps, axes, axes, (sweep, down, across) => {
        const wish = {
          ...(down === undefined ? {} : { down }),
          ...(across === undefined ? {} : { across }),
        } as MapWish;
        const { values, view, model, trials } = mapOf(sweepCells(sweep), wish);
        expect(view.down).not.toBe(view.across);
        const shown = model.squares.flat().filter((square) => square !== null);
        const hidden = menuAxes(values, view).reduce((product, name) => product * values[name].length, 1);
        expect(shown.length * hidden).toBe(trials.length);
        expect(model.squares.every((row) => row.length === model.columns.length)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('a shift while answering is not a cut of the prompt; both together are a cut', () => {
    const fillFor = (kinds: readonly TruncationKind[]) => {
      const cell = endedCell({ model: 'm', window: null, size: 2_000, repeat: 0, warmUp: false });
      const call =
        cell.call === null ? null : { ...cell.call, truncation: { ...cell.call.truncation, kinds: [...kinds] } };
      const { model } = mapOf([{ ...cell, call }]);
      return [model.squares[0]?.[0]?.fill, model.lostWord];
    };
    expect(fillFor(['intact', 'shifted'])).toEqual(['shifted', 'cut']);
    expect(fillFor(['halved', 'shifted'])).toEqual(['lost', 'halved']);
    expect(fillFor(['intact', 'window-full'])).toEqual(['full', 'cut']);
    expect(fillFor(['unknown'])).toEqual(['unknown', 'cut']);
  });

  test('the chart runs along the sizes, also where the map shows one size only', () => {
    const cells = sweepCells({ models: ['a', 'b'], windows: [null, 40_960], sizes: [2_000, 40_000, 120_000] });
    const { trials, view } = mapOf(cells, { down: 'model', across: 'window' });
    expect(view.fixed.size).toBe('2000');
    expect(
      cliffSeries(trials, view).map(({ name, points }) => [name, points.map(({ evaluated }) => evaluated)]),
    ).toEqual([
      ['window default, a', [500, 2_051, 2_051]],
      ['window 40,960, a', [500, 10_000, 30_000]],
      ['window default, b', [500, 2_051, 2_051]],
      ['window 40,960, b', [500, 10_000, 30_000]],
    ]);
  });

  test('a menu picks the model; a value that no longer exists falls back to the first', () => {
    const cells = sweepCells({ models: ['a', 'b'], windows: [1_000], sizes: [2_000] });
    const fixed = (model: string) =>
      mapOf(cells, { down: 'size', across: 'window', fixed: { model } }).view.fixed.model;
    expect([fixed('b'), fixed('gone')]).toEqual(['b', 'a']);
  });

  test('waiting, running, failed and stopped cells each look different and hold no number', () => {
    const waiting = makeCell('w', { plan: { ...makeCell('w').plan, size: 1_000 } });
    const running: ContextCell = {
      ...waiting,
      plan: { ...waiting.plan, key: 'r' as never, size: 2_000 },
      state: 'running',
    };
    const stopped: ContextCell = {
      ...waiting,
      plan: { ...waiting.plan, key: 's' as never, size: 3_000 },
      state: 'cancelled',
    };
    const ended = endedCell({ model: 'gemma3:270m', window: null, size: 4_000, repeat: 0, warmUp: false });
    const failed: ContextCell = {
      ...ended,
      state: 'failed',
      call: ended.call === null ? null : { ...ended.call, promptEvalCount: null, error: 'model not found' },
    };
    const { model } = mapOf([waiting, running, stopped, failed]);
    expect(model.squares.flat().map((square) => [square?.fill, square?.figure])).toEqual([
      ['waiting', ''],
      ['running', ''],
      ['cancelled', ''],
      ['failed', ''],
    ]);
    expect(model.squares[3]?.[0]?.label).toContain('model not found');
  });
});

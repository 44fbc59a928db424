import { expect, test } from 'vitest';
import { startValues } from '../../../shared/engine/estimate/start-values.ts';
import { bandWord, learnedViews, modelGroups, startViews } from '../../../renderer/pages/settings/calibration-rows.ts';

const row = {
  model: 'gemma3:270m',
  simulated: false,
  script: 'cjk',
  samples: 3,
  samplesSeen: 9,
  median: 2,
  low: 1.5,
  high: 3,
  factor: 1.1,
};
const start = { script: 'cjk', text: '港口', median: 1.5, low: 1, high: 6 };

test('a row stands beside the start value of its script, on one scale with it', () => {
  const [view] = learnedViews([row], [start]);
  expect(view).toMatchObject({
    script: 'Chinese, Japanese',
    learned: '2.00',
    band: '1.50 to 3.00',
    start: '1.50 (1.00 to 6.00)',
    bar: { from: 0.25, at: 2 / 6, to: 0.5 },
    startBar: { from: 1 / 6, at: 0.25, to: 1 },
  });
});

test('what is not known is a dash and has no bar', () => {
  const [view] = learnedViews([{ ...row, script: 'whitespace', median: null, low: null, high: null }], [start]);
  expect(view).toMatchObject({ learned: '–', band: '–', start: '–', bar: null, startBar: null });
  expect(bandWord(null, 2)).toBe('–');
});

test('a model of the simulator is never one with a real one of that name', () => {
  const views = learnedViews([row, { ...row, script: 'code' }, { ...row, simulated: true }], [start]);
  expect(modelGroups(views).map((group) => [group[0].simulated, group.length])).toEqual([
    [false, 2],
    [true, 1],
  ]);
  expect(new Set(views.map((view) => view.key)).size).toBe(3);
});

test('every start value has its own script as a sample, in order, and a word on screen', () => {
  const views = startViews(startValues());
  expect(views.slice(0, 4).map((view) => view.script)).toEqual([
    'English and alike',
    'code',
    'Chinese, Japanese',
    'emoji',
  ]);
  for (const { low, median, high } of startValues()) expect([low < median, median < high]).toEqual([true, true]);
  expect(views.every(({ bar }) => bar !== null && bar.from <= bar.at && bar.at <= bar.to && bar.to <= 1)).toBe(true);
});

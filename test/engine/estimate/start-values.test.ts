import { expect, test } from 'vitest';
import { createTextCounter } from '../../../shared/engine/estimate/estimator.ts';
import { startValues } from '../../../shared/engine/estimate/start-values.ts';

test('each sample is a text of the script it stands for', () => {
  const read = startValues().map(({ script, text }) => {
    const counter = createTextCounter();
    counter.push(text);
    return [script, counter.count().script];
  });
  expect(read).toEqual(read.map(([script]) => [script, script]));
});

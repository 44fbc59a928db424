// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { CliffChart } from '../../../renderer/charts/cliff-chart.tsx';
import { cliffModel } from '../../../renderer/charts/cliff-model.ts';
import { fileName, svgText } from '../../../renderer/exports/chart-file.ts';

afterEach(cleanup);

function chartOf(name: string, simulated: boolean): SVGSVGElement {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  );
  const point = { sentLow: 9_000, sentHigh: 11_000, window: 4_096 };
  const { container } = render(
    <CliffChart
      model={cliffModel([
        {
          key: name,
          name,
          points: [
            { ...point, key: `${name}1`, sent: 2_000, evaluated: 2_000, cut: false },
            { ...point, key: `${name}2`, sent: 10_000, evaluated: 2_051, cut: true },
          ],
        },
      ])}
      picked={null}
      onPick={() => undefined}
      simulated={simulated}
    />,
  );
  const svg = container.querySelector<SVGSVGElement>('svg.recharts-surface');
  if (svg === null) throw new Error('the chart drew nothing');
  return svg;
}

const look = { background: '#ffffff', ink: '#171b22', title: 'A run' };

test('the file is well-formed on its own: no classes, no variables, nothing from outside', () => {
  const text = svgText(chartOf('window 4,096', true), look);
  const file = new DOMParser().parseFromString(text, 'image/svg+xml');
  expect(file.querySelector('parsererror')).toBeNull();
  expect(text).not.toMatch(/ (class|style|href|src|data-[a-z]+)=|var\(/u);
  const texts = [...file.querySelectorAll('text')].map((element) => element.textContent);
  expect(texts).toEqual(
    expect.arrayContaining(['A run', '2,051', '4,096', 'SIMULATED', 'tokens sent', 'tokens evaluated', 'nothing lost']),
  );
});

test('a measured run is not called simulated', () => {
  expect(svgText(chartOf('window 4,096', false), look)).not.toContain('SIMULATED');
});

test.each([
  '<script>alert(1)</script>',
  '"/><image href="http://evil.example/a.png"/>',
  'a\u0000b\u001b[31m\ufffe',
  '\ud800',
])('a hostile name %j stays text, and the file readable', (name) => {
  const text = svgText(chartOf(name, false), { ...look, title: name });
  const file = new DOMParser().parseFromString(text, 'image/svg+xml');
  expect(file.querySelector('parsererror')).toBeNull();
  expect(file.querySelectorAll('script,image,foreignObject,a')).toHaveLength(0);
});

test('file names hold letters, digits and dashes only', () => {
  expect(fileName('Modell "Größe"/../x: 4 sizes', 'svg')).toMatch(/^[\p{Letter}\p{Number}\p{Mark}-]+\.svg$/u);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      expect(fileName(name, 'png')).toMatch(/^[^/\\:*?"<>|\u0000-\u001f.]{1,70}\.png$/u);
    }),
  );
});

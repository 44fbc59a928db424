// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { CalibrationListRow } from '../../../shared/contract/estimates.ts';
import { ok } from '../../../shared/contract/denials.ts';
import { startValues } from '../../../shared/engine/estimate/start-values.ts';
import { drawApp } from '../support/screen.tsx';

afterEach(cleanup);

const row: CalibrationListRow = {
  model: 'gemma3:270m',
  simulated: false,
  script: 'latin',
  samples: 3,
  samplesSeen: 9,
  median: 4.5,
  low: 4,
  high: 5,
  factor: 1.1,
};

async function calibration(rows: CalibrationListRow[]) {
  const left = [...rows];
  const app = drawApp(
    {},
    {
      'calibration.list': () => ok({ rows: [...left], startValues: startValues() }),
      'calibration.forget': () => ok({ models: left.splice(0).length }),
      'calibration.export': () =>
        ok({ name: 'calibration.csv', mime: 'text/csv', rows: left.length, text: 'model\r\n' }),
    },
  );
  await screen.findByLabelText('Message');
  location.hash = '#settings';
  fireEvent(window, new HashChangeEvent('hashchange'));
  await screen.findByRole('table', { name: 'Start values' });
  const asked = (name: string): unknown[] =>
    app.transport.asked.filter((each) => each.name === name).map(({ params }) => params);
  return { ...app, asked };
}

test('nothing learned: the start values with samples, and what teaches', async () => {
  await calibration([]);
  const table = screen.getByRole('table', { name: 'Start values' });
  for (const kind of ['English and alike', 'code', 'Chinese, Japanese', 'emoji'])
    expect(within(table).getByText(kind)).toBeTruthy();
  expect(screen.getByText(/^Nothing is learned yet/)).toBeTruthy();
  expect(screen.queryByRole('button', { name: /^Export CSV/ })).toBeNull();
});

test('learned rows stand by model with samples, band and start value; forgetting asks first', async () => {
  const { asked } = await calibration([row, { ...row, script: 'code', median: null, low: null, high: null }]);
  const table = screen.getByRole('table', { name: 'Learned characters per token' });
  const cells = within(within(table).getByRole('row', { name: /^English/ })).getAllByRole('cell');
  expect(cells.map((cell) => cell.textContent).slice(0, 4)).toEqual(['English and alike', '3', '4.50', '4.00 to 5.00']);
  fireEvent.click(within(table).getByRole('button', { name: 'Forget what gemma3:270m taught' }));
  const dialog = await screen.findByRole('dialog');
  expect(asked('calibration.forget')).toEqual([]);
  fireEvent.click(within(dialog).getByRole('button', { name: 'Forget' }));
  expect(await screen.findByText(/^Nothing is learned yet/)).toBeTruthy();
  expect(asked('calibration.forget')).toEqual([{ model: 'gemma3:270m', simulated: false }]);
});

test('the export uses the CSV profile of the settings and becomes a file', async () => {
  const { asked } = await calibration([row]);
  Object.assign(URL, { createObjectURL: () => 'blob:1', revokeObjectURL: () => undefined });
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
  onTestFinished(() => click.mockRestore());
  fireEvent.click(screen.getByRole('button', { name: 'Export CSV, 1 row' }));
  expect(await screen.findByText(/1 row saved as calibration.csv/)).toBeTruthy();
  expect(click).toHaveBeenCalledOnce();
  await waitFor(() =>
    expect(asked('calibration.export')).toEqual([
      { format: 'csv', profile: 'machine', separator: ',', decimalMark: '.' },
    ]),
  );
});

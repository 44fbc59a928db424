// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { exportRun } from '../../../renderer/stores/export-run.ts';
import { createEngineClient } from '../../../renderer/stores/engine-store.ts';
import { historyRows } from '../../../renderer/pages/history/history-rows.ts';
import { fakeTransport } from '../support/fake-transport.ts';
import { callId, makeRun, makeSnapshot, makeSummary, runId } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const intact = { ...makeSummary().truncation, kinds: ['intact' as const] };
const runs = [
  makeRun('r1', {
    name: 'Needle first',
    state: 'done',
    cellsDone: 4,
    cellsTruncated: 2,
    createdAt: '2026-11-14T10:00:00.000Z',
  }),
  makeRun('r2', {
    name: 'Needle last',
    state: 'interrupted',
    cellsDone: 1,
    simulated: false,
    createdAt: '2026-11-15T10:00:00.000Z',
  }),
];
const calls = [
  makeSummary({
    id: callId('c1'),
    answerHead: 'ÉTÉ ZEBRA-7741',
    startedAt: '2026-11-14T11:00:00.000Z',
    truncation: intact,
  }),
  makeSummary({ id: callId('c2'), answerHead: '', error: 'model stopped', startedAt: '2026-11-14T12:00:00.000Z' }),
];

describe('historyRows', () => {
  const keys = (search: string, filter: Parameters<typeof historyRows>[3] = 'all') =>
    historyRows(runs, calls, search, filter).map((row) => row.key);

  test('the youngest first, runs and calls together', () => {
    expect(keys('')).toEqual(['run r2', 'call c2', 'call c1', 'run r1']);
  });

  test.each([
    ['needle', ['run r2', 'run r1']],
    ['NEEDLE last', ['run r2']],
    ['été', ['call c1']],
    ['halved', ['call c2']],
    ['stopped', ['call c2']],
    ['nothing like it', []],
  ])('search %j', (search, expected) => {
    expect(keys(search)).toEqual(expected);
  });

  test.each([
    ['runs', ['run r2', 'run r1']],
    ['calls', ['call c2', 'call c1']],
    ['lost', ['call c2', 'run r1']],
    ['unfinished', ['run r2']],
    ['simulated', ['call c2', 'call c1', 'run r1']],
  ] as const)('filter %s', (filter, expected) => {
    expect(keys('', filter)).toEqual(expected);
  });
});

describe('the page', () => {
  const history = async (script = {}) => {
    const app = drawApp({}, { 'run.list': () => ok(runs), 'call.list': () => ok(calls), ...script });
    await screen.findByLabelText('Message');
    location.hash = '#history';
    fireEvent(window, new HashChangeEvent('hashchange'));
    await screen.findByText('Needle last');
    return app;
  };

  test('an interrupted run can go on with the cells that have no result', async () => {
    const { transport } = await history({ 'run.resume': () => denied('busy', 'Another run is under way.') });
    fireEvent.click(screen.getByText('Needle last'));
    fireEvent.click(await screen.findByRole('button', { name: 'Resume 3' }));
    await screen.findByText('Another run is under way.');
    expect(transport.asked.at(-1)).toEqual({ name: 'run.resume', params: { runId: 'r2' } });
  });

  test('deleting asks first', async () => {
    const { transport } = await history({ 'run.delete': () => ok({}) });
    fireEvent.click(screen.getByText('Needle first'));
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Keep' }));
    expect(transport.asked.some(({ name }) => name === 'run.delete')).toBe(false);
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
    const dialog = await screen.findByRole('dialog', { name: 'Delete this run?' });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(transport.asked.at(-1)).toEqual({ name: 'run.delete', params: { runId: 'r1' } }));
  });

  test('the keyboard moves through the table and Esc closes the pane', async () => {
    await history();
    const table = screen.getByRole('grid', { name: 'History' });
    fireEvent.keyDown(table, { key: 'ArrowDown' });
    expect(await screen.findByLabelText('Details of Needle last')).toBeTruthy();
    fireEvent.keyDown(table, { key: 'End' });
    expect(await screen.findByLabelText('Details of Needle first')).toBeTruthy();
    fireEvent.keyDown(table, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByLabelText('Details of Needle first')).toBeNull());
  });

  test('a click on a header sorts: first the one way, then the other, then as it came', async () => {
    await history();
    const order = () =>
      screen
        .getAllByRole('row')
        .slice(1)
        .map((row) => row.getAttribute('aria-rowindex') && row.children[2]?.textContent);
    const came = order();
    const header = screen.getByRole('button', { name: 'name or answer' });
    fireEvent.click(header);
    const up = order();
    expect(up).toEqual(['ÉTÉ ZEBRA-7741', 'model stopped', 'Needle first', 'Needle last']);
    fireEvent.click(header);
    expect(order()).toEqual([...up].reverse());
    fireEvent.click(header);
    expect(order()).toEqual(came);
  });
});

describe('exportRun', () => {
  test('joins the chunks into one file and says how many rows it has', async () => {
    const saved: Blob[] = [];
    vi.stubGlobal(
      'URL',
      Object.assign(URL, {
        createObjectURL: (blob: Blob) => (saved.push(blob), 'blob:x'),
        revokeObjectURL: () => undefined,
      }),
    );
    const chunks = ['run_id,cell\r\n', 'r1,a\r\n', 'r1,b\r\n'];
    const transport = fakeTransport({
      'snapshot.get': () => ok(makeSnapshot()),
      'export.open': () => ok({ exportId: 'e', name: 'needle-first.csv', mime: 'text/csv', rows: 2 }),
      'export.read': () => {
        const chunk = chunks.shift() ?? '';
        return ok({ chunk, done: chunk === '' });
      },
    });
    const client = createEngineClient(transport, { soon: (run) => run(), nowMs: () => 0 });
    await exportRun(client, runId('r1'), 'csv');
    expect(saved).toHaveLength(1);
    expect(await readBlob(saved[0]!)).toBe('run_id,cell\r\nr1,a\r\nr1,b\r\n');
    expect(client.store.getState().notices.at(-1)?.text).toBe('2 rows saved as needle-first.csv.');
  });

  test('a refusal in the middle saves nothing and says why', async () => {
    const transport = fakeTransport({
      'snapshot.get': () => ok(makeSnapshot()),
      'export.open': () => ok({ exportId: 'e', name: 'x.csv', mime: 'text/csv', rows: 2 }),
      'export.read': () => denied('server-error', 'The disk is full.'),
    });
    const client = createEngineClient(transport, { soon: (run) => run(), nowMs: () => 0 });
    await exportRun(client, runId('r1'), 'csv');
    expect(client.store.getState().notices.map((notice) => notice.text)).toEqual(['The disk is full.']);
  });
});

function readBlob(blob: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.readAsText(blob);
  });
}

// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DataTable } from '../../../renderer/components/data-table.tsx';
import type { Column } from '../../../renderer/components/data-table.tsx';
import { jsdomGaps } from '../support/screen.tsx';

interface Row {
  readonly key: string;
  readonly tokens: number | null;
}

const columns: readonly Column<Row>[] = [
  { id: 'key', header: 'name', width: '100px', text: (row) => row.key },
  {
    id: 'tokens',
    header: 'tokens',
    width: '100px',
    numeric: true,
    text: (row) => String(row.tokens),
    sortBy: (row) => row.tokens,
  },
];
const many = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ key: `row ${index}`, tokens: index }));

let copied: string[] = [];
beforeEach(() => {
  jsdomGaps();
  copied = [];
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: async (text: string) => void copied.push(text) },
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Table({ rows }: { rows: readonly Row[] }) {
  const [picked, setPicked] = useState<string | null>(null);
  return (
    <DataTable
      label="Some rows"
      rows={rows}
      columns={columns}
      rowKey={(row) => row.key}
      picked={picked}
      onPick={setPicked}
    />
  );
}

const names = (): (string | null | undefined)[] =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.firstElementChild?.textContent);

test('ten thousand rows draw only what is in view', () => {
  render(<Table rows={many(10_000)} />);
  expect(screen.getByRole('grid').getAttribute('aria-rowcount')).toBe('10001');
  expect(screen.getAllByRole('row').length).toBeLessThan(60);
});

describe('copying', () => {
  test('a cell by menu', async () => {
    render(<Table rows={many(3)} />);
    fireEvent.contextMenu(screen.getByText('row 1'));
    fireEvent.click(await screen.findByRole('menuitem', { name: 'Copy cell' }));
    await waitFor(() => expect(copied).toEqual(['row 1']));
  });

  test('a row as JSON by keyboard', async () => {
    render(<Table rows={many(3)} />);
    const grid = screen.getByRole('grid');
    fireEvent.keyDown(grid, { key: 'ArrowDown' });
    fireEvent.keyDown(grid, { key: 'ArrowDown' });
    fireEvent.keyDown(grid, { key: 'c', ctrlKey: true });
    await waitFor(() =>
      expect(copied.map((text) => JSON.parse(text) as unknown)).toEqual([{ key: 'row 1', tokens: 1 }]),
    );
    expect(document.getElementById(grid.getAttribute('aria-activedescendant') ?? '')?.textContent).toContain('row 1');
  });
});

test('under the pointer rows keep their places, and move when it leaves', () => {
  const { rerender } = render(<Table rows={many(3)} />);
  fireEvent.click(screen.getByRole('button', { name: 'tokens' }));
  expect(names()).toEqual(['row 2', 'row 1', 'row 0']);
  const grid = screen.getByRole('grid');
  fireEvent.pointerEnter(grid);
  rerender(
    <Table rows={[...many(3).map((row) => ({ ...row, tokens: -(row.tokens ?? 0) })), { key: 'new', tokens: 9 }]} />,
  );
  expect(names()).toEqual(['new', 'row 2', 'row 1', 'row 0']);
  fireEvent.pointerLeave(grid);
  expect(names()).toEqual(['new', 'row 0', 'row 1', 'row 2']);
});

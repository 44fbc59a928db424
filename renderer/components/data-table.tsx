/**
 * A table with virtual rows, sorting by column, a keyboard and a copy menu. It never re-sorts under the pointer: while the
 * pointer is over it, rows keep their places and new ones come in at the top.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { ContextMenu } from 'radix-ui';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { copyText } from './clipboard.ts';
import { orderRows } from './row-order.ts';
import type { Sorting } from './row-order.ts';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** Explains the column on hover. */
  readonly help?: string;
  /** A grid track, such as `88px` or `minmax(120px, 1fr)`. */
  readonly width: string;
  readonly numeric?: boolean;
  readonly mono?: boolean;
  /** What a copied cell holds, and what is shown without `cell`. */
  readonly text: (row: Row) => string;
  readonly cell?: (row: Row) => ReactNode;
  /** What to sort by; null goes last either way. Without it the column does not sort. */
  readonly sortBy?: (row: Row) => number | string | null;
}

export interface DataTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly picked?: string | null;
  readonly onPick?: (key: string) => void;
  /** Enter or double click. */
  readonly onOpen?: (key: string) => void;
  readonly initialSort?: Sorting;
  /** What "copy row as JSON" copies; the row itself by default. */
  readonly rowJson?: (row: Row) => unknown;
  readonly empty?: ReactNode;
  readonly rowHeight?: number;
  /** Rows only ever come in at the end: there they stay under the pointer too, and the end stays in view while it is. */
  readonly appends?: boolean;
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, columns, rowKey, picked = null, onPick, onOpen, empty, rowHeight = 28 } = props;
  const appends = props.appends === true;
  const [sorting, setSorting] = useState<Sorting | null>(props.initialSort ?? null);
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const ordered = useSteadyOrder(rows, columns, rowKey, sorting, appends);
  const [menuAt, setMenuAt] = useState<{ row: Row; column: Column<Row> | null } | null>(null);
  // eslint-disable-next-line react-hooks/incompatible-library -- this component is not compiled; it draws anew on every scroll
  const virtual = useVirtualizer({
    count: ordered.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialRect: { width: 800, height: 600 },
  });
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (appends && atEnd.current && sorting === null && element !== null) element.scrollTop = element.scrollHeight;
  }, [appends, sorting, rows.length]);
  const pickedIndex = picked === null ? -1 : ordered.rows.findIndex((row) => rowKey(row) === picked);
  const tracks = columns.map((column) => column.width).join(' ');

  const move = (to: number): void => {
    const index = Math.max(0, Math.min(ordered.rows.length - 1, to));
    const row = ordered.rows[index];
    if (row === undefined) return;
    onPick?.(rowKey(row));
    virtual.scrollToIndex(index);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 280) / rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: pickedIndex + 1,
      ArrowUp: pickedIndex < 0 ? 0 : pickedIndex - 1,
      PageDown: pickedIndex + page,
      PageUp: pickedIndex - page,
      Home: 0,
      End: ordered.rows.length - 1,
    };
    const to = steps[event.key];
    const row = ordered.rows[pickedIndex];
    if (to !== undefined && onPick !== undefined) move(to);
    else if (event.key === 'Enter' && row !== undefined) onOpen?.(rowKey(row));
    else if (event.key === 'c' && (event.ctrlKey || event.metaKey) && row !== undefined && noSelection())
      void copyText(jsonOf(props, row));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onMenu = (target: EventTarget): void => {
    const element = target instanceof Element ? target : null;
    const row = ordered.rows[Number(element?.closest('[data-row]')?.getAttribute('data-row') ?? -1)];
    const id = element?.closest('[data-column]')?.getAttribute('data-column');
    setMenuAt(row === undefined ? null : { row, column: columns.find((column) => column.id === id) ?? null });
  };

  return (
    <ContextMenu.Root modal={false}>
      <ContextMenu.Trigger asChild disabled={rows.length === 0}>
        <div
          ref={scroller}
          role="grid"
          aria-label={label}
          aria-rowcount={ordered.rows.length + 1}
          aria-activedescendant={pickedIndex < 0 ? undefined : `${id}-${pickedIndex}`}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onScroll={(event) => {
            const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
            atEnd.current = scrollHeight - scrollTop - clientHeight < rowHeight;
          }}
          onPointerEnter={ordered.hold}
          onPointerLeave={ordered.release}
          onContextMenuCapture={(event) => {
            onMenu(event.target);
          }}
          className="h-full min-h-0 min-w-0 overflow-auto text-table -outline-offset-2"
        >
          <div className="min-w-max">
            <HeaderRow
              columns={columns}
              tracks={tracks}
              sorting={sorting}
              onSort={(next) => {
                // A click on a header is a wish for the new order, also under the pointer.
                ordered.release();
                setSorting(next);
              }}
            />
            {ordered.rows.length === 0 ? empty : null}
            <div className="relative" style={{ height: virtual.getTotalSize() }}>
              {virtual.getVirtualItems().map((item) => {
                const row = ordered.rows[item.index];
                if (row === undefined) return null;
                const key = rowKey(row);
                return (
                  <div
                    key={key}
                    id={`${id}-${item.index}`}
                    role="row"
                    aria-rowindex={item.index + 2}
                    aria-selected={key === picked}
                    data-row={item.index}
                    onClick={() => onPick?.(key)}
                    onDoubleClick={() => onOpen?.(key)}
                    className={`absolute inset-x-0 grid border-b text-ink ${key === picked ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : onPick === undefined ? '' : 'hover:bg-sunk'}`}
                    style={{ gridTemplateColumns: tracks, height: rowHeight, transform: `translateY(${item.start}px)` }}
                  >
                    {columns.map((column) => (
                      <div
                        key={column.id}
                        role="gridcell"
                        data-column={column.id}
                        className={`flex min-w-0 items-center px-2 first:pl-6 last:pr-4 ${column.numeric === true ? 'justify-end' : ''} ${column.mono === true ? 'mono' : ''}`}
                      >
                        {column.cell?.(row) ?? <span className="truncate">{column.text(row)}</span>}
                      </div>
                    ))}
                  </div>
                );
              })}
            </div>
          </div>
        </div>
      </ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Content className="menu py-1">
          {menuAt === null || menuAt.column === null ? null : (
            <MenuItem text="Copy cell" onPick={() => void copyText(menuAt.column?.text(menuAt.row) ?? '')} />
          )}
          {menuAt === null ? null : (
            <MenuItem text="Copy row as JSON" onPick={() => void copyText(jsonOf(props, menuAt.row))} />
          )}
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}

function MenuItem({ text, onPick }: { text: string; onPick: () => void }) {
  return (
    <ContextMenu.Item className="menu-item" onSelect={onPick}>
      {text}
    </ContextMenu.Item>
  );
}

interface HeaderRowProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly tracks: string;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting | null) => void;
}

function HeaderRow<Row>({ columns, tracks, sorting, onSort }: HeaderRowProps<Row>) {
  // First click: numbers from the largest, texts from the first; second: the other way; third: as they came.
  const next = (column: Column<Row>): Sorting | null => {
    const first = column.numeric === true ? 'down' : 'up';
    if (sorting?.column !== column.id) return { column: column.id, direction: first };
    return sorting.direction === first ? { column: column.id, direction: first === 'up' ? 'down' : 'up' } : null;
  };
  return (
    <div
      role="row"
      className="sticky top-0 z-10 grid h-7 border-b bg-sunk text-ink-3"
      style={{ gridTemplateColumns: tracks }}
    >
      {columns.map((column) => {
        const on = sorting?.column === column.id;
        const Arrow = on && sorting.direction === 'up' ? ArrowUp : ArrowDown;
        const place = `flex min-w-0 items-center gap-1 px-2 first:pl-6 last:pr-4 ${column.numeric === true ? 'flex-row-reverse' : ''}`;
        return (
          <div
            key={column.id}
            role="columnheader"
            aria-sort={on ? (sorting.direction === 'up' ? 'ascending' : 'descending') : undefined}
            title={column.help}
            className={place}
          >
            {column.sortBy === undefined ? (
              <span className="truncate">{column.header}</span>
            ) : (
              <button
                type="button"
                className={`flex min-w-0 items-center gap-1 hover:text-ink ${column.numeric === true ? 'flex-row-reverse' : ''} ${on ? 'text-ink' : ''}`}
                onClick={() => {
                  onSort(next(column));
                }}
              >
                <span className="truncate">{column.header}</span>
                <Arrow size={10} className={on ? 'flex-none' : 'hidden'} aria-hidden="true" />
              </button>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** The rows in order; held still while the pointer is over the table. */
function useSteadyOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  rowKey: (row: Row) => string,
  sorting: Sorting | null,
  appends: boolean,
): { rows: readonly Row[]; hold: () => void; release: () => void } {
  const [held, setHeld] = useState<readonly string[] | null>(null);
  const sortBy = columns.find((column) => column.id === sorting?.column)?.sortBy;
  const sorted = useMemo(
    () => orderRows(rows, rowKey, sorting, sortBy, held),
    // Columns are made anew by every caller; what they sort by follows from the column's id.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [rows, sorting, held],
  );
  return {
    rows: sorted,
    hold: () => {
      if (!appends || sorting !== null) setHeld(sorted.map(rowKey));
    },
    release: () => {
      setHeld(null);
    },
  };
}

function jsonOf<Row>(props: DataTableProps<Row>, row: Row): string {
  return JSON.stringify(props.rowJson?.(row) ?? row, null, 2);
}

function noSelection(): boolean {
  return (getSelection()?.toString() ?? '') === '';
}

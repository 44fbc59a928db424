/**
 * Any length of text, drawn in a window of rows: megabytes of a document or of raw NDJSON scroll as smoothly as a line.
 * Ranges of it can be shaded (what would be lost).
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { rowsOfText, shadedPieces } from './text-rows.ts';
import type { Range } from './text-rows.ts';

const ROW_HEIGHT = 20;
const CHARACTER_WIDTH = 7.25;
const PADDING = 24;

export interface LongTextProps {
  readonly text: string;
  readonly label: string;
  readonly shaded?: readonly Range[];
  readonly className?: string;
  /** Set from outside to bring a place of the text (an offset) into view. */
  readonly showOffset?: { readonly offset: number; readonly count: number } | null;
}

export function LongText({ text, label, shaded = [], className = '', showOffset = null }: LongTextProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const columns = useColumns(scroller);
  const rows = useMemo(() => rowsOfText(text, columns), [text, columns]);
  // eslint-disable-next-line react-hooks/incompatible-library -- this component is not compiled; it draws anew on every scroll
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
    initialRect: { width: 400, height: 400 },
  });
  useEffect(() => {
    if (showOffset === null) return;
    virtual.scrollToIndex(rowAt(rows, showOffset.offset), { align: 'start' });
    // Only a new wish scrolls; new text does not.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [showOffset]);
  return (
    <div
      ref={scroller}
      role="region"
      aria-label={label}
      tabIndex={0}
      data-scrolls="yes"
      className={`min-h-16 flex-1 overflow-auto py-2 -outline-offset-2 ${className}`}
    >
      <pre className="relative leading-5 text-ink" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const from = rows[item.index] ?? 0;
          const to = rows[item.index + 1] ?? text.length;
          return (
            <span
              key={item.index}
              className="absolute left-0 block h-5 w-full overflow-hidden px-3 whitespace-pre"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {shadedPieces(text, from, to, shaded).map((piece) => (
                <span key={piece.from} className={piece.shaded ? 'bg-shade py-0.5 text-ink-2' : undefined}>
                  {piece.text}
                </span>
              ))}
            </span>
          );
        })}
      </pre>
    </div>
  );
}

function rowAt(rows: ArrayLike<number>, offset: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((rows[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Characters that fit in a row; steps of four, so that a moving splitter does not break the text anew at every pixel. */
function useColumns(element: React.RefObject<HTMLDivElement | null>): number {
  const [columns, setColumns] = useState(60);
  useEffect(() => {
    const target = element.current;
    if (target === null || typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver(([entry]) => {
      const width = (entry?.contentRect.width ?? 0) - PADDING;
      if (width > 0) setColumns(Math.max(20, Math.floor(width / CHARACTER_WIDTH / 4) * 4));
    });
    observer.observe(target);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return columns;
}

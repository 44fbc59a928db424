/**
 * A text box that shades what would be lost. The shading is a copy of the text that lies behind the box; both wrap the same
 * way because they share font, padding and a scrollbar of the same width.
 */
import { useLayoutEffect, useRef } from 'react';
import type { ClipboardEvent, KeyboardEvent } from 'react';
import { shadedPieces } from '../../components/text-rows.ts';
import type { Range } from '../../components/text-rows.ts';

export interface ShadedBoxProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly onPaste?: (event: ClipboardEvent<HTMLTextAreaElement>) => void;
  readonly onSend: () => void;
  readonly shaded: readonly Range[];
  readonly label: string;
  readonly placeholder: string;
  readonly search?: boolean;
}

const shape = 'col-start-1 row-start-1 overflow-y-scroll px-3 py-2 leading-5 whitespace-pre-wrap wrap-anywhere';

export function ShadedBox({
  value,
  onValue,
  onPaste,
  onSend,
  shaded,
  label,
  placeholder,
  search = false,
}: ShadedBoxProps) {
  const behind = useRef<HTMLPreElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  // The copy is made anew with every reading; it has to stand where the box was scrolled to.
  useLayoutEffect(() => {
    if (behind.current !== null && box.current !== null) behind.current.scrollTop = box.current.scrollTop;
  }, [value, shaded]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSend();
  };
  return (
    <div className="grid h-full min-h-0 min-w-0 flex-1 grid-cols-1 grid-rows-1">
      <pre ref={behind} aria-hidden="true" className={`${shape} pointer-events-none text-transparent`}>
        {shaded.length === 0
          ? null
          : shadedPieces(`${value}\n`, 0, value.length + 1, shaded).map((piece) => (
              <span key={piece.from} className={piece.shaded ? 'bg-shade box-decoration-clone py-0.5' : undefined}>
                {piece.text}
              </span>
            ))}
      </pre>
      <textarea
        ref={box}
        value={value}
        aria-label={label}
        placeholder={placeholder}
        spellCheck={false}
        data-search={search ? 'yes' : undefined}
        onChange={(event) => {
          onValue(event.target.value);
        }}
        onPaste={onPaste}
        onKeyDown={onKeyDown}
        onScroll={(event) => {
          if (behind.current !== null) behind.current.scrollTop = event.currentTarget.scrollTop;
        }}
        className={`${shape} resize-none bg-transparent text-ink -outline-offset-2`}
      />
    </div>
  );
}

/** Where in the whole text the lost parts are; a press goes there. */
export function MiniMap({
  length,
  shaded,
  onPick,
}: {
  length: number;
  shaded: readonly Range[];
  onPick?: (offset: number) => void;
}) {
  return (
    <div
      title="Where in the text"
      className="c-context relative w-3 flex-none border-l"
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        onPick?.(Math.round(((event.clientY - box.top) / box.height) * length));
      }}
    >
      {shaded.map((range) => (
        <i
          key={range.from}
          className="hatch absolute inset-x-0 min-h-[2px] shadow-none!"
          style={{
            top: `${(range.from * 100) / Math.max(1, length)}%`,
            height: `${((range.to - range.from) * 100) / Math.max(1, length)}%`,
          }}
        />
      ))}
    </div>
  );
}

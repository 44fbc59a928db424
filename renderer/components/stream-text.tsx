/**
 * Text of a model, as text nodes only. It follows its end while it streams, unless the reader has scrolled up. Long texts
 * are drawn in a window of rows; while a long one streams only its end is drawn.
 */
import { useLayoutEffect, useRef } from 'react';
import { count } from '../format/numbers.ts';
import { LongText } from './long-text.tsx';

const PLAIN_CHARACTERS_MAX = 20_000;
const TAIL_CHARACTERS = 6_000;

export interface StreamTextProps {
  readonly text: string;
  readonly label: string;
  readonly open: boolean;
  readonly quiet?: boolean;
}

export function StreamText({ text, label, open, quiet = false }: StreamTextProps) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && open && follows.current) element.scrollTop = element.scrollHeight;
  }, [text, open]);
  if (!open && text.length > PLAIN_CHARACTERS_MAX) return <LongText text={text} label={label} className="-mx-3" />;
  const hidden = text.length > PLAIN_CHARACTERS_MAX ? text.length - TAIL_CHARACTERS : 0;
  return (
    <pre
      ref={box}
      aria-label={label}
      role="region"
      tabIndex={0}
      data-scrolls="yes"
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        follows.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
      className={`mt-1 min-h-0 flex-1 overflow-auto leading-5 wrap-anywhere whitespace-pre-wrap ${quiet ? 'text-ink-2' : 'text-ink'}`}
    >
      {hidden > 0 ? (
        <span className="lab">
          {count(hidden)} characters before this{'\n'}
        </span>
      ) : null}
      {text.slice(hidden)}
    </pre>
  );
}

import type { ReactNode } from 'react';

/** What a place says when it has nothing to show: one fact, one next step. */
export function EmptyState({ title, text, children }: { title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="px-6 py-8">
      <p className="lead wrap-anywhere">{title}</p>
      {text === undefined ? null : <p className="max-w-[64ch] wrap-anywhere">{text}</p>}
      {children === undefined ? null : <div className="mt-4 flex flex-wrap gap-2">{children}</div>}
    </div>
  );
}

import type { ReactNode } from 'react';

export interface PageProps {
  readonly title: string;
  /** What this page answers, in one line. */
  readonly note: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its head with the primary act, and its work area. */
export function Page({ title, note, actions, children }: PageProps) {
  return (
    <main aria-label={title} className="flex h-full min-h-0 min-w-0 flex-col">
      <header data-presents="no" className="flex h-(--head) flex-none items-center gap-2 border-b pr-4 pl-6">
        <h1 className="text-lead font-semibold text-ink">{title}</h1>
        <p className="min-w-0 flex-1 truncate">· {note}</p>
        {actions}
      </header>
      <div className="relative flex min-h-0 min-w-0 flex-1">{children}</div>
    </main>
  );
}

import { X } from 'lucide-react';
import { useEffect } from 'react';
import { IconButton } from '../components/button.tsx';
import type { Notice } from '../stores/engine-state.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';

const SHOWN_MAX = 3;
const LEAVES_AFTER_MS = { info: 8_000, warning: 20_000, error: null } as const;

/**
 * Notices of the engine and of this screen. Infos and warnings leave by themselves; errors stay until closed. They float above
 * the footers of panes and pages, where the next step's button is.
 */
export function Toasts() {
  const notices = useEngine((state) => state.notices);
  return (
    <div
      role="region"
      aria-label="Notices"
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-26 z-20 flex w-96 flex-col gap-2"
    >
      {notices.slice(-SHOWN_MAX).map((notice) => (
        <Toast key={notice.id} notice={notice} />
      ))}
      {notices.length > SHOWN_MAX ? (
        <span className="lab self-end rounded bg-sunk px-2">{notices.length - SHOWN_MAX} more</span>
      ) : null}
    </div>
  );
}

const words = { info: 'Note', warning: 'Look', error: 'Problem' } as const;

function Toast({ notice }: { notice: Notice }) {
  const client = useClient();
  useEffect(() => {
    const afterMs = LEAVES_AFTER_MS[notice.level];
    if (afterMs === null) return;
    const timer = setTimeout(() => {
      client.dismissNotice(notice.id);
    }, afterMs);
    return () => {
      clearTimeout(timer);
    };
  }, [client, notice]);
  return (
    <div
      role={notice.level === 'error' ? 'alert' : 'status'}
      className={`menu reveal pointer-events-auto flex items-start gap-2 py-2 pr-1 pl-4 ${notice.level === 'info' ? '' : 'border-l-4! border-l-ink!'}`}
    >
      <div className="min-w-0 flex-1 py-1">
        <b>{words[notice.level]}</b>
        <p className="wrap-anywhere text-ink">{notice.text}</p>
        {notice.next === null ? null : <p className="wrap-anywhere">{notice.next}</p>}
      </div>
      <IconButton
        icon={X}
        label="Close"
        onClick={() => {
          client.dismissNotice(notice.id);
        }}
      />
    </div>
  );
}

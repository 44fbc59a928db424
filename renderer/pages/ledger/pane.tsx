/** The detail pane of this page: the house's frame around facts of a hold, a refusal, an account or an entry. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { usePaneKeys } from '../../components/detail-pane.tsx';

export interface PaneProps {
  readonly title: string;
  readonly simulated: boolean;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
}

export function Pane({ title, simulated, onClose, onMove, children, footer }: PaneProps) {
  usePaneKeys(onClose, onMove);
  return (
    <aside
      aria-label={`Details of ${title}`}
      data-presents="no"
      className="reveal flex w-(--pane) min-w-0 flex-none flex-col border-l bg-page max-[1400px]:w-80"
    >
      <div className="flex items-center gap-2 px-4 pt-3 pb-1">
        <span className="lead truncate" title={title}>
          {title}
        </span>
        {simulated ? <SimulatedTag /> : null}
        <span className="flex-1" />
        <span className="kbd">↑↓</span>
        <IconButton icon={X} label="Close (Esc)" onClick={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
      {footer === undefined ? null : <div className="flex flex-none flex-wrap gap-2 border-t px-4 py-2">{footer}</div>}
    </aside>
  );
}

/** A sentence under the head, before the facts. */
export function PaneText({ children }: { readonly children: ReactNode }) {
  return <p className="px-4 pt-1 wrap-anywhere text-ink">{children}</p>;
}

export function PaneHead({ text }: { readonly text: string }) {
  return <h3 className="border-t px-4 pt-2 font-semibold text-ink">{text}</h3>;
}

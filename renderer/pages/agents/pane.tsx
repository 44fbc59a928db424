/** The detail pane of this page: the house's frame around a receipt, a call or an output. Over the lanes where room is short. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { usePaneKeys } from '../../components/detail-pane.tsx';

export interface PaneProps {
  readonly title: string;
  readonly note?: string;
  readonly simulated: boolean;
  readonly onClose: () => void;
  readonly onMove?: (step: 1 | -1) => void;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
}

export function Pane({ title, note, simulated, onClose, onMove, children, footer }: PaneProps) {
  usePaneKeys(onClose, onMove);
  return (
    <aside
      aria-label={`Details of ${title}`}
      data-presents="no"
      className="reveal flex w-(--pane) max-w-full min-w-0 flex-none flex-col border-l bg-page max-[1700px]:absolute max-[1700px]:inset-y-0 max-[1700px]:right-0 max-[1700px]:z-20 max-[1700px]:shadow-pane"
    >
      <div className="flex items-center gap-2 px-4 pt-3 pb-1">
        <span className="lead min-w-0 truncate" title={title}>
          {title}
        </span>
        {note === undefined ? null : <span className="lab min-w-0 truncate">{note}</span>}
        {simulated ? <SimulatedTag /> : null}
        <span className="flex-1" />
        {onMove === undefined ? null : <span className="kbd">↑↓</span>}
        <IconButton icon={X} label="Close (Esc)" onClick={onClose} />
      </div>
      <div className="flex min-h-0 flex-1 flex-col overflow-auto">{children}</div>
      {footer === undefined ? null : <div className="flex flex-none flex-wrap gap-2 border-t px-4 py-2">{footer}</div>}
    </aside>
  );
}

export function PaneHead({ text, aside }: { readonly text: string; readonly aside?: ReactNode }) {
  return (
    <h3 className="flex flex-none items-center gap-2 border-t px-4 pt-2 font-semibold text-ink">
      <span className="flex-1">{text}</span>
      {aside}
    </h3>
  );
}

/** A row of chips under the run: guards, upstreams, what was left running, amplification. Each opens its evidence. */
import { Chip } from '../../components/chip.tsx';
import type { StripItem } from './guard-model.ts';

export interface GuardStripProps {
  readonly items: readonly StripItem[];
  readonly open: StripItem['id'] | null;
  readonly onOpen: (id: StripItem['id'] | null) => void;
}

export function GuardStrip({ items, open, onOpen }: GuardStripProps) {
  return (
    <div role="tablist" aria-label="Guards and limits" className="flex flex-none border-y">
      {items.map((item) => (
        <Chip
          key={item.id}
          meaning={item.meaning}
          severity={item.severity}
          label={item.label}
          text={item.text}
          on={open === item.id}
          onPick={() => onOpen(open === item.id ? null : item.id)}
        />
      ))}
    </div>
  );
}

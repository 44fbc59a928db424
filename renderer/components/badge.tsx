/** A meaning with its colour, icon and severity. The word stands beside it, as text. */
import { AppWindow, Check, CircleDollarSign, RefreshCw, Sparkle, Waves } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';

export type Meaning = 'context' | 'thinking' | 'budget' | 'loops' | 'drift' | 'plain';
/** informed = outline, happened = filled, stopped = filled with a bar. */
export type Severity = 'informed' | 'happened' | 'stopped';

const icons: Record<Meaning, LucideIcon> = {
  context: AppWindow,
  thinking: Sparkle,
  budget: CircleDollarSign,
  loops: RefreshCw,
  drift: Waves,
  plain: Check,
};

export interface BadgeProps {
  readonly meaning: Meaning;
  readonly severity?: Severity;
  readonly size?: 'small' | 'normal';
}

export function Badge({ meaning, severity = 'informed', size = 'normal' }: BadgeProps) {
  const Icon = icons[meaning];
  return (
    <span className={`badge c-${meaning}`} data-severity={severity} data-size={size} aria-hidden="true">
      <Icon size={size === 'small' ? 10 : 12} strokeWidth={2.2} />
    </span>
  );
}

/** Badge and word in a line, for tables and lists. */
export function Verdict({ text, ...badge }: BadgeProps & { readonly text: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-2 text-ink">
      <Badge {...badge} />
      <span className="truncate">{text}</span>
    </span>
  );
}

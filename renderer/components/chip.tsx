import { Badge } from './badge.tsx';
import type { Meaning, Severity } from './badge.tsx';

export interface ChipProps {
  readonly meaning: Meaning;
  readonly severity: Severity;
  readonly label: string;
  readonly text: string;
  readonly on: boolean;
  readonly waiting?: boolean;
  readonly onPick: () => void;
}

/** One entry of the verdict strip: colour, icon and word; opens its evidence. */
export function Chip({ meaning, severity, label, text, on, waiting = false, onPick }: ChipProps) {
  return (
    <button
      type="button"
      role="tab"
      aria-selected={on}
      aria-label={`${label}: ${text}`}
      onClick={onPick}
      className={`grid min-w-0 flex-1 grid-cols-[auto_minmax(0,1fr)] items-center gap-x-2 border-r px-2.5 py-2 text-left last:border-r-0 ${on ? 'bg-page shadow-[inset_0_2px_0_var(--ink)]' : 'bg-sunk hover:bg-pick'}`}
    >
      <Badge meaning={meaning} severity={severity} />
      <span className="min-w-0">
        <span className="lab block truncate">{label}</span>
        <b className={`block truncate leading-[18px] ${waiting ? 'font-normal! text-ink-3!' : ''}`}>{text}</b>
      </span>
    </button>
  );
}

/** A word in a frame, for filters and states in lists. */
export function Tag({ text, title }: { readonly text: string; readonly title?: string }) {
  return (
    <span title={title} className="lab rounded-sm border border-field px-1 whitespace-nowrap">
      {text}
    </span>
  );
}

export function SimulatedTag() {
  return (
    <span className="rounded-sm bg-simulated px-1 text-small font-bold tracking-wider text-on-simulated">
      SIMULATED
    </span>
  );
}

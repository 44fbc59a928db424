/** What is allowed in a plan and will surprise, with the value that would not, one press away. */
import type { PlanWarning } from '../../../shared/contract/plans.ts';
import { TriangleAlert } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { count } from '../../format/numbers.ts';
import { fieldText, withFieldText } from './plans-text.ts';
import type { PlanText } from './plans-text.ts';

export interface WarningsProps {
  readonly warnings: readonly PlanWarning[];
  readonly text: PlanText;
  readonly onText: (text: PlanText) => void;
}

export function Warnings({ warnings, text, onText }: WarningsProps) {
  return warnings.map((warning) => {
    const safe = warning.safe ?? null;
    const isSettable = safe !== null && fieldText(text, warning.field) !== null;
    return (
      <div
        key={`${warning.field} ${warning.text}`}
        role="note"
        className="flex items-start gap-2 border-l-2 border-ink bg-sunk px-3 py-2"
      >
        <TriangleAlert size={14} strokeWidth={2} className="mt-0.5 flex-none text-ink" aria-label="Warning" />
        <p className="min-w-0 flex-1 text-ink wrap-anywhere">
          {warning.text}
          {warning.next === null ? null : <span className="block text-ink-2">{warning.next}</span>}
        </p>
        {isSettable ? (
          <Button onClick={() => onText(withFieldText(text, warning.field, safe))}>Set {count(safe)}</Button>
        ) : null}
      </div>
    );
  });
}

/** Warnings are of the plan as it was saved: those of a box that was typed into since are not about what stands there now. */
export function standingWarnings(
  warnings: readonly PlanWarning[],
  text: PlanText,
  saved: PlanText | null,
): readonly PlanWarning[] {
  if (saved === null) return [];
  return warnings.filter(({ field }) => fieldText(text, field) === fieldText(saved, field));
}

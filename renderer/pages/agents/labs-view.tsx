/** Two benches: how one message becomes very much work, and how guards tell two calls apart. */
import { useState } from 'react';
import { go } from '../../stores/screen-store.ts';
import { BombLab } from './bomb-lab.tsx';
import { GuardLab } from './guard-lab.tsx';

const labs = [
  { id: 'bombs', text: 'Tool bombs', note: 'the same shapes without and with budgets' },
  { id: 'guards', text: 'Guards', note: 'two calls as the guards see them' },
] as const;

export function LabsView() {
  const [lab, setLab] = useState<(typeof labs)[number]['id']>('bombs');
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div role="radiogroup" aria-label="Lab" className="flex flex-none items-center gap-1 border-b py-1 pr-4 pl-6">
        {labs.map((one) => (
          <button
            key={one.id}
            type="button"
            role="radio"
            aria-checked={one.id === lab}
            onClick={() => setLab(one.id)}
            className={`h-6 flex-none rounded border px-2 text-table ${one.id === lab ? 'border-ink bg-pick font-semibold text-ink' : 'border-transparent text-ink-3 hover:bg-pick'}`}
          >
            {one.text}
          </button>
        ))}
        <span className="lab ml-2 truncate">{labs.find(({ id }) => id === lab)?.note}</span>
      </div>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col overflow-auto">
        {lab === 'bombs' ? <BombLab onOpenRun={(runId) => go('agents', runId)} /> : <GuardLab />}
      </div>
    </div>
  );
}

/** Earlier messages of the conversation; those that would be dropped are shaded. */
import { X } from 'lucide-react';
import type { Message } from '../../../shared/contract/calls.ts';
import type { Preflight } from '../../../shared/contract/estimates.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { counted } from '../../format/numbers.ts';
import { draft } from './draft-store.ts';
import { lostIn } from './lost-ranges.ts';

export interface TurnListProps {
  readonly turns: readonly Message[];
  readonly preflight: Preflight | null;
  /** Place of the first turn in the list that is sent. */
  readonly from: number;
}

const HEAD_CHARACTERS = 400;

export function TurnList({ turns, preflight, from }: TurnListProps) {
  if (turns.length === 0)
    return (
      <p className="px-3 py-2">
        No earlier messages. Continue under a reply keeps the exchange here, and the next message goes on from it.
      </p>
    );
  return (
    <div>
      {turns.map((turn, index) => {
        const lost = lostIn(preflight, from + index);
        return (
          <div
            key={index}
            className={`flex items-start gap-2 border-b py-1 pr-1 pl-3 ${lost.length > 0 ? 'bg-shade' : ''}`}
          >
            <div className="min-w-0 flex-1">
              <div className="lab">
                {turn.role} · {counted(turn.content.length, 'character')}
                {lost.length > 0 ? <span className="text-ink"> · would be lost</span> : null}
              </div>
              <pre className="line-clamp-3 wrap-anywhere whitespace-pre-wrap text-ink">
                {turn.content.slice(0, HEAD_CHARACTERS)}
              </pre>
            </div>
            <IconButton
              icon={X}
              label={`Remove message ${index + 1}`}
              onClick={() => {
                draft.removeTurn(index);
              }}
            />
          </div>
        );
      })}
      <div className="px-3 py-2">
        <Button
          onClick={() => {
            draft.set({ turns: [], tab: 'message' });
          }}
        >
          Remove all
        </Button>
      </div>
    </div>
  );
}

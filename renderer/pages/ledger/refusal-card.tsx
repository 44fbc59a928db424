/** The newest refusal: drops in from the right with its code, and counts down to the time at which a retry can pass. */
import { X } from 'lucide-react';
import type { RefusalLine } from '../../../shared/contract/ledger.ts';
import { Badge } from '../../components/badge.tsx';
import { IconButton } from '../../components/button.tsx';
import { count } from '../../format/numbers.ts';
import { useLedgerNow } from './ledger-clock.tsx';
import { accountName, codeText, countdown, needSentence, retryReason } from './words.ts';

export interface RefusalCardProps {
  readonly line: RefusalLine;
  readonly timeZone: string | null;
  readonly onPick: () => void;
  readonly onClose: () => void;
}

export function RefusalCard({ line, timeZone, onPick, onClose }: RefusalCardProps) {
  const who = refusedWho(line);
  return (
    <section
      aria-label="Refused"
      // Another refusal drops in anew.
      key={`${line.id} ${line.count}`}
      className="reveal relative flex-none border-b bg-sunk py-3 pr-3 pl-6 shadow-[inset_4px_0_0_var(--budget)]"
    >
      <div className="flex min-w-0 flex-wrap items-center gap-x-2 pr-8">
        <Badge meaning="budget" severity="stopped" />
        <button
          type="button"
          onClick={onPick}
          title={`Refused: ${who}${line.tenant === '' ? '' : ` of ${line.tenant}`}`}
          className="max-w-[calc(100%-40px)] min-w-0 flex-auto truncate rounded-sm text-left font-semibold text-ink hover:underline"
        >
          Refused: {who}
          {line.count > 1 ? ` · ${count(line.count)} times` : ''}
        </button>
        <code className="max-w-full min-w-0 truncate text-ink" title={codeText(line.code)}>
          {codeText(line.code)}
        </code>
        <IconButton icon={X} label="Put this away" onClick={onClose} className="absolute top-2.5 right-2" />
      </div>
      <Wait line={line} timeZone={timeZone} />
      <p className="wrap-anywhere">{line.refusal === null ? line.message : needSentence(line.refusal)}</p>
    </section>
  );
}

/** `user ada`; where the limit is somebody else's, both: `user linus · tenant acme`. */
export function refusedWho({ user, refusal }: RefusalLine): string {
  if (refusal === null || (refusal.account.scope === 'user' && refusal.account.name === user)) return `user ${user}`;
  return `user ${user} · ${accountName(refusal.account)}`;
}

function Wait({ line, timeZone }: { line: RefusalLine; timeZone: string | null }) {
  const nowMs = useLedgerNow();
  const seconds = line.refusal?.retryAfterSeconds ?? null;
  if (seconds === null) return line.refusal === null ? null : <p className="headline">It never fits</p>;
  const leftMs = nowMs === null ? seconds * 1_000 : Date.parse(line.lastAt) + seconds * 1_000 - nowMs;
  return (
    <div className="flex items-center gap-4 py-0.5">
      <span className="headline" role="timer" aria-label="Time until a retry can pass">
        {leftMs <= 0 ? 'Now' : countdown(leftMs)}
      </span>
      <span className="min-w-0 leading-[17px] text-table">
        <span className="text-ink">{leftMs <= 0 ? 'it can be tried again.' : 'until it can pass.'}</span> Retry-After{' '}
        {count(seconds)} s, {retryReason(line, timeZone)}
      </span>
    </div>
  );
}

/** Asks the server for the tokens of the prompt that is written. What that costs stands beside the button. */
import { useState } from 'react';
import type { CallRequest } from '../../../shared/contract/calls.ts';
import type { Preflight } from '../../../shared/contract/estimates.ts';
import { Button } from '../../components/button.tsx';
import { count } from '../../format/numbers.ts';
import { isAtLeast } from '../../format/versions.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';

export interface CountExactlyProps {
  readonly preflight: Preflight;
  /** null while the estimate is not the one of what is written. */
  readonly request: CallRequest | null;
  readonly running: boolean;
  readonly onCounted: () => void;
}

export function CountExactly({ preflight, request, running, onCounted }: CountExactlyProps) {
  const client = useClient();
  const version = useEngine((state) => state.server?.version ?? null);
  const [counting, setCounting] = useState(false);
  const cost = costOf(preflight, version);
  const reason = reasonAgainst(preflight, request, running);
  const start = (): void => {
    if (request === null) return;
    setCounting(true);
    void client.request('call.count', request).then((answer) => {
      setCounting(false);
      if (answer.ok) return onCounted();
      client.raiseNotice({ level: 'warning', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <span className="flex flex-none items-center gap-2">
      {preflight.estimate.source === 'counted' ? null : <span className="lab whitespace-nowrap">{cost.short}</span>}
      <Button look="flat" disabled={counting || reason !== null} title={reason ?? cost.long} onClick={start}>
        {counting ? 'Counting' : 'Count exactly'}
      </Button>
    </span>
  );
}

function reasonAgainst({ estimate }: Preflight, request: CallRequest | null, running: boolean): string | null {
  if (estimate.source === 'counted') return 'The server has counted this very prompt.';
  if (running) return 'A call is running. Wait for its end, or stop it.';
  return request === null ? 'Wait for the estimate.' : null;
}

/** Longer prompts are refused with their size, which costs a load of the model and no tokens. */
const EVALUATED_MAX = 4_096;

function costOf({ estimate, window }: Preflight, version: string | null): { short: string; long: string } {
  const most = count(estimate.high + 1);
  const isRefused = estimate.low > EVALUATED_MAX || (window !== null && estimate.low > window);
  if (isRefused && isAtLeast(version, 0, 30, 0) === true)
    return {
      short: 'no tokens',
      long: `Costs no tokens: the server refuses the prompt and says its size. It may load the model in another window. Where it says no size, the prompt is evaluated once: at most ${most} tokens.`,
    };
  return {
    short: `≤ ${most} tokens`,
    long: `Costs at most ${most} tokens: the prompt is evaluated once, and one token generated. A window that holds it is used, so the model may be loaded again.`,
  };
}

/** A call of an agent that waits for a person, on every page, until somebody has answered. The safe answer comes first. */
import { CircleDollarSign } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Approval } from '../../shared/contract/agents.ts';
import { exactDollars } from '../../shared/contract/costs.ts';
import type { NanoDollars } from '../../shared/contract/costs.ts';
import { Button } from '../components/button.tsx';
import { count } from '../format/numbers.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { go, useScreen } from '../stores/screen-store.ts';

export function ApprovalBar() {
  const approvals = useEngine((state) => state.agents.approvals);
  const first = approvals.values().next().value;
  if (first === undefined) return null;
  return <Asked key={first.id} approval={first} more={approvals.size - 1} />;
}

const TEXT_MAX = 300;
const SETTLES_MS = 400;

function Asked({ approval, more }: { approval: Approval; more: number }) {
  const client = useClient();
  const run = useEngine((state) => state.agents.runs.get(approval.runId));
  const isThere = useScreen(({ route }) => route.page === 'agents' && (route.id === '' || route.id === approval.runId));
  const [busy, setBusy] = useState(true);
  useEffect(() => {
    // The next one comes to the same place: a second click of a double click must not answer it.
    const timer = setTimeout(() => setBusy(false), SETTLES_MS);
    return () => clearTimeout(timer);
  }, []);
  const answer = (allow: boolean): void => {
    setBusy(true);
    void client.request('agent.approve', { id: approval.id, allow }).then((answered) => {
      setBusy(false);
      if (!answered.ok)
        client.raiseNotice({ level: 'warning', text: answered.denial.message, next: answered.denial.next ?? null });
    });
  };
  return (
    <section
      role="alert"
      aria-label="An agent asks"
      className="c-budget flex flex-none items-center gap-3 border-b-2 border-b-(--c) bg-sunk px-4 py-2"
    >
      <span className="badge" data-severity="stopped" aria-hidden="true">
        <CircleDollarSign size={12} strokeWidth={2.2} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="max-h-10 overflow-hidden wrap-anywhere text-ink">
          <b>{approval.kind === 'raise' ? 'A budget is used up' : 'A call waits for you'}</b> · {whatText(approval)}
        </p>
        <p className="lab truncate">
          {approval.nodeId.slice(0, 80)} in {(run?.task.name ?? approval.runId).slice(0, 80)}
          {more > 0 ? ` · ${count(more)} more wait` : ''}
        </p>
      </div>
      {isThere ? null : (
        <Button look="flat" onClick={() => go('agents', approval.runId)}>
          Show the run
        </Button>
      )}
      <Button disabled={busy} onClick={() => answer(false)}>
        {approval.kind === 'raise' ? 'End the run' : 'Deny'}
      </Button>
      <Button look="primary" disabled={busy} onClick={() => answer(true)}>
        {approval.kind === 'raise' ? 'Allow once' : 'Allow this call'}
      </Button>
    </section>
  );
}

export function whatText({ kind, call, nanoDollarsWorst, exhaustion, limitAsked }: Approval): string {
  if (kind === 'raise') {
    if (exhaustion === null || limitAsked === null) return 'The run asks for a larger budget, once.';
    const money = exhaustion.dimension === 'nano-dollars';
    const of = (value: number): string => (money ? exactDollars(value as NanoDollars) : count(value));
    return `${of(exhaustion.used)} of ${of(exhaustion.limit)} ${money ? '' : exhaustion.dimension.replace('wall-clock', 'milliseconds')} used. It asks for a limit of ${of(limitAsked)}, once.`.replace(
      '  ',
      ' ',
    );
  }
  const what = call === null ? 'a tool' : `${call.tool} ${call.argumentsHead}`.slice(0, TEXT_MAX);
  const cost =
    nanoDollarsWorst === null
      ? 'what it costs is not known'
      : `at most ${exactDollars(nanoDollarsWorst as NanoDollars)}`;
  return `${what} (${cost})`;
}

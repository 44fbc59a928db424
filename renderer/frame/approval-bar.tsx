/** A call of an agent that waits for a person, on every page, until somebody has answered. The safe answer comes first. */
import { CircleDollarSign } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Approval } from '../../shared/contract/agents.ts';
import { exactDollars } from '../../shared/contract/costs.ts';
import type { NanoDollars } from '../../shared/contract/costs.ts';
import { Button } from '../components/button.tsx';
import { count } from '../format/numbers.ts';
import { withSigns } from '../format/signs.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { go, useScreen } from '../stores/screen-store.ts';

export function ApprovalBar() {
  const approvals = useEngine((state) => state.agents.approvals);
  const first = approvals.values().next().value;
  if (first === undefined) return null;
  return <Asked key={first.id} approval={first} more={approvals.size - 1} />;
}

const TOOL_MAX = 300;
/** Where the gateway cuts arguments for the screen. */
const ARGUMENTS_HEAD_MAX = 2_000;
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
        <p className="max-h-15 overflow-auto wrap-anywhere text-ink">
          <b>{approval.kind === 'raise' ? 'A budget is used up' : 'A call waits for you'}</b> · {costText(approval)}
          {approval.kind === 'raise' ? null : (
            <>
              {' · '}
              <bdi>{callText(approval)}</bdi>
            </>
          )}
        </p>
        <p className="lab truncate">
          {approval.nodeId.slice(0, 80)} in <bdi>{withSigns((run?.task.name ?? approval.runId).slice(0, 80))}</bdi>
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

/** Before what the model wrote, so that no length of it takes the price out of sight. */
export function costText({ kind, nanoDollarsWorst, exhaustion, limitAsked }: Approval): string {
  if (kind === 'call')
    return nanoDollarsWorst === null
      ? 'what it costs is not known'
      : `at most ${exactDollars(nanoDollarsWorst as NanoDollars)}`;
  if (exhaustion === null || limitAsked === null) return 'The run asks for a larger budget, once.';
  const money = exhaustion.dimension === 'nano-dollars';
  const of = (value: number): string => (money ? exactDollars(value as NanoDollars) : count(value));
  const unit = money ? '' : ` ${exhaustion.dimension.replace('wall-clock', 'milliseconds')}`;
  return `${of(exhaustion.used)} of ${of(exhaustion.limit)}${unit} used. It asks for a limit of ${of(limitAsked)}, once.`;
}

/** All that is known of it: who allows a call has to be able to read what it asks for. */
export function callText({ call }: Approval): string {
  if (call === null) return 'a tool';
  const cut = call.argumentsHead.length >= ARGUMENTS_HEAD_MAX ? '…' : '';
  return withSigns(`${call.tool.slice(0, TOOL_MAX)} ${call.argumentsHead}${cut}`);
}

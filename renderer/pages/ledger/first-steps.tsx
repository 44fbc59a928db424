/** Before the first call: what a budget is, and what to do next. */
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { go } from '../../stores/screen-store.ts';

export function FirstSteps() {
  const client = useClient();
  const simulating = useEngine((state) => state.server?.kind === 'simulator');
  const storm = async (): Promise<void> => {
    const answer = await client.request('storm.start', {});
    if (!answer.ok)
      client.raiseNotice({ level: 'warning', text: answer.denial.message, next: answer.denial.next ?? null });
  };
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <EmptyState
        title="Nothing was charged yet"
        text="A budget is how much a user, a tenant or a conversation may use in a day, a month or in all. Before a call the most it can cost is held; after it what it used is charged, and the rest goes back. What does not fit is refused before it is sent."
      >
        <Button look="primary" onClick={() => go('ledger', 'plans')}>
          Make a plan
        </Button>
        {simulating ? (
          <Button title="20 calls at once, twice, in the simulator; about 4 s" onClick={() => void storm()}>
            Run the storm
          </Button>
        ) : (
          <Button onClick={() => void client.request('simulator.start', {})}>Start the simulator</Button>
        )}
        <Button onClick={() => go('live')}>Send a message</Button>
      </EmptyState>
    </div>
  );
}

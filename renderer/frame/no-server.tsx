/** What a page of runs says without a server, without models, and for a run that is not there. */
import type { Denial } from '../../shared/contract/denials.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { hostOf } from '../format/numbers.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { go } from '../stores/screen-store.ts';

/** False when there is nothing to run on: then `NoServer` says so. */
export function useServerReady(): boolean {
  return useEngine(({ server }) => server === null || (server.state === 'up' && server.models.length > 0));
}

export function NoServer() {
  const client = useClient();
  const server = useEngine((state) => state.server);
  if (server !== null && server.state !== 'up')
    return (
      <EmptyState
        title={
          server.state === 'looking'
            ? `Looking for Ollama at ${hostOf(server.url)}`
            : `No Ollama at ${hostOf(server.url)}`
        }
        text="Start it with ollama serve; this page goes on by itself. Or give another address, or try the simulator."
      >
        <Button look="primary" onClick={() => void client.request('simulator.start', {})}>
          Start the simulator
        </Button>
        <Button
          onClick={() => {
            go('live');
          }}
        >
          Other ways
        </Button>
      </EmptyState>
    );
  if (server !== null && server.models.length === 0)
    return (
      <EmptyState
        title={`No models at ${hostOf(server.url)}`}
        text="Pull a small one, such as ollama pull gemma3:270m, or try the simulator."
      >
        <Button onClick={() => void client.request('simulator.start', {})}>Start the simulator</Button>
      </EmptyState>
    );
  return null;
}

export function NoSuchRun({ denial }: { readonly denial: Denial }) {
  return (
    <EmptyState title={denial.message} {...(denial.next === undefined ? {} : { text: denial.next })}>
      <Button
        onClick={() => {
          go('history');
        }}
      >
        History
      </Button>
    </EmptyState>
  );
}

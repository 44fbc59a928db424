import type { ServerStatus } from '../../../shared/contract/server.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Page } from '../../frame/page.tsx';
import { hostOf } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';

/** An Ollama that has nothing to run yet. */
export function NoModels({ server }: { readonly server: ServerStatus }) {
  const client = useClient();
  const command = 'ollama pull gemma3:270m';
  return (
    <Page title="Live" note="no model yet">
      <div className="px-6 pt-8">
        <div className="headline">No models at {hostOf(server.url)}</div>
        <p className="mt-1 mb-7 text-lead">
          Ollama {server.version ?? ''} answers and has no model. Pull a small one; this page goes on by itself.
        </p>
        <div className="flex h-9 w-110 max-w-full items-center rounded border border-field bg-sunk pr-1 pl-3">
          <code className="flex-1 text-body! text-ink">{command}</code>
          <CopyButton look="primary" text={() => command} />
        </div>
        <p className="lab mt-2 mb-8">about 0.3 GB</p>
        <p>Or without a download:</p>
        <Button className="mt-2" onClick={() => void client.request('simulator.start', {})}>
          Start the simulator
        </Button>
      </div>
    </Page>
  );
}

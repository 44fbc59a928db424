/** Always true: server and version, model and running window, what runs now with stop buttons, tokens of today. */
import { Square } from 'lucide-react';
import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { Button } from '../components/button.tsx';
import { ModelName } from '../components/model-name.tsx';
import { byteSize, count, counted, hostOf } from '../format/numbers.ts';
import { heldTokens } from '../stores/ledger-state.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';

export function StatusBar() {
  const tokensToday = useEngine((state) => state.tokensToday);
  const simulated = useEngine((state) => state.server?.kind === 'simulator');
  return (
    <footer
      aria-label="Status"
      data-presents="no"
      className="flex h-(--status) flex-none items-stretch border-t bg-sunk text-table whitespace-nowrap"
    >
      {simulated ? (
        <span
          title="All figures come from the built-in simulator, not from a model."
          className="flex flex-none items-center bg-simulated px-6 font-bold tracking-[0.08em] text-on-simulated"
        >
          SIMULATED
        </span>
      ) : null}
      <Part>
        <ServerPart />
      </Part>
      <Part shrinks>
        <ModelPart />
      </Part>
      <RunningPart />
      <Part last>
        today {count(tokensToday)} tokens
        <HeldPart />
      </Part>
    </footer>
  );
}

/** Where the ledger is known: what open holds keep back. */
function HeldPart() {
  const held = useEngine(({ ledger }) => (ledger.loaded ? heldTokens(ledger.reservations.values()) : null));
  if (held === null || held === 0) return null;
  return (
    <a href="#ledger" className="-outline-offset-2 hover:underline">
      + {count(held)} held
    </a>
  );
}

function Part({ children, last = false, shrinks = false }: { children: ReactNode; last?: boolean; shrinks?: boolean }) {
  return (
    <span
      className={`flex min-w-0 items-center gap-2 px-4 ${last ? '' : 'border-r'} ${shrinks ? 'max-w-[520px]' : 'flex-none'}`}
    >
      {children}
    </span>
  );
}

function ServerPart() {
  const server = useEngine((state) => state.server);
  const connection = useEngine((state) => state.connection);
  if (connection === 'refused') return <Light on={false} text="This page is from an earlier start of Spillway" />;
  if (connection !== 'connected') return <Light on={false} text="Waiting for Spillway" />;
  if (server === null) return <Light on={false} text="Looking for Ollama" />;
  const name = server.kind === 'simulator' ? 'Simulator' : 'Ollama';
  if (server.state === 'up') return <Light on text={`${name} ${server.version ?? ''} ${hostOf(server.url)}`} />;
  if (server.state === 'looking' && server.looksCount === 0)
    return <Light on={false} text={`Looking for Ollama at ${hostOf(server.url)}`} />;
  return <Light on={false} text={`No Ollama at ${hostOf(server.url)} · looking again every 2 s`} />;
}

function Light({ on, text }: { on: boolean; text: string }) {
  return (
    <>
      <i className={`size-2 flex-none rounded-full ${on ? 'bg-ink-2' : 'border-[1.5px] border-ink-2'}`} />
      <span className="max-w-96 truncate">{text}</span>
    </>
  );
}

function ModelPart() {
  const running = useEngine((state) => state.server?.running ?? none);
  const model = running[0];
  if (model === undefined) return <span>no model loaded</span>;
  return (
    <>
      <ModelName name={model.name} />
      <span className="flex-none">
        · window {count(model.contextLength)} · {byteSize(model.sizeBytes)}
        {running.length > 1 ? ` · ${running.length - 1} more` : ''}
      </span>
    </>
  );
}

const none: readonly never[] = [];

function RunningPart() {
  const client = useClient();
  const calls = useEngine(
    useShallow((state) => [...state.calls.values()].filter((live) => live.closed === null && !live.vanished)),
  );
  const runs = useEngine(useShallow((state) => [...state.runs.values()].filter((run) => run.state === 'running')));
  const agentRuns = useEngine(
    useShallow((state) => [...state.agents.runs.values()].filter((run) => run.state === 'running')),
  );
  const single = calls.filter((live) => live.call.runId === null);
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button
          type="button"
          className="flex flex-none items-center gap-2 border-r px-4 -outline-offset-2 hover:bg-pick"
        >
          {count(calls.length + agentRuns.length)} running
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content side="top" align="start" collisionPadding={8} className="menu w-96 py-1">
          {runs.length + single.length + agentRuns.length === 0 ? <p className="px-4 py-2">Nothing runs.</p> : null}
          {runs.map((run) => (
            <RunningLine
              key={run.id}
              text={run.name}
              note={`${count(run.cellsDone)} of ${count(run.cellsTotal)} cells`}
              onStop={() => void client.request('run.cancel', { runId: run.id })}
            />
          ))}
          {agentRuns.map((run) => (
            <RunningLine
              key={run.id}
              text={run.task.name}
              note={`${counted(run.totals.toolCalls, 'call')}, ${counted(run.totals.agents, 'agent')}`}
              onStop={() => void client.request('agent.cancel', { runId: run.id, nodeId: null })}
            />
          ))}
          {single.map((live) => (
            <RunningLine
              key={live.call.id}
              text={live.call.request.model}
              note={live.call.phase}
              onStop={() => void client.request('call.cancel', { callId: live.call.id })}
            />
          ))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function RunningLine({ text, note, onStop }: { text: string; note: string; onStop: () => void }) {
  return (
    <div className="flex items-center gap-2 px-4 py-1">
      <span className="min-w-0 flex-1 truncate text-ink" title={text}>
        {text}
      </span>
      <span className="lab">{note}</span>
      <Button icon={Square} onClick={onStop}>
        Stop
      </Button>
    </div>
  );
}

import { Command } from 'cmdk';
import type { ReactNode } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { Dialog } from '../components/dialog.tsx';
import { dateAndTime } from '../format/numbers.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { go, screen, useScreen } from '../stores/screen-store.ts';
import { startDefaultProbe } from '../stores/default-probe.ts';
import { runAction } from './shortcuts.ts';

const RUNS_SHOWN_MAX = 50;

/** One box for everything: pages, acts and runs by name. */
export function Palette() {
  const open = useScreen((state) => state.dialog === 'palette');
  return (
    <Dialog open={open} onClose={screen.close} title="Go to, run, find" hideTitle>
      <Command label="Go to, run, find" loop className="flex min-h-0 flex-col">
        <Command.Input
          placeholder="Go to, run, find"
          className="h-11 flex-none border-b px-4 text-lead text-ink outline-none!"
        />
        <Command.List className="min-h-0 flex-1 overflow-auto py-1">
          <Command.Empty className="px-4 py-3">Nothing of that name.</Command.Empty>
          <PaletteItems />
        </Command.List>
      </Command>
    </Dialog>
  );
}

function PaletteItems() {
  const client = useClient();
  const server = useEngine((state) => state.server);
  const runs = useEngine(
    useShallow((state) =>
      [...state.runs.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, RUNS_SHOWN_MAX),
    ),
  );
  const simulating = server?.kind === 'simulator';
  return (
    <>
      <Group heading="Go to">
        <Item text="Live" note="g l" onPick={() => go('live')} />
        <Item text="Context" note="g c" onPick={() => go('context')} />
        <Item text="Reasoning" note="g r" onPick={() => go('reasoning')} />
        <Item text="Ledger" note="g b" onPick={() => go('ledger')} />
        <Item text="Agents" note="g a" onPick={() => go('agents')} />
        <Item text="Costs" note="g m" onPick={() => go('costs')} />
        <Item text="History" note="g h" onPick={() => go('history')} />
        <Item text="Settings" note="g s" onPick={() => go('settings')} />
      </Group>
      <Group heading="Do">
        <Item text="Start or stop on this page" note="space" onPick={() => runAction('start-or-stop')} />
        <Item text="Export from this page" note="e" onPick={() => runAction('export')} />
        {server?.state === 'up' ? (
          <Item text="Run the two-minute guided probe" onPick={() => void startDefaultProbe(client)} />
        ) : null}
        <Item text="New agent run" onPick={() => go('agents', 'new')} />
        <Item text="Labs: tool bombs and guards" onPick={() => go('agents', 'labs')} />
        <Item text="New budget" onPick={() => go('ledger', 'plans')} />
        <Item text="Journal of the ledger" onPick={() => go('ledger', 'journal')} />
        <Item text="Explain a reply recorded elsewhere" onPick={() => screen.open('explain')} />
        {simulating ? (
          <Item text="Leave the simulator" onPick={() => void client.request('simulator.stop', {})} />
        ) : (
          <Item text="Start the simulator" onPick={() => void client.request('simulator.start', {})} />
        )}
        <Item text="Look for Ollama now" onPick={() => void client.request('server.look', {})} />
        <Item text="Theme: light" onPick={() => void client.request('settings.set', { theme: 'light' })} />
        <Item text="Theme: dark" onPick={() => void client.request('settings.set', { theme: 'dark' })} />
        <Item text="Theme: as the system" onPick={() => void client.request('settings.set', { theme: 'system' })} />
        <Item text="Presenter mode" note="p" onPick={() => screen.present()} />
        <Item text="Fold the rail" note="[" onPick={screen.fold} />
        <Item text="Keys" note="?" onPick={() => screen.open('help')} />
      </Group>
      {runs.length === 0 ? null : (
        <Group heading="Runs">
          {runs.map((run) => (
            <Item
              key={run.id}
              value={`${run.name} ${run.id}`}
              text={run.name}
              note={dateAndTime(run.createdAt)}
              onPick={() => go(run.kind, run.id)}
            />
          ))}
        </Group>
      )}
    </>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-4 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-small [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  );
}

interface ItemProps {
  readonly text: string;
  readonly note?: string;
  readonly value?: string;
  readonly onPick: () => void;
}

function Item({ text, note, value = text, onPick }: ItemProps) {
  return (
    <Command.Item
      value={value}
      className="menu-item px-4!"
      onSelect={() => {
        screen.close();
        onPick();
      }}
    >
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {note === undefined ? null : <span className="lab">{note}</span>}
    </Command.Item>
  );
}

/** A run as files: its calls, agents or model turns as CSV or JSON, the lanes as SVG or PNG. */
import { Download } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import type { AgentRun } from '../../../shared/contract/agents.ts';
import type { ExportOptions } from '../../../shared/contract/experiments.ts';
import { Button } from '../../components/button.tsx';
import { saveFile } from '../../components/clipboard.ts';
import { Choice } from '../../components/field.tsx';
import { fileName, pngOf, svgText } from '../../exports/chart-file.ts';
import { counted } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { exportAgentRun } from './run-actions.ts';

type What = 'calls' | 'nodes' | 'turns';

export interface ExportAgentsProps {
  readonly run: AgentRun;
  readonly calls: number;
  readonly nodes: number;
  readonly turns: number;
}

export function ExportAgents({ run, calls, nodes, turns }: ExportAgentsProps) {
  const client = useClient();
  const settings = useEngine((state) => state.settings);
  const [open, setOpen] = useState(false);
  const [what, setWhat] = useState<What>('calls');
  const rows = { calls, nodes, turns }[what];
  const sheet =
    settings?.csvProfile === 'spreadsheet'
      ? { separator: settings.csvSeparator, decimalMark: settings.csvDecimalMark }
      : { separator: ';' as const, decimalMark: ',' as const };
  const save = (format: ExportOptions['format'], profile?: Omit<ExportOptions, 'format'>): void => {
    setOpen(false);
    void exportAgentRun(client, run.id, what, format, profile);
  };
  const saveChart = async (ending: 'svg' | 'png'): Promise<void> => {
    setOpen(false);
    const svg = document.querySelector<SVGSVGElement>('[data-chart="calls over time"] svg');
    if (svg === null)
      return client.raiseNotice({ level: 'warning', text: 'There is no chart on this page.', next: null });
    const style = getComputedStyle(document.documentElement);
    const look = {
      background: style.getPropertyValue('--surface-page').trim() || '#ffffff',
      ink: style.getPropertyValue('--ink').trim() || '#000000',
      title: `${run.simulated ? 'SIMULATED · ' : ''}${run.task.name}${run.scripted ? ', scripted model, virtual time' : ''}`,
    };
    const name = fileName(`${run.task.name} calls over time${run.simulated ? ' simulated' : ''}`, ending);
    try {
      if (ending === 'svg') saveFile(name, [svgText(svg, look)], 'image/svg+xml');
      else saveFile(name, [await pngOf(svg, look)], 'image/png');
      client.raiseNotice({
        level: 'info',
        text: `The chart is saved as ${name}.`,
        next: 'It is in the folder for downloads.',
      });
    } catch {
      client.raiseNotice({ level: 'error', text: 'The chart could not be drawn as a picture.', next: 'Take the SVG.' });
    }
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button look="flat" icon={Download} disabled={calls + nodes + turns === 0}>
          Export, {counted(calls, 'row')}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Export"
          className="menu w-[340px] pb-1"
        >
          <div className="border-b p-3">
            <Choice
              label="What"
              value={what}
              options={[
                { value: 'calls', text: `Calls: ${counted(calls, 'row')}, one a tool call` },
                { value: 'nodes', text: `Agents: ${counted(nodes, 'row')}, budgets and ends` },
                { value: 'turns', text: `Model turns: ${counted(turns, 'row')}` },
              ]}
              onValue={setWhat}
            />
          </div>
          <Item
            text="CSV for programs"
            note={`${counted(rows, 'row')} · comma, point, no BOM`}
            onPick={() => save('csv', { profile: 'machine', separator: ',', decimalMark: '.' })}
          />
          <Item
            text="CSV for spreadsheets"
            note={counted(rows, 'row')}
            onPick={() => save('csv', { profile: 'spreadsheet', ...sheet })}
          />
          <Item text="JSON" note={`${counted(rows, 'row')}, every field`} onPick={() => save('json')} />
          <div className="my-1 border-t" />
          <Item text="Chart as SVG" note="for print and slides" onPick={() => void saveChart('svg')} />
          <Item text="Chart as PNG" note="twice the size on screen" onPick={() => void saveChart('png')} />
          {run.simulated ? <p className="lab border-t px-3 pt-1">Every row and chart is marked simulated.</p> : null}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Item({ text, note, onPick }: { text: string; note: string; onPick: () => void }) {
  return (
    <button type="button" className="menu-item w-full min-w-0 hover:bg-pick" onClick={onPick}>
      <span className="flex-none">{text}</span>
      <span className="lab min-w-0 flex-1 truncate text-right">{note}</span>
    </button>
  );
}

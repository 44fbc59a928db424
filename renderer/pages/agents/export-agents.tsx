/** A run as files: its calls, agents or model turns as CSV or JSON, the lanes as SVG or PNG. */
import { useState } from 'react';
import type { AgentRun } from '../../../shared/contract/agents.ts';
import type { ExportOptions } from '../../../shared/contract/experiments.ts';
import { Choice } from '../../components/field.tsx';
import { fileName } from '../../exports/chart-file.ts';
import { ExportItem, ExportPopover, saveChartFile } from '../../exports/export-popover.tsx';
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
    const marks = run.simulated ? ' simulated' : '';
    const title = `${run.simulated ? 'SIMULATED · ' : ''}${run.task.name}${run.scripted ? ', scripted model, virtual time' : ''}`;
    await saveChartFile(client, svg, {
      name: fileName(`${run.task.name} calls over time${marks}`, ending),
      ending,
      title,
    });
  };
  return (
    <ExportPopover
      open={open}
      onOpenChange={setOpen}
      label={`Export, ${counted(calls, 'row')}`}
      disabled={calls + nodes + turns === 0}
      className="pb-1"
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
      <ExportItem
        text="CSV for programs"
        note={`${counted(rows, 'row')} · comma, point, no BOM`}
        onPick={() => save('csv', { profile: 'machine', separator: ',', decimalMark: '.' })}
      />
      <ExportItem
        text="CSV for spreadsheets"
        note={counted(rows, 'row')}
        onPick={() => save('csv', { profile: 'spreadsheet', ...sheet })}
      />
      <ExportItem text="JSON" note={`${counted(rows, 'row')}, every field`} onPick={() => save('json')} />
      <div className="my-1 border-t" />
      <ExportItem text="Chart as SVG" note="for print and slides" onPick={() => void saveChart('svg')} />
      <ExportItem text="Chart as PNG" note="twice the size on screen" onPick={() => void saveChart('png')} />
      {run.simulated ? <p className="lab border-t px-3 pt-1">Every row and chart is marked simulated.</p> : null}
    </ExportPopover>
  );
}

/** Everything of a run as files: rows as CSV or JSON, the chart as SVG or PNG. Says how many rows and the name. */
import { useState } from 'react';
import type { ExportOptions, RunSummary } from '../../shared/contract/experiments.ts';
import { Choice } from '../components/field.tsx';
import { counted } from '../format/numbers.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { exportRun } from '../stores/export-run.ts';
import { fileName } from './chart-file.ts';
import { ExportItem, ExportPopover, saveChartFile } from './export-popover.tsx';

export interface ExportMenuProps {
  readonly run: RunSummary;
  readonly rows: number;
}

export function ExportMenu({ run, rows }: ExportMenuProps) {
  const client = useClient();
  const settings = useEngine((state) => state.settings);
  const [open, setOpen] = useState(false);
  const [separator, setSeparator] = useState<ExportOptions['separator'] | null>(null);
  const [decimalMark, setDecimalMark] = useState<ExportOptions['decimalMark'] | null>(null);
  const sheet = {
    profile: 'spreadsheet' as const,
    separator: separator ?? (settings?.csvProfile === 'spreadsheet' ? settings.csvSeparator : ';'),
    decimalMark: decimalMark ?? (settings?.csvProfile === 'spreadsheet' ? settings.csvDecimalMark : ','),
  };
  const close = (): void => {
    setOpen(false);
  };
  const save = (format: ExportOptions['format'], profile?: Omit<ExportOptions, 'format'>): void => {
    close();
    void exportRun(client, run.id, format, profile);
  };
  const saveChart = async (ending: 'svg' | 'png'): Promise<void> => {
    close();
    const figure = document.querySelector<HTMLElement>('[data-chart]');
    const svg =
      figure?.querySelector<SVGSVGElement>('svg.recharts-surface') ??
      figure?.querySelector<SVGSVGElement>('svg') ??
      null;
    const name = fileName(
      `${run.name} ${figure?.dataset['chart'] ?? 'chart'}${run.simulated ? ' simulated' : ''}`,
      ending,
    );
    await saveChartFile(client, svg, { name, ending, title: titleOf(run) });
  };
  return (
    <ExportPopover
      open={open}
      onOpenChange={setOpen}
      label={`Export, ${counted(rows, 'row')}`}
      disabled={rows === 0}
      className="py-1"
    >
      <ExportItem
        text="CSV for programs"
        note={`${counted(rows, 'row')} · comma, point, no BOM`}
        onPick={() => save('csv', { profile: 'machine', separator: ',', decimalMark: '.' })}
      />
      <div className="flex items-center gap-1 pr-3 [&_select]:h-6! [&_select]:w-auto! [&_select]:flex-none [&_select]:px-1!">
        <ExportItem text="CSV for spreadsheets" note={counted(rows, 'row')} onPick={() => save('csv', sheet)} />
        <Choice
          label="Separator"
          value={sheet.separator}
          options={[
            { value: ';', text: ';' },
            { value: ',', text: ',', disabled: sheet.decimalMark === ',' },
            { value: '\t', text: 'tab' },
          ]}
          onValue={setSeparator}
        />
        <Choice
          label="Decimal mark"
          value={sheet.decimalMark}
          options={[
            { value: ',', text: '0,5', disabled: sheet.separator === ',' },
            { value: '.', text: '0.5' },
          ]}
          onValue={setDecimalMark}
        />
      </div>
      <ExportItem text="JSON" note={`${counted(rows, 'row')}, every field`} onPick={() => save('json')} />
      <div className="my-1 border-t" />
      <ExportItem text="Chart as SVG" note="for print and slides" onPick={() => void saveChart('svg')} />
      <ExportItem text="Chart as PNG" note="twice the size on screen" onPick={() => void saveChart('png')} />
      {run.simulated ? <p className="lab border-t px-3 pt-1">Every row and chart is marked simulated.</p> : null}
    </ExportPopover>
  );
}

function titleOf(run: RunSummary): string {
  const version = run.serverVersion === null ? '' : `, Ollama ${run.serverVersion}`;
  return `${run.simulated ? 'SIMULATED · ' : ''}${run.name}${version}`;
}

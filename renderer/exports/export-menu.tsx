/** Everything of a run as files: rows as CSV or JSON, the chart as SVG or PNG. Says how many rows and the name. */
import { Download } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import type { ExportOptions, RunSummary } from '../../shared/contract/experiments.ts';
import { Button } from '../components/button.tsx';
import { saveFile } from '../components/clipboard.ts';
import { Choice } from '../components/field.tsx';
import { counted } from '../format/numbers.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { exportRun } from '../stores/export-run.ts';
import { fileName, pngOf, svgText } from './chart-file.ts';
import type { ChartLook } from './chart-file.ts';

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
    if (svg === null)
      return client.raiseNotice({ level: 'warning', text: 'There is no chart on this page.', next: null });
    const look = lookOf(run);
    const name = fileName(
      `${run.name} ${figure?.dataset['chart'] ?? 'chart'}${run.simulated ? ' simulated' : ''}`,
      ending,
    );
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
        <Button look="flat" icon={Download} disabled={rows === 0}>
          Export, {counted(rows, 'row')}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Export"
          className="menu w-[340px] py-1"
        >
          <Item
            text="CSV for programs"
            note={`${counted(rows, 'row')} · comma, point, no BOM`}
            onPick={() => save('csv', { profile: 'machine', separator: ',', decimalMark: '.' })}
          />
          <div className="flex items-center gap-1 pr-3 [&_select]:h-6! [&_select]:w-auto! [&_select]:flex-none [&_select]:px-1!">
            <Item text="CSV for spreadsheets" note={counted(rows, 'row')} onPick={() => save('csv', sheet)} />
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

function lookOf(run: RunSummary): ChartLook {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  const version = run.serverVersion === null ? '' : `, Ollama ${run.serverVersion}`;
  return {
    background: token('--surface-page', '#ffffff'),
    ink: token('--ink', '#000000'),
    title: `${run.simulated ? 'SIMULATED · ' : ''}${run.name}${version}`,
  };
}

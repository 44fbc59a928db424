/** The export menu's frame and its lines: the same on every page that saves files. */
import { Download } from 'lucide-react';
import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { saveFile } from '../components/clipboard.ts';
import type { EngineClient } from '../stores/engine-store.ts';
import { type ChartLook, pngOf, svgText } from './chart-file.ts';

export interface ExportPopoverProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly label: string;
  readonly disabled?: boolean;
  readonly className: string;
  readonly children: ReactNode;
}

export function ExportPopover({
  open,
  onOpenChange,
  label,
  disabled = false,
  className,
  children,
}: ExportPopoverProps) {
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>
        <Button look="flat" icon={Download} disabled={disabled}>
          {label}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Export"
          className={`menu w-[340px] ${className}`}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

export function ExportItem({ text, note, onPick }: { text: string; note: string; onPick: () => void }) {
  return (
    <button type="button" className="menu-item w-full min-w-0 hover:bg-pick" onClick={onPick}>
      <span className="flex-none">{text}</span>
      <span className="lab min-w-0 flex-1 truncate text-right">{note}</span>
    </button>
  );
}

/** In the colours of the page as it is. */
function chartLook(title: string): ChartLook {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  return { background: token('--surface-page', '#ffffff'), ink: token('--ink', '#000000'), title };
}

/** A chart of the page as a picture; tells what became of it. svg null = there is none. */
export async function saveChartFile(
  client: Pick<EngineClient, 'raiseNotice'>,
  svg: SVGSVGElement | null,
  file: { readonly name: string; readonly ending: 'svg' | 'png'; readonly title: string },
): Promise<void> {
  if (svg === null)
    return client.raiseNotice({ level: 'warning', text: 'There is no chart on this page.', next: null });
  const look = chartLook(file.title);
  try {
    if (file.ending === 'svg') saveFile(file.name, [svgText(svg, look)], 'image/svg+xml');
    else saveFile(file.name, [await pngOf(svg, look)], 'image/png');
    client.raiseNotice({
      level: 'info',
      text: `The chart is saved as ${file.name}.`,
      next: 'It is in the folder for downloads.',
    });
  } catch {
    client.raiseNotice({ level: 'error', text: 'The chart could not be drawn as a picture.', next: 'Take the SVG.' });
  }
}

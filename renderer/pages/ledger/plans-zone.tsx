/** A time zone, found by typing a part of its name. Zones are those that the host's machine knows. */
import { Command } from 'cmdk';
import { ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useMemo, useState } from 'react';
import { offsetWord } from './clock-moments.ts';

export interface ZonePickerProps {
  readonly id?: string;
  readonly label: string;
  readonly value: string;
  readonly zones: readonly string[];
  readonly onValue: (zone: string) => void;
  readonly problem?: string | null;
  readonly problemId?: string;
  readonly disabled?: boolean;
}

export function ZonePicker({ id, label, value, zones, onValue, problem = null, ...rest }: ZonePickerProps) {
  const [open, setOpen] = useState(false);
  const [find, setFind] = useState('');
  const shown = useMemo(() => zonesLike(zones, value, find), [zones, value, find]);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button
          type="button"
          id={id}
          role="combobox"
          aria-expanded={open}
          aria-label={`${label}: ${value}`}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : rest.problemId}
          disabled={rest.disabled}
          className="field flex items-center gap-2 text-left"
        >
          <span className="min-w-0 truncate">{value}</span>
          <span className="lab min-w-0 flex-1 truncate">{offsetWord(value)}</span>
          <ChevronDown size={14} strokeWidth={1.75} className="flex-none" aria-hidden="true" />
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          collisionPadding={8}
          sideOffset={4}
          className="menu flex max-h-[min(400px,50vh)] w-[max(320px,var(--radix-popover-trigger-width))] flex-col"
        >
          <Command label={label} loop shouldFilter={false} className="flex min-h-0 flex-col">
            <Command.Input
              value={find}
              onValueChange={setFind}
              placeholder="Find a zone, such as Berlin or Asia"
              className="h-9 flex-none border-b px-3 text-ink outline-none!"
            />
            <Command.List className="min-h-0 flex-1 overflow-auto py-1">
              <Command.Empty className="px-3 py-2">No zone of that name.</Command.Empty>
              {shown.map((zone) => (
                <Command.Item
                  key={zone}
                  value={zone}
                  className="menu-item"
                  onSelect={() => {
                    onValue(zone);
                    setOpen(false);
                    setFind('');
                  }}
                >
                  <span className="min-w-0 flex-1 truncate">{zone}</span>
                  <span className="lab">{offsetWord(zone)}</span>
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

const SHOWN_MAX = 60;

/** Browsers and Node list these by the names they had before; people look for the ones of today. Both are the same zone. */
const RENAMED = [
  'America/Argentina/Buenos_Aires',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
];

/** The chosen one and UTC first, then what holds all words that were typed. */
export function zonesLike(zones: readonly string[], value: string, find: string): readonly string[] {
  const words = find
    .toLowerCase()
    .split(/[\s/_]+/u)
    .filter((word) => word !== '');
  return [...new Set([value, 'UTC', ...[...zones, ...RENAMED].sort()])]
    .filter((zone) => words.every((word) => zone.toLowerCase().includes(word)))
    .slice(0, SHOWN_MAX);
}

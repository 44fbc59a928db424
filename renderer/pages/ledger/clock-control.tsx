/** The time the ledger goes by, and for the simulated book the means to move it. A line in the head of the page. */
import { Clock, History } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import type { LedgerState } from '../../../shared/contract/ledger.ts';
import type { RequestParams } from '../../../shared/contract/requests.ts';
import { Button } from '../../components/button.tsx';
import { Field, Problem, TextBox } from '../../components/field.tsx';
import { useClient } from '../../stores/engine-context.ts';
import { clockMoves, instantOfLocal, localText, movedWord } from './clock-moments.ts';
import { useLedgerNow } from './ledger-clock.tsx';
import { usePlans, useDirectoryActions } from './plans-store.ts';
import { ZonePicker } from './plans-zone.tsx';

export interface ClockControlProps {
  /** As the ledger last said; the time itself is that of the store, which counts on from there. */
  readonly state: LedgerState | null;
  /** Zone the time is shown in, such as that of the plan most users have. */
  readonly timeZone?: string;
}

export function ClockControl({ state, timeZone = 'UTC' }: ClockControlProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const { load } = useDirectoryActions();
  const zone = chosen ?? timeZone;
  const nowMs = useLedgerNow();
  if (state === null || nowMs === null) return <span className="lab">ledger’s clock not known yet</span>;
  const isReal = state.book === 'real';
  const isMoved = state.clockOffsetMs !== 0;
  return (
    <Popover.Root
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        // For its zones, where the plans were not opened yet.
        if (next && usePlans.getState().view === null) void load();
      }}
    >
      <span className="inline-flex min-w-0 items-center gap-2">
        {isMoved ? (
          <span className="rounded-sm bg-simulated px-1.5 text-small leading-5 font-bold tracking-wider whitespace-nowrap text-on-simulated">
            MOVED CLOCK, SIMULATED BOOK
          </span>
        ) : null}
        <Popover.Trigger asChild>
          <button
            type="button"
            aria-label={`Clock of the ledger: ${localText(nowMs, zone)} ${zone}${isMoved ? `, moved ${movedWord(state.clockOffsetMs)}` : ''}`}
            className="button min-w-0 max-w-full"
            data-look="flat"
          >
            <Clock size={14} strokeWidth={1.75} aria-hidden="true" className="flex-none" />
            <span className="whitespace-nowrap">{localText(nowMs, zone)}</span>
            <span className="lab min-w-0 truncate">
              {zone}
              {isMoved ? ` · ${movedWord(state.clockOffsetMs)}` : ''}
            </span>
          </button>
        </Popover.Trigger>
      </span>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Clock of the ledger"
          className="menu flex w-[360px] flex-col gap-3 p-4"
        >
          <ZoneField zone={zone} onZone={setChosen} />
          {isReal ? (
            <p className="text-ink">
              This is the real book: its clock is that of this machine and cannot be moved. Start the simulator to walk
              over midnights and month ends.
            </p>
          ) : (
            <Moves nowMs={nowMs} zone={zone} isMoved={isMoved} />
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function ZoneField({ zone, onZone }: { zone: string; onZone: (zone: string) => void }) {
  const zones = usePlans((state) => state.view?.timeZones ?? noZones);
  return (
    <Field label="Zone">
      {({ id }) => <ZonePicker id={id} label="Zone" value={zone} zones={zones} onValue={onZone} />}
    </Field>
  );
}
const noZones: readonly string[] = [];

function Moves({ nowMs, zone, isMoved }: { nowMs: number; zone: string; isMoved: boolean }) {
  const client = useClient();
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const move = (how: RequestParams<'ledger.clock'>): void => {
    void client.request('ledger.clock', how).then((answer) => {
      if (!answer.ok) return setProblem([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
      setProblem(null);
      setTyped(null);
      void client.loadLedger();
    });
  };
  const moveToTyped = (): void => {
    const instant = typed === null ? null : instantOfLocal(typed, zone);
    if (instant === null) return setProblem(`Give a local time of ${zone}, such as 2026-11-30 23:59:55.`);
    move({ to: new Date(instant).toISOString() });
  };
  return (
    <>
      <div role="group" aria-label="Move the clock" className="flex flex-col">
        <p className="lab mb-1">Of the simulated book alone: the real one is not touched.</p>
        {clockMoves(nowMs, zone).map(({ text, note, toMs, byMs }) => (
          <button
            key={text}
            type="button"
            disabled={toMs === null && byMs === null}
            className="menu-item -mx-4 px-4! text-left hover:bg-pick disabled:text-ink-3"
            onClick={() => move(byMs === null ? { to: new Date(toMs ?? nowMs).toISOString() } : { byMs })}
          >
            <span className="flex-1">{text}</span>
            <span className="lab">{note}</span>
          </button>
        ))}
      </div>
      <form
        noValidate
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          moveToTyped();
        }}
      >
        <div className="flex-1">
          <Field label="To a local time">
            {({ id }) => (
              <TextBox
                id={id}
                value={typed ?? localText(nowMs, zone)}
                maxLength={40}
                aria-invalid={problem !== null}
                onValue={setTyped}
              />
            )}
          </Field>
        </div>
        <Button type="submit" disabled={typed === null}>
          Move
        </Button>
      </form>
      <Problem text={problem} />
      <Button icon={History} disabled={!isMoved} onClick={() => move({ reset: true })}>
        Back to real time
      </Button>
    </>
  );
}

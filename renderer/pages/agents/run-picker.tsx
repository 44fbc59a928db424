/** All runs, newest first, with how each ended; picking one shows it. */
import { ChevronDown, Trash2 } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useMemo, useState } from 'react';
import type { AgentRun, AgentRunId } from '../../../shared/contract/agents.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { TextBox } from '../../components/field.tsx';
import { count, counted, dateAndTime } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { go } from '../../stores/screen-store.ts';
import { ReasonMark } from './reason-mark.tsx';
import { deleteAgentRun } from './run-actions.ts';
import { clip, runWords } from './words.ts';

const RUNS_SHOWN_MAX = 200;

export function RunPicker({ runId }: { readonly runId: AgentRunId | null }) {
  const client = useClient();
  const runs = useEngine((state) => state.agents.runs);
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState('');
  const [deleting, setDeleting] = useState<AgentRun | null>(null);
  const shown = useMemo(() => matching([...runs.values()], wanted), [runs, wanted]);
  const here = runId === null ? undefined : runs.get(runId);
  if (runs.size === 0) return null;
  return (
    <>
      <Popover.Root open={open} onOpenChange={setOpen}>
        <Popover.Trigger asChild>
          <Button look="flat" aria-label={`Runs: ${here?.task.name ?? 'choose one'}`} className="min-w-0 shrink!">
            <span className="max-w-56 min-w-0 truncate">
              {here === undefined ? counted(runs.size, 'run') : clip(here.task.name, 80)}
            </span>
            {here === undefined ? null : <span className="lab flex-none">seed {here.task.seed}</span>}
            <ChevronDown size={14} aria-hidden="true" className="flex-none" />
          </Button>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content
            align="end"
            sideOffset={4}
            collisionPadding={8}
            aria-label="Runs"
            className="menu flex max-h-[60vh] w-[460px] flex-col pb-1"
          >
            <div className="flex-none border-b p-2">
              <TextBox
                aria-label="Find a run"
                placeholder="Find a run"
                data-search="yes"
                value={wanted}
                onValue={setWanted}
                maxLength={200}
              />
            </div>
            <ul aria-label="Runs" className="min-h-0 flex-1 overflow-auto">
              {shown.slice(0, RUNS_SHOWN_MAX).map((run) => (
                <RunLine
                  key={run.id}
                  run={run}
                  on={run.id === runId}
                  onPick={() => {
                    setOpen(false);
                    go('agents', run.id);
                  }}
                  onDelete={() => {
                    setOpen(false);
                    setDeleting(run);
                  }}
                />
              ))}
              {shown.length === 0 ? <li className="px-3 py-2">No run of that name.</li> : null}
            </ul>
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
      {deleting === null ? null : (
        <Confirm
          open
          title={`Delete ${clip(deleting.task.name, 60)}`}
          text={`Its ${counted(deleting.totals.toolCalls, 'call')}, its messages and all outputs behind handles are gone then.`}
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={() => {
            void deleteAgentRun(client, deleting).then((done) => {
              if (done && deleting.id === runId) go('agents');
            });
          }}
        />
      )}
    </>
  );
}

interface RunLineProps {
  readonly run: AgentRun;
  readonly on: boolean;
  readonly onPick: () => void;
  readonly onDelete: () => void;
}

function RunLine({ run, on, onPick, onDelete }: RunLineProps) {
  const words = runWords(run);
  return (
    <li
      className={`flex items-center border-b pr-1 ${on ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
    >
      <button
        type="button"
        className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] gap-x-2 px-3 py-1.5 text-left -outline-offset-2"
        onClick={onPick}
      >
        <span className="truncate text-ink" title={run.task.name}>
          {clip(run.task.name, 200)}
          {run.task.governed || run.task.name.includes('without') ? '' : ', without budgets'}
        </span>
        <span className="lab text-right">{count(run.totals.toolCalls)} calls</span>
        <span className="flex min-w-0 items-center gap-1.5 text-small text-ink-3">
          {run.state === 'running' ? (
            <i className="pulse size-2 flex-none rounded-full bg-ink-2" />
          ) : (
            <ReasonMark words={words} />
          )}
          <span className="truncate">{words.text}</span>
        </span>
        <span className="lab text-right">{dateAndTime(run.startedAt)}</span>
      </button>
      <IconButton
        icon={Trash2}
        label={`Delete ${clip(run.task.name, 60)}`}
        disabled={run.state === 'running'}
        onClick={onDelete}
      />
    </li>
  );
}

/** Newest first; runs under way before all. */
export function matching(runs: readonly AgentRun[], wanted: string): readonly AgentRun[] {
  const needle = wanted.trim().toLowerCase();
  return runs
    .filter(
      (run) =>
        needle === '' ||
        `${run.task.name} ${run.task.model} ${runWords(run).text} ${run.id}`.toLowerCase().includes(needle),
    )
    .sort(
      (a, b) => Number(b.state === 'running') - Number(a.state === 'running') || (a.startedAt < b.startedAt ? 1 : -1),
    );
}

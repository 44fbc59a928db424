import { Download, FolderOpen, Play, RotateCcw, Square, Trash2, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ContextExperiment, RunSummary } from '../../../shared/contract/experiments.ts';
import type { ReasoningExperiment } from '../../../shared/contract/reasoning.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { ShareBar } from '../../components/gauge.tsx';
import { count, counted, DASH, dateAndTime, aboutDuration, short } from '../../format/numbers.ts';
import { variantLabel } from '../../format/reasoning.ts';
import { useClient } from '../../stores/engine-context.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { exportRun } from '../../stores/export-run.ts';
import { go } from '../../stores/screen-store.ts';

export interface RunPaneProps {
  readonly run: RunSummary;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

/** A run of the list: what it was, how it went, and what can be done with it. */
export function RunPane({ run, onClose, onMove }: RunPaneProps) {
  const client = useClient();
  const [asking, setAsking] = useState(false);
  useEscape(onClose, asking);
  const left = run.cellsTotal - run.cellsDone;
  return (
    <aside
      aria-label={`Details of ${run.name}`}
      className="reveal flex w-(--pane) min-w-0 flex-none flex-col border-l bg-page max-[1100px]:w-80"
    >
      <div className="flex items-center gap-2 px-4 pt-3 pb-2">
        <span className="lead truncate" title={run.name}>
          {run.name}
        </span>
        {run.simulated ? <SimulatedTag /> : null}
        <span className="flex-1" />
        <IconButton
          icon={X}
          label="Close (Esc)"
          onClick={onClose}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') onMove(event.key === 'ArrowDown' ? 1 : -1);
          }}
        />
      </div>
      <div className="px-4 pb-1">
        <ShareBar
          part={run.cellsDone}
          whole={run.cellsTotal}
          label={`${run.cellsDone} of ${run.cellsTotal} cells done`}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        <Facts facts={factsOf(run)} />
        {[...run.warnings, ...(run.error === null ? [] : [run.error])].map((text) => (
          <p key={text} className="border-t px-4 py-2 wrap-anywhere text-ink">
            {text}
          </p>
        ))}
      </div>
      <div className="flex flex-none flex-wrap gap-2 border-t px-4 py-3">
        <Button
          look="primary"
          icon={FolderOpen}
          onClick={() => {
            go(run.kind, run.id);
          }}
        >
          Open
        </Button>
        {run.state === 'running' ? (
          <Button icon={Square} onClick={() => void act(client, client.request('run.cancel', { runId: run.id }))}>
            Stop
          </Button>
        ) : left > 0 ? (
          <Button icon={Play} onClick={() => void act(client, client.request('run.resume', { runId: run.id }))}>
            Resume {count(left)}
          </Button>
        ) : null}
        <Button
          icon={RotateCcw}
          title={`${count(run.cellsTotal)} cells again, as a new run`}
          disabled={run.state === 'running'}
          onClick={() => void runAgain(client, run)}
        >
          Run again
        </Button>
        <Button icon={Download} onClick={() => void exportRun(client, run.id, 'csv')}>
          CSV
        </Button>
        <Button icon={Download} onClick={() => void exportRun(client, run.id, 'json')}>
          JSON
        </Button>
        <Button
          icon={Trash2}
          disabled={run.state === 'running'}
          onClick={() => {
            setAsking(true);
          }}
        >
          Delete
        </Button>
      </div>
      <Confirm
        open={asking}
        title="Delete this run?"
        text={`${run.name}: ${count(run.cellsDone)} cells with their requests and replies. This cannot be taken back; export it first if you need it.`}
        action="Delete"
        onClose={() => {
          setAsking(false);
        }}
        onConfirm={() => void act(client, client.request('run.delete', { runId: run.id })).then(onClose)}
      />
    </aside>
  );
}

function factsOf(run: RunSummary): readonly (readonly [string, string])[] {
  return [
    ['state', run.state],
    ['started', dateAndTime(run.createdAt)],
    ['ended', run.endedAt === null ? DASH : dateAndTime(run.endedAt)],
    ['server', `${run.server}${run.serverVersion === null ? '' : ` · ${run.serverVersion}`}`],
    ['models', run.experiment.axes.models.join(', ')],
    ...(run.kind === 'context' ? contextFacts(run.experiment) : reasoningFacts(run.experiment)),
    ['repeats', count(run.experiment.axes.repeats)],
    [
      'cells',
      `${count(run.cellsDone)} of ${count(run.cellsTotal)}${run.cellsFailed > 0 ? `, ${count(run.cellsFailed)} failed` : ''}`,
    ],
    ['lost', `${counted(run.cellsTruncated, 'cell')} lost something`],
    ['evaluated', `${count(run.tokensEvaluated)} tokens`],
    ['left', run.etaMs === null ? DASH : aboutDuration(run.etaMs)],
  ];
}

type FactList = readonly (readonly [string, string])[];

function reasoningFacts({ axes, prompt }: ReasoningExperiment): FactList {
  return [
    [
      'variants',
      axes.variants
        .map(
          ({ name, think, numPredict, thinkingCap }) =>
            name ??
            variantLabel(
              think,
              count(numPredict),
              thinkingCap === undefined ? null : { tokensMax: count(thinkingCap.tokensMax), then: thinkingCap.then },
            ),
        )
        .join('; '),
    ],
    ['prompt', prompt.length > 200 ? `${prompt.slice(0, 200)}…` : prompt],
  ];
}

function contextFacts({ axes }: ContextExperiment): FactList {
  return [
    ['num_ctx', axes.numCtx.map((window) => (window === 'default' ? 'server default' : count(window))).join(', ')],
    [
      'sizes',
      axes.sizes.map((size) => (typeof size === 'number' ? short(size) : `${short(size.tokens)} tokens`)).join(', '),
    ],
    [
      'needles',
      axes.needleDepths
        .map((depths) =>
          [depths]
            .flat()
            .map((depth) => `${depth} %`)
            .join(' and '),
        )
        .join(', '),
    ],
  ];
}

async function runAgain(client: EngineClient, run: RunSummary): Promise<void> {
  const started = await (run.kind === 'context'
    ? client.request('context.start', run.experiment)
    : client.request('reasoning.start', run.experiment));
  if (started.ok) go(run.kind, started.value.runId);
  else client.raiseNotice({ level: 'error', text: started.denial.message, next: started.denial.next ?? null });
}

async function act(client: EngineClient, answer: ReturnType<EngineClient['request']>): Promise<void> {
  const result = await answer;
  if (!result.ok) client.raiseNotice({ level: 'error', text: result.denial.message, next: result.denial.next ?? null });
}

function useEscape(onClose: () => void, asking: boolean): void {
  useEffect(() => {
    if (asking) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) onClose();
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, [onClose, asking]);
}

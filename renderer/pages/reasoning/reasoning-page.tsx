/** Reasoning: what the tokens were spent on, and whether an answer came. One view for a run that is new, under way, or stored. */
import { Play } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import type { ReasoningExperiment } from '../../../shared/contract/reasoning.ts';
import { Button } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { RunButtons } from '../../exports/run-buttons.tsx';
import { NoServer, NoSuchRun, useServerReady } from '../../frame/no-server.tsx';
import { Page } from '../../frame/page.tsx';
import { useAction } from '../../frame/shortcuts.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { exportRun } from '../../stores/export-run.ts';
import { resumeRun, startRun, stopRun } from '../../stores/run-actions.ts';
import { useScreen } from '../../stores/screen-store.ts';
import { cellsLeft, useBlocked, useShownRunOf } from '../../stores/stored-run.ts';
import { usePlan } from '../../stores/use-plan.ts';
import { draft, useDraft } from './draft.ts';
import { costText, ExperimentHead } from './experiment-head.tsx';
import { fieldOf, readForm } from './form-text.ts';
import { LaneRows } from './lane-rows.tsx';
import { laneSetOf, plannedCells } from './lanes.ts';
import { PresentedRun } from './presented-run.tsx';
import { RunView } from './run-view.tsx';
import { useLanes, useStreams, useThinkers } from './use-lanes.ts';

export function ReasoningPage() {
  const client = useClient();
  const runId = useShownRunOf(
    'reasoning',
    useScreen((state) => state.route.id),
  );
  const { picked, picks, pick } = usePicks(runId);
  const shown = useLanes(runId, picks);
  const { run, cells } = shown;
  const presenter = useScreen((state) => state.presenter);
  const { form, touched, filledFrom } = useDraft();
  useFilledForm(run);
  const reading = useMemo(() => (form === null ? null : readForm(form)), [form]);
  const experiment = reading?.ok === true ? reading.experiment : null;
  const thinkers = useThinkers(form?.models ?? run?.experiment.axes.models ?? noModels);
  const { plan, denial } = usePlan(experiment, run?.state);
  const [refusal, setRefusal] = useState<{ of: unknown; denial: Denial } | null>(null);
  const problems = useMemo(() => {
    const said = refusal !== null && refusal.of === experiment ? refusal.denial : denial;
    if (reading?.ok === false) return reading.problems;
    return said?.code === 'bad-input'
      ? { [fieldOf(said.field)]: [said.message, said.next].filter(Boolean).join(' ') }
      : {};
  }, [reading, refusal, denial, experiment]);
  const [busy, setBusy] = useState(false);
  const act = useCallback((work: Promise<unknown>) => {
    setBusy(true);
    void work.finally(() => {
      setBusy(false);
    });
  }, []);
  const blocked = useBlocked(experiment !== null && Object.keys(problems).length === 0, run?.id ?? null);
  const running = run?.state === 'running';
  const start = useCallback((): void => {
    if (experiment === null || blocked !== null) return;
    act(
      startRun(client, experiment).then((refused) => {
        if (refused !== null) setRefusal({ of: experiment, denial: refused });
      }),
    );
  }, [act, client, experiment, blocked]);
  const stop = useCallback((): void => {
    if (run !== null) act(stopRun(client, run.id));
  }, [act, client, run]);
  useAction('start-or-stop', busy ? null : running ? stop : start);
  const rows = useMemo(() => [...cells.values()].filter((cell) => cell.call !== null).length, [cells]);
  const exportRows = useCallback(() => {
    if (run !== null) void exportRun(client, run.id, 'csv');
  }, [client, run]);
  useAction('export', run === null || rows === 0 ? null : exportRows);

  if (presenter && run !== null) return <PresentedRun run={run} lanes={shown.lanes} thinkers={thinkers} />;
  return (
    <Page
      title="Reasoning"
      note="what the tokens were spent on, and whether an answer came"
      actions={
        <>
          {run?.simulated === true ? <SimulatedTag /> : null}
          <RunButtons
            run={run}
            rows={rows}
            left={run === null || running || run.state === 'done' ? 0 : cellsLeft(cells.values())}
            same={run !== null && !touched && filledFrom === run.id}
            blocked={blocked}
            busy={busy}
            cost={plan === null ? '' : costText(plan)}
            onRun={start}
            onStop={stop}
            onResume={() => {
              if (run !== null) act(resumeRun(client, run.id));
            }}
          />
        </>
      }
    >
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {form === null && runId === null ? null : (
          <ExperimentHead
            form={form}
            problems={problems}
            plan={plan}
            denial={denial}
            run={run}
            cells={cells}
            lanes={shown.lanes}
            edited={touched}
            blocked={blocked}
            thinkers={thinkers}
          />
        )}
        {runId === null ? (
          <NoRun experiment={experiment} blocked={blocked} busy={busy} thinkers={thinkers} onRun={start} />
        ) : shown.denial !== null ? (
          <NoSuchRun denial={shown.denial} />
        ) : run === null ? null : (
          <RunView
            key={run.id}
            run={run}
            set={shown}
            loading={shown.loading}
            thinkers={thinkers}
            picked={picked}
            onPick={pick}
          />
        )}
      </div>
    </Page>
  );
}

const noModels: readonly string[] = [];

/** What was picked in this run: the call whose pane is open, and every call that was chosen to be drawn. */
function usePicks(runId: RunId | null): {
  readonly picked: string | null;
  readonly picks: ReadonlySet<string>;
  readonly pick: (cellKey: string | null) => void;
} {
  const [held, setHeld] = useState<{ runId: RunId | null; picked: string | null; picks: ReadonlySet<string> }>({
    runId,
    picked: null,
    picks: noPicks,
  });
  const here = held.runId === runId ? held : { runId, picked: null, picks: noPicks };
  const pick = useCallback(
    (cellKey: string | null) => {
      setHeld((before) => {
        const picks = before.runId === runId ? before.picks : noPicks;
        // Only the open one is drawn in place of the newest: when the pane closes, lanes go on with what runs.
        return { runId, picked: cellKey, picks: cellKey === null ? noPicks : new Set([...picks, cellKey].slice(-1)) };
      });
    },
    [runId],
  );
  return { picked: here.picked, picks: here.picks, pick };
}

const noPicks: ReadonlySet<string> = new Set();

/** The sentence follows the run that is shown; without a run it is the ready experiment. */
function useFilledForm(run: ReasoningRun | null): void {
  const client = useClient();
  const models = useEngine((state) => state.server?.models.length ?? 0);
  const loaded = useEngine((state) => state.loaded);
  useEffect(() => {
    if (run !== null) draft.fillFromRun(run);
    else if (loaded && models > 0) void draft.fillFromPreset(client);
  }, [client, run, models, loaded]);
}

interface NoRunProps {
  readonly experiment: ReasoningExperiment | null;
  readonly blocked: string | null;
  readonly busy: boolean;
  readonly thinkers: ReadonlyMap<string, boolean>;
  readonly onRun: () => void;
}

/** Before the first run: the lanes as they will be filled, and one press that fills them. */
function NoRun({ experiment, blocked, busy, thinkers, onRun }: NoRunProps) {
  const ready = useServerReady();
  const streams = useStreams(null);
  const lanes = useMemo(
    () => (experiment === null ? [] : laneSetOf(plannedCells(experiment)).lanes.slice(0, PLANNED_LANES_MAX)),
    [experiment],
  );
  if (!ready) return <NoServer />;
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div className="flex-none">
        <EmptyState
          title="No run yet"
          text="One question, asked with thinking off and on, at a large and a small cap. You see how many tokens go into thinking, and whether an answer comes although the status is 200."
        >
          <Button look="primary" icon={Play} disabled={busy || blocked !== null} title={blocked ?? ''} onClick={onRun}>
            Run it
          </Button>
        </EmptyState>
      </div>
      {lanes.length === 0 ? null : (
        <div className="min-h-0 flex-1 border-t">
          <LaneRows
            run={null}
            lanes={lanes}
            streams={streams}
            thinkers={thinkers}
            picked={null}
            narrow
            onPick={() => undefined}
          />
        </div>
      )}
    </div>
  );
}

const PLANNED_LANES_MAX = 8;

/** Context: how much of a text survives, by its size and the window. One view for a run that is new, under way, or stored. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import { SimulatedTag } from '../../components/chip.tsx';
import { NoSuchRun } from '../../frame/no-server.tsx';
import { Page } from '../../frame/page.tsx';
import { useAction } from '../../frame/shortcuts.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { exportRun } from '../../stores/export-run.ts';
import { useScreen } from '../../stores/screen-store.ts';
import { cellsLeft, useBlocked, useShownRunOf } from '../../stores/stored-run.ts';
import { draft, useDraft } from './draft.ts';
import { ExperimentHead } from './experiment-head.tsx';
import { fieldOf, readForm } from './form-text.ts';
import { NoRun } from './empty-states.tsx';
import { PresentedRun } from './presented-run.tsx';
import { resumeRun, startRun, stopRun } from '../../stores/run-actions.ts';
import { RunButtons } from '../../exports/run-buttons.tsx';
import { RunView } from './run-view.tsx';
import { useRun } from './use-run.ts';
import { costText, usePlan } from '../../stores/use-plan.ts';

export function ContextPage() {
  const client = useClient();
  const runId = useShownRunOf(
    'context',
    useScreen((state) => state.route.id),
  );
  const shown = useRun(runId);
  const { run, cells } = shown;
  const presenter = useScreen((state) => state.presenter);
  const { form, touched, filledFrom } = useDraft();
  useFilledForm(shown.run);
  const reading = useMemo(() => (form === null ? null : readForm(form)), [form]);
  const experiment = reading?.ok === true ? reading.experiment : null;
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

  if (presenter && run !== null) return <PresentedRun run={run} lab={shown.lab} />;
  return (
    <Page
      title="Context"
      note="how much of a text survives, by its size and the window"
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
            cost={plan === null ? '' : costText(plan, experiment?.axes.repeats ?? 1)}
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
            repeats={experiment?.axes.repeats ?? 1}
            run={run}
            cells={cells}
            edited={touched}
            blocked={blocked}
          />
        )}
        {runId === null ? (
          <NoRun experiment={experiment} blocked={blocked} busy={busy} onRun={start} />
        ) : shown.denial !== null ? (
          <NoSuchRun denial={shown.denial} />
        ) : run === null ? null : (
          <RunView key={run.id} run={run} lab={shown.lab} loading={shown.loading} />
        )}
      </div>
    </Page>
  );
}

/** The sentence follows the run that is shown; without a run it is the classic experiment. */
function useFilledForm(run: ReturnType<typeof useRun>['run']): void {
  const client = useClient();
  const models = useEngine((state) => state.server?.models.length ?? 0);
  const loaded = useEngine((state) => state.loaded);
  useEffect(() => {
    if (run !== null) draft.fillFromRun(run);
    else if (loaded && models > 0) void draft.fillFromDefault(client);
  }, [client, run, models, loaded]);
}

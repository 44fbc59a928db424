/** Agents: where a run spends, and what ended it. One view for a run that is under way, ended, or was cut off; labs beside it. */
import { Plus, RotateCcw, Square } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import type { AgentRun, AgentTaskInput } from '../../../shared/contract/agents.ts';
import { DEFAULT_LIMITS } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Tabs, TabPanel } from '../../components/tabs.tsx';
import { Page } from '../../frame/page.tsx';
import { useAction } from '../../frame/shortcuts.ts';
import { useAgentRun, useShownAgentRun } from '../../stores/agents-feed.ts';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { go, useScreen } from '../../stores/screen-store.ts';
import { loadBombs } from './bomb-store.ts';
import { ExportAgents } from './export-agents.tsx';
import { LabsView } from './labs-view.tsx';
import { NoRun } from './no-run.tsx';
import { PresentedRun } from './presented-run.tsx';
import { exportAgentRun, resumeAgentRun, startAgentRun, stopAgentRun } from './run-actions.ts';
import { boundText, withoutBudgetsOf } from './run-figures.ts';
import { RunPicker } from './run-picker.tsx';
import { RunView } from './run-view.tsx';
import { StartDialog } from './start-dialog.tsx';

const tabs = [
  { id: 'runs', text: 'Runs' },
  { id: 'labs', text: 'Labs' },
] as const;

export function AgentsPage() {
  const client = useClient();
  const route = useScreen((state) => state.route.id);
  const presenter = useScreen((state) => state.presenter);
  const tab = route === 'labs' ? 'labs' : 'runs';
  const runId = useShownAgentRun(route === 'labs' || route === 'new' ? '' : route);
  const { run, detail } = useAgentRun(runId);
  const withoutBudgets = useEngine((state) =>
    run === null ? null : withoutBudgetsOf(run, state.agents.runs.values(), state.agents.bombs.values()),
  );
  const connected = useEngine((state) => state.loaded && state.connection === 'connected');
  useEffect(() => {
    // A lab may have run the same task without budgets.
    if (connected) void loadBombs(client);
  }, [client, connected]);
  const [form, setForm] = useState<{ readonly task: AgentTaskInput | null } | null>(null);
  const [refusal, setRefusal] = useState<Denial | null>(null);
  const [busy, setBusy] = useState(false);
  const act = useCallback((work: Promise<unknown>): void => {
    setBusy(true);
    void work.finally(() => setBusy(false));
  }, []);
  const isFormOpen = form !== null || route === 'new';
  const start = useCallback(
    (task: AgentTaskInput): void => {
      setRefusal(null);
      act(
        startAgentRun(client, task).then((denial) => {
          if (denial === null) setForm(null);
          // A notice would stand behind the form.
          else if (isFormOpen) setRefusal(denial);
          else client.raiseNotice({ level: 'error', text: denial.message, next: denial.next ?? null });
        }),
      );
    },
    [act, client, isFormOpen],
  );
  const stop = useCallback(
    (nodeId: string | null): void => {
      // Never held back by something else that is under way.
      if (run !== null) void stopAgentRun(client, run.id, nodeId);
    },
    [client, run],
  );
  const running = run?.state === 'running';
  const startOrStop = useCallback((): void => {
    if (running) stop(null);
    else if (run !== null) start(run.task);
    else setForm({ task: null });
  }, [running, run, start, stop]);
  useAction('start-or-stop', busy || tab === 'labs' ? null : startOrStop);
  const exportRows = useCallback(() => {
    if (run !== null) void exportAgentRun(client, run.id, 'calls', 'csv');
  }, [client, run]);
  useAction('export', run === null || tab === 'labs' ? null : exportRows);

  if (presenter && tab === 'runs' && run !== null && detail !== null)
    return <PresentedRun run={run} detail={detail} withoutBudgets={withoutBudgets} />;
  return (
    <Page
      title="Agents"
      note="where a run spends, and what ended it"
      actions={
        tab === 'labs' ? null : (
          <>
            <RunPicker runId={runId} />
            <HeadActions
              run={run}
              detail={detail}
              busy={busy}
              onStart={start}
              onStop={() => stop(null)}
              onNew={() => setForm({ task: null })}
            />
          </>
        )
      }
    >
      <Tabs
        label="Views"
        value={tab}
        items={tabs}
        onValue={(next) => go('agents', next === 'runs' ? '' : next)}
        className="flex-1 [&>div:first-child]:pr-4 [&>div:first-child]:pl-6"
      >
        <TabPanel id="runs" className="flex data-[state=inactive]:hidden">
          <Runs
            run={run}
            detail={detail}
            hasId={runId !== null}
            withoutBudgets={withoutBudgets}
            busy={busy}
            onStart={start}
            onStop={stop}
            onResume={() => (run === null ? undefined : act(resumeAgentRun(client, run.id)))}
            onForm={(task) => setForm({ task })}
          />
        </TabPanel>
        <TabPanel id="labs" className="flex data-[state=inactive]:hidden">
          <LabsView />
        </TabPanel>
      </Tabs>
      <StartDialog
        open={isFormOpen}
        task={form?.task ?? null}
        refusal={refusal}
        busy={busy}
        onStart={start}
        onClose={() => {
          setForm(null);
          setRefusal(null);
          if (route === 'new') go('agents');
        }}
      />
    </Page>
  );
}

interface HeadActionsProps {
  readonly run: AgentRun | null;
  readonly detail: AgentDetail | null;
  readonly busy: boolean;
  readonly onStart: (task: AgentTaskInput) => void;
  readonly onStop: () => void;
  readonly onNew: () => void;
}

function HeadActions({ run, detail, busy, onStart, onStop, onNew }: HeadActionsProps) {
  if (run === null)
    return (
      <Button look="primary" icon={Plus} disabled={busy} onClick={onNew}>
        New run
      </Button>
    );
  const { limits, governed } = run.task;
  const bound = boundText(limits.calls === undefined ? DEFAULT_LIMITS.calls : limits.calls, governed);
  return (
    <>
      {detail === null ? null : (
        <ExportAgents
          run={run}
          calls={detail.calls.size + detail.callsDropped}
          nodes={detail.nodes.size}
          turns={detail.turns.size}
        />
      )}
      <Button icon={Plus} disabled={busy} onClick={onNew}>
        New run
      </Button>
      {run.state === 'running' ? (
        <Button look="primary" icon={Square} disabled={busy} className="min-w-28" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button
          look="primary"
          icon={RotateCcw}
          disabled={busy}
          aria-label={`Run again, ${bound}`}
          onClick={() => onStart(run.task)}
        >
          Run again <span className="font-normal max-[1250px]:hidden">{bound}</span>
        </Button>
      )}
    </>
  );
}

interface RunsProps {
  readonly run: AgentRun | null;
  readonly detail: AgentDetail | null;
  readonly hasId: boolean;
  readonly withoutBudgets: number | null;
  readonly busy: boolean;
  readonly onStart: (task: AgentTaskInput) => void;
  readonly onStop: (nodeId: string | null) => void;
  readonly onResume: () => void;
  readonly onForm: (task: AgentTaskInput | null) => void;
}

function Runs({ run, detail, hasId, withoutBudgets, busy, onStart, onStop, onResume, onForm }: RunsProps) {
  const loaded = useEngine((state) => state.agents.loaded);
  const denial = detail?.denial ?? null;
  if (!hasId)
    return loaded ? <NoRun busy={busy} onStart={onStart} onForm={onForm} /> : <EmptyState title="Looking for runs" />;
  if (denial !== null && detail?.loaded !== true)
    return (
      <EmptyState title={denial.message} {...(denial.next === undefined ? {} : { text: denial.next })}>
        <Button onClick={() => go('agents')}>Show the newest run</Button>
      </EmptyState>
    );
  if (run === null || detail === null) return <EmptyState title="Loading the run" />;
  return (
    <RunView
      key={run.id}
      run={run}
      detail={detail}
      withoutBudgets={withoutBudgets}
      busy={busy}
      onStop={onStop}
      onResume={onResume}
    />
  );
}

/** The sentence, what it costs, what is to be said before it starts, and how far it is. */
import type { Denial } from '../../../shared/contract/denials.ts';
import { presets } from '../../../shared/contract/experiments.ts';
import type { ContextCell, PlanSummary, ContextRun } from '../../../shared/contract/experiments.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import { count, counted, duration, roughDuration } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { phaseWords, useLivePhase } from '../../stores/stored-run.ts';
import { sizeText } from './axes.ts';
import { draft, useDraft } from './draft.ts';
import type { FormField, FormText } from './form-text.ts';
import { Sentence, Settings } from './sentence.tsx';
import { costText } from '../../stores/use-plan.ts';

export interface ExperimentHeadProps {
  readonly form: FormText | null;
  readonly problems: Readonly<Partial<Record<FormField, string>>>;
  readonly plan: PlanSummary | null;
  readonly denial: Denial | null;
  readonly repeats: number;
  readonly run: ContextRun | null;
  readonly cells: ReadonlyMap<CellKey, ContextCell>;
  readonly edited: boolean;
  readonly blocked: string | null;
}

export function ExperimentHead(props: ExperimentHeadProps) {
  const { form, problems, run, cells } = props;
  const running = run?.state === 'running';
  return (
    <section aria-label="Experiment" data-presents="no" className="relative flex-none border-b px-6 pt-2.5 pb-2">
      {form === null ? (
        <p className="text-lead leading-7 text-ink-3">Looking for a model</p>
      ) : (
        <>
          <Sentence form={form} problems={problems} disabled={running} />
          <div className="mt-0.5 flex min-w-0 flex-wrap items-baseline gap-x-2 gap-y-1 text-table text-ink-3">
            <Settings form={form} problems={problems} disabled={running} />
            {running ? null : <Presets />}
          </div>
        </>
      )}
      <div className="mt-1 flex min-h-6 flex-wrap items-center gap-x-4">
        <Cost {...props} />
        <span className="flex-1" />
        {run === null ? null : <Progress run={run} cells={cells} />}
      </div>
      <Warnings {...props} />
      {running ? (
        <span
          role="progressbar"
          aria-label="Calls done"
          aria-valuemin={0}
          aria-valuemax={run.cellsTotal}
          aria-valuenow={run.cellsDone + run.cellsFailed}
          className="absolute inset-x-0 -bottom-px h-0.5"
        >
          <i
            className="moves block h-full bg-ink"
            style={{ width: `${((run.cellsDone + run.cellsFailed) * 100) / Math.max(1, run.cellsTotal)}%` }}
          />
        </span>
      ) : null}
    </section>
  );
}

function Presets() {
  const client = useClient();
  return (
    <span className="ml-2 flex items-baseline gap-1 text-table">
      <span className="lab">preset: needle</span>
      {presets.map((name) => (
        <button
          key={name}
          type="button"
          className="rounded-sm px-1 text-ink underline decoration-dotted underline-offset-3 hover:bg-pick"
          onClick={() => void draft.preset(client, name)}
        >
          {name.replace('needle-', '')}
        </button>
      ))}
    </span>
  );
}

function Cost({ problems, plan, denial, repeats, run, edited }: ExperimentHeadProps) {
  const [problem] = Object.values(problems);
  if (problem !== undefined)
    return (
      <p role="alert" className="wrap-anywhere text-ink">
        {problem}
      </p>
    );
  if (denial !== null)
    return (
      <p role="alert" className="wrap-anywhere text-ink">
        {denial.message} {denial.next ?? ''}
      </p>
    );
  if (plan === null) return <span className="text-ink-3">cost on its way</span>;
  const text = costText(plan, repeats);
  return <span>{run !== null && run.state !== 'running' && edited ? `next: ${text}` : text}</span>;
}

function Warnings({ plan, run, edited, blocked }: ExperimentHeadProps) {
  const note = useDraft((state) => state.note);
  const shown = !edited && run !== null ? run.warnings : (plan?.warnings ?? []);
  const texts = [
    ...new Set([
      ...(note === null || (run !== null && !edited) ? [] : [note]),
      ...shown,
      ...(run === null || run.error === null ? [] : [run.error]),
    ]),
  ];
  if (blocked !== null && run?.state !== 'running' && !blocked.startsWith('Correct')) texts.push(blocked);
  if (texts.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="max-h-20 overflow-auto">
      {texts.map((text) => (
        <li key={text} className="border-l-2 border-field pl-2 wrap-anywhere text-ink">
          {text}
        </li>
      ))}
    </ul>
  );
}

function Progress({ run, cells }: { run: ContextRun; cells: ReadonlyMap<CellKey, ContextCell> }) {
  const live = useLivePhase(run.state === 'running' ? run.id : null);
  if (run.state === 'running') {
    const plan = live === null ? undefined : cells.get(live.cellKey as CellKey)?.plan;
    return (
      <span className="lab" aria-live="off">
        {plan === undefined || live === null ? null : (
          <>
            {plan.warmUp ? 'warm-up' : `${sizeText(plan)} at ${plan.numCtx === null ? 'default' : count(plan.numCtx)}`}:{' '}
            {phaseWords[live.phase] ?? live.phase} ·{' '}
          </>
        )}
        {count(run.cellsDone + run.cellsFailed)} of {counted(run.cellsTotal, 'call')}
        {run.etaMs === null ? '' : ` · about ${roughDuration(run.etaMs)} left`}
      </span>
    );
  }
  const words: Readonly<Record<ContextRun['state'], string>> = {
    running: '',
    done: 'done',
    cancelled: 'stopped',
    interrupted: 'interrupted',
    failed: 'ended early',
  };
  const tookMs = run.endedAt === null ? null : Date.parse(run.endedAt) - Date.parse(run.createdAt);
  return (
    <span className="lab">
      {words[run.state]}
      {run.state === 'done'
        ? ''
        : ` after ${count(run.cellsDone + run.cellsFailed)} of ${counted(run.cellsTotal, 'call')}`}
      {run.cellsFailed > 0 ? ` · ${count(run.cellsFailed)} failed` : ''} · {count(run.tokensEvaluated)} tokens evaluated
      {tookMs === null || run.state !== 'done' ? '' : ` in ${duration(tookMs)}`}
    </span>
  );
}

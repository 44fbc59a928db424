/** The sentence, what it costs, what is to be said before it starts, how far it is, and what it came to. */
import type { Denial } from '../../../shared/contract/denials.ts';
import type { PlanSummary, ReasoningCell, ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';
import { count, counted, duration, roughDuration } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { variantLabelOf } from '../../format/reasoning.ts';
import { phaseWords, useLivePhase } from '../../stores/stored-run.ts';
import { CapsFound } from './cap-search.tsx';
import { draft, useDraft } from './draft.ts';
import type { FormField, FormText } from './form-text.ts';
import { laneName, settingsThatAnswer } from './lanes.ts';
import type { Lane } from './lanes.ts';
import { Sentence, Settings } from './sentence.tsx';

export interface ExperimentHeadProps {
  readonly form: FormText | null;
  readonly problems: Readonly<Partial<Record<FormField, string>>>;
  readonly plan: PlanSummary | null;
  readonly denial: Denial | null;
  readonly run: ReasoningRun | null;
  readonly cells: ReadonlyMap<CellKey, ReasoningCell>;
  readonly lanes: readonly Lane[];
  readonly edited: boolean;
  readonly blocked: string | null;
  readonly thinkers: ReadonlyMap<string, boolean>;
}

export function ExperimentHead(props: ExperimentHeadProps) {
  const { form, problems, run, cells, lanes, plan, thinkers } = props;
  const running = run?.state === 'running';
  return (
    <section
      aria-label="Experiment"
      data-presents="no"
      className="relative flex flex-none items-center gap-8 border-b px-6 pt-2.5 pb-2 max-[1100px]:gap-4"
    >
      <div className="min-w-0 flex-1">
        {form === null ? (
          <p className="text-lead leading-7 text-ink-3">Looking for a model</p>
        ) : (
          <>
            <Sentence
              form={form}
              problems={problems}
              disabled={running}
              thinkers={thinkers}
              leftOut={leftOutOf(plan)}
            />
            <div className="mt-0.5 flex min-w-0 flex-wrap items-baseline gap-x-2 gap-y-1 text-table text-ink-3">
              <Settings form={form} problems={problems} disabled={running} />
              {running ? null : <Preset />}
            </div>
          </>
        )}
        <div className="mt-1 flex min-h-6 flex-wrap items-center gap-x-4">
          <Cost {...props} />
          <span className="flex-1" />
          {run === null ? null : <Progress run={run} cells={cells} />}
        </div>
        <Warnings {...props} />
        <CapsFound run={run} />
      </div>
      <Headline lanes={lanes} />
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

function Headline({ lanes }: { lanes: readonly Lane[] }) {
  const { answered, of } = settingsThatAnswer(lanes);
  if (of === 0) return null;
  return (
    <p className="flex flex-none items-center gap-4 text-ink max-[1100px]:gap-2">
      <span className="headline">
        {count(answered)} of {count(of)}
      </span>
      <span className="leading-[18px]">
        {of === 1 ? 'setting gave' : 'settings gave'}
        <br />
        an answer
      </span>
    </p>
  );
}

function Preset() {
  const client = useClient();
  return (
    <button
      type="button"
      className="ml-2 rounded-sm px-1 text-ink underline decoration-dotted underline-offset-3 hover:bg-pick"
      onClick={() => void draft.preset(client)}
    >
      preset: prime
    </button>
  );
}

/** `12 calls · up to 41,024 tokens · about 19 min` */
export function costText(plan: Pick<PlanSummary, 'calls' | 'tokensMax' | 'timeMs'>): string {
  const time = plan.timeMs === null ? 'time not known before the first call' : `about ${roughDuration(plan.timeMs)}`;
  return `${counted(plan.calls, 'call')} · up to ${count(plan.tokensMax)} tokens · ${time}`;
}

function leftOutOf(plan: PlanSummary | null): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const { variant, reason } of plan?.leftOut ?? []) all.set(variantLabelOf(variant), reason);
  return all;
}

function Cost({ problems, plan, denial, run, edited }: ExperimentHeadProps) {
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
  const text = costText(plan);
  return (
    <span>
      {run !== null && run.state !== 'running' && edited ? `next: ${text}` : text}
      <span className="max-[1100px]:hidden"> · the cap is num_predict, thinking and answer together</span>
    </span>
  );
}

function Warnings({ plan, run, edited, blocked }: ExperimentHeadProps) {
  const notes = useDraft((state) => state.notes);
  const shown = !edited && run !== null ? run.warnings : (plan?.warnings ?? []);
  const texts = [
    ...new Set([
      ...(run !== null && !edited ? [] : notes),
      ...shown,
      ...(run === null || run.error === null ? [] : [run.error]),
    ]),
  ];
  if (blocked !== null && run?.state !== 'running' && !blocked.startsWith('Correct')) texts.push(blocked);
  if (texts.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="max-h-20 overflow-auto max-[1100px]:max-h-10">
      {texts.map((text) => (
        <li key={text} className="border-l-2 border-field pl-2 wrap-anywhere text-ink">
          {text}
        </li>
      ))}
    </ul>
  );
}

const stateWords: Readonly<Record<ReasoningRun['state'], string>> = {
  running: '',
  done: 'done',
  cancelled: 'stopped',
  interrupted: 'interrupted',
  failed: 'ended early',
};

function Progress({ run, cells }: { run: ReasoningRun; cells: ReadonlyMap<CellKey, ReasoningCell> }) {
  const live = useLivePhase(run.state === 'running' ? run.id : null);
  const done = run.cellsDone + run.cellsFailed;
  if (run.state === 'running') {
    const plan = live === null ? undefined : cells.get(live.cellKey as CellKey)?.plan;
    return (
      <span className="lab" aria-live="off">
        {plan === undefined || live === null
          ? null
          : `${plan.warmUp ? 'warm-up' : laneName(plan)}: ${live.phase === 'streaming' ? 'writing' : (phaseWords[live.phase] ?? live.phase)} · `}
        {count(done)} of {counted(run.cellsTotal, 'call')}
        {run.etaMs === null ? '' : ` · about ${roughDuration(run.etaMs)} left`}
      </span>
    );
  }
  const tookMs = run.endedAt === null ? null : Date.parse(run.endedAt) - Date.parse(run.createdAt);
  return (
    <span className="lab">
      {stateWords[run.state]}
      {run.state === 'done' ? '' : ` after ${count(done)} of ${counted(run.cellsTotal, 'call')}`}
      {run.cellsFailed > 0 ? ` · ${count(run.cellsFailed)} failed` : ''}
      {tookMs === null || run.state !== 'done' ? '' : ` · ${counted(run.cellsTotal, 'call')} in ${duration(tookMs)}`}
    </span>
  );
}

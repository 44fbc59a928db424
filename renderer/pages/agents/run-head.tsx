/** Over the tree: the big figure, what else was spent, and what has to be said about this run. */
import { Play, Square } from 'lucide-react';
import type { AgentNode, AgentRun } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { SimulatedTag, Tag } from '../../components/chip.tsx';
import { counted } from '../../format/numbers.ts';
import { figuresOf } from './run-figures.ts';
import { ReasonMark } from './reason-mark.tsx';
import { clip, runWords } from './words.ts';

export interface RunHeadProps {
  readonly run: AgentRun;
  /** The first agent first. */
  readonly nodes: readonly AgentNode[];
  readonly withoutBudgets: number | null;
  readonly busy: boolean;
  readonly onStop: () => void;
  readonly onResume: () => void;
}

export function RunHead({ run, nodes, withoutBudgets, busy, onStop, onResume }: RunHeadProps) {
  const figures = figuresOf(run, nodes, withoutBudgets);
  const words = runWords(run);
  return (
    <div className="flex-none px-6 pt-2 pb-2">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="headline">{figures.big}</span>
        <span className="min-w-0 flex-1 text-ink">{figures.rest}</span>
        {run.state === 'running' ? (
          <Button
            icon={Square}
            disabled={busy}
            className="self-center"
            title="Ends every agent; the work under way is aborted"
            onClick={onStop}
          >
            Stop all
          </Button>
        ) : null}
        {run.state === 'interrupted' ? (
          <Button
            icon={Play}
            disabled={busy}
            className="self-center"
            title="Goes on with the budgets, guards and messages as they stood"
            onClick={onResume}
          >
            Resume
          </Button>
        ) : null}
      </div>
      <p className="lab wrap-anywhere">{figures.line}</p>
      <div className="mt-1 flex min-h-5 flex-wrap items-center gap-x-2 gap-y-1">
        {run.state === 'running' ? (
          <i className="pulse size-2 flex-none rounded-full bg-ink-2" />
        ) : (
          <ReasonMark words={words} />
        )}
        <span className="text-ink">{words.text}</span>
        {run.simulated ? <SimulatedTag /> : null}
        {run.scripted ? (
          <Tag
            text="scripted model · virtual time"
            title="The model is a script, and seconds are those of its story, not of this clock."
          />
        ) : null}
        {run.task.governed ? null : <Tag text="without budgets" title="Everything was let through and only counted." />}
        {run.scripted ? null : <Tag text={clip(run.task.model, 40)} title={run.task.model} />}
        <span
          className="lab min-w-0 truncate"
          title="Context tokens came into contexts once. Billed: every turn reads its whole context again."
        >
          {figures.other}
        </span>
      </div>
      <Said run={run} />
    </div>
  );
}

/** A run that was cut off, failed, or left something running says so in a sentence. */
function Said({ run }: { run: AgentRun }) {
  const lines = [
    run.state === 'interrupted'
      ? 'The console ended while this run was under way. Resume goes on with what is left of its budgets.'
      : null,
    run.problem,
    run.state !== 'running' && run.openLeases > 0
      ? `${counted(run.openLeases, 'lease')} still open: work outside of the run goes on.`
      : null,
  ].filter((line) => line !== null);
  if (lines.length === 0) return null;
  return (
    <div role="status" className="mt-1 border-l-4 border-l-ink bg-sunk px-3 py-1">
      {lines.map((line) => (
        <p key={line} className="max-h-24 overflow-auto wrap-anywhere text-ink">
          {line}
        </p>
      ))}
    </div>
  );
}

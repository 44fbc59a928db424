/** Start, stop, resume: each refusal becomes a notice, unless the form shows it. */
import type { Denial } from '../../shared/contract/denials.ts';
import type { Experiment } from '../../shared/contract/experiments.ts';
import type { RunId } from '../../shared/contract/ids.ts';
import type { EngineClient } from './engine-store.ts';
import { go } from './screen-store.ts';

/** Goes to the new run. Answers the refusal, null when it started. */
export async function startRun(client: EngineClient, experiment: Experiment): Promise<Denial | null> {
  const started = await (experiment.kind === 'context'
    ? client.request('context.start', experiment)
    : client.request('reasoning.start', experiment));
  if (started.ok) {
    go(experiment.kind, started.value.runId);
    return null;
  }
  client.raiseNotice({ level: 'error', text: started.denial.message, next: started.denial.next ?? null });
  return started.denial;
}

export async function stopRun(client: EngineClient, runId: RunId): Promise<void> {
  raise(client, await client.request('run.cancel', { runId }));
}

export async function resumeRun(client: EngineClient, runId: RunId): Promise<void> {
  raise(client, await client.request('run.resume', { runId }));
}

function raise(client: EngineClient, answer: { ok: true } | { ok: false; denial: Denial }): void {
  if (!answer.ok) client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
}

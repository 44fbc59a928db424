/** What a person does with agent runs. A refusal becomes a notice, with its next step. */
import type { AgentRun, AgentRunId, AgentTaskInput } from '../../../shared/contract/agents.ts';
import type { Denial, Result } from '../../../shared/contract/denials.ts';
import type { ExportOptions } from '../../../shared/contract/experiments.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { saveOpened } from '../../stores/export-run.ts';
import { go } from '../../stores/screen-store.ts';

/** null: it was started, and its page is shown. Else why it was not, for whoever asked to tell. */
export async function startAgentRun(client: EngineClient, task: AgentTaskInput): Promise<Denial | null> {
  const answer = await client.request('agent.start', task);
  if (!answer.ok) return answer.denial;
  go('agents', answer.value.runId);
  return null;
}

/** What has ended in the meantime is as it was wanted: that is no problem to tell of. */
export async function stopAgentRun(client: EngineClient, runId: AgentRunId, nodeId: string | null): Promise<void> {
  const answer = await client.request('agent.cancel', { runId, nodeId });
  if (answer.ok || answer.denial.code !== 'not-found') told(client, answer);
}

export async function resumeAgentRun(client: EngineClient, runId: AgentRunId): Promise<void> {
  if (told(client, await client.request('agent.resume', { runId }))) await client.loadAgentRun(runId);
}

export async function deleteAgentRun(client: EngineClient, run: AgentRun): Promise<boolean> {
  const done = told(client, await client.request('agent.delete', { runId: run.id }));
  if (done) client.forgetAgentRun(run.id);
  return done;
}

/** With the CSV profile of the settings, or the one given. */
export async function exportAgentRun(
  client: EngineClient,
  runId: AgentRunId,
  what: 'calls' | 'nodes' | 'turns',
  format: ExportOptions['format'],
  profile?: Omit<ExportOptions, 'format'>,
): Promise<void> {
  const { settings } = client.store.getState();
  const usual =
    settings === null
      ? {}
      : { profile: settings.csvProfile, separator: settings.csvSeparator, decimalMark: settings.csvDecimalMark };
  const opened = await client.request('agent.export', { runId, what, options: { format, ...(profile ?? usual) } });
  if (told(client, opened)) await saveOpened(client, opened.value);
}

function told<Value>(client: EngineClient, answer: Result<Value>): answer is { ok: true; value: Value } {
  if (answer.ok) return true;
  client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
  return false;
}

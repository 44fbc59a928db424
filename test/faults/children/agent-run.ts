/**
 * Starts an agent run in the folder given and allows its first calls; when the next one waits for a person, and the database
 * says so, it tells `waiting RUN` and stays there until it is killed.
 */
import { writeSync } from 'node:fs';
import { type AgentRunView, agentTaskSchema } from '../../../shared/contract/agents.ts';
import { createRuntime } from '../../../shared/node/runtime.ts';
import { openHome } from '../../../shared/node/storage/home.ts';
import { openStore } from '../../../shared/node/storage/store.ts';
import { systemClock } from '../../../shared/node/runtime.ts';

const [home = '', allowedText = '0', task = '{}'] = process.argv.slice(2);
const made = await createRuntime({
  ...{ host: 'test', home, simulate: true, simulatorTimeScale: 0 },
  environment: { OLLAMA_HOST: '127.0.0.1:1' },
});
if (!made.ok) throw new Error(made.denial.message);
const runtime = made.value;
await runtime.ready;
const context = { screenId: 'child', signal: new AbortController().signal };
let asked = 0;
runtime.subscribe((event) => {
  if (event.type !== 'approval-asked') return;
  asked += 1;
  const { id, runId, call } = event.approval;
  // Answered before it is known to whoever asks, it would be lost.
  if (asked <= Number(allowedText))
    setImmediate(() => void runtime.handle('agent.approve', { id, allow: true }, context));
  else void tellWhenStored(runId, call?.id ?? '');
});
await runtime.handle('agent.start', agentTaskSchema.parse(JSON.parse(task)), context);
setInterval(() => undefined, 60_000);

/** Read as another process reads it: from the file. */
async function tellWhenStored(runId: AgentRunView['run']['id'], callId: string): Promise<void> {
  const place = openHome({ flag: home, environment: {} });
  if (!place.ok) throw new Error(place.denial.message);
  const opened = openStore({ home: place.value, clock: systemClock });
  if (!opened.ok) throw new Error(opened.denial.message);
  for (;;) {
    const calls = opened.value.store.agentRun(runId)?.calls ?? [];
    if (calls.some(({ id, outcome }) => id === callId && outcome === 'waiting-approval')) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  writeSync(1, `waiting ${runId}\n`);
}

/**
 * Runs one agent task from start to exit code. The engine is the one of the console; this only asks, listens and writes.
 */
import type { AgentRunId, AgentRunView, AgentTask } from '../../contract/agents.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import type { ServerStatus } from '../../contract/server.ts';
import { agentPresets } from '../agent/presets.ts';
import { type Runtime, createRuntime } from '../runtime.ts';
import { failuresOf } from './agent-fail-on.ts';
import { type AgentAsk, type AgentCommandOptions, readAgentAsk } from './agent-options.ts';
import { answerText, receiptText } from './agent-receipt.ts';
import { createStepLines } from './agent-steps.ts';
import { type Person, createPerson } from './ask-person.ts';
import { type Ask, askOf } from './engine-client.ts';
import { EXIT, type ExitCode, complain, problemOfStdout, writeOut } from './exit.ts';
import { plainText } from './plain-text.ts';
import { type Sink, openSink } from './sink.ts';
import { type Stopper, createStopper } from './stopper.ts';

export async function agentRun(file: string | undefined, options: AgentCommandOptions): Promise<ExitCode> {
  const asked = readAgentAsk(file, options);
  if (!asked.ok) return refuse(asked.denial, EXIT.badInput);
  const runtime = await createRuntime({
    host: 'command-line',
    home: options.home,
    ollamaUrl: options.ollama,
    simulate: options.simulate,
    // Nobody watches: a script goes as fast as it can.
    simulatorTimeScale: 0,
  });
  if (!runtime.ok) return refuse(runtime.denial, runtime.denial.code === 'bad-input' ? EXIT.badInput : EXIT.failed);
  const stopper = createStopper();
  const person = createPerson({ input: process.stdin, output: process.stderr });
  try {
    return await runOn(runtime.value, asked.value, stopper, person);
  } finally {
    person.release();
    stopper.release();
    await runtime.value.stop();
  }
}

export async function agentPresetList({ json }: { readonly json?: boolean }): Promise<ExitCode> {
  const presets = agentPresets();
  const width = Math.max(...presets.map(({ name }) => name.length));
  await writeOut(
    json === true
      ? `${JSON.stringify(presets)}\n`
      : presets.map(({ name, shows }) => `${name.padEnd(width)}  ${shows}\n`).join(''),
  );
  return EXIT.done;
}

async function runOn(runtime: Runtime, asked: AgentAsk, stopper: Stopper, person: Person): Promise<ExitCode> {
  const ask = askOf(runtime);
  for (const notice of runtime.notices) complain(plainText(notice.text), notice.next);
  await runtime.ready;
  const snapshot = await ask('snapshot.get', {});
  if (!snapshot.ok) return refuse(snapshot.denial, EXIT.failed);
  const task = readyTask(asked, snapshot.value.server);
  if (!task.ok) return refuse(task.denial, codeOf(task.denial));
  if (stopper.asked) return EXIT.cancelled;
  const csv = asked.csv === null ? ok(null) : openSink(asked.csv, KEPT);
  if (!csv.ok) return refuse(csv.denial, EXIT.badInput);
  const watch = watchRun(runtime, ask, person);
  try {
    const started = await ask('agent.start', task.value);
    if (!started.ok) return refuse(started.denial, codeOf(started.denial));
    const { runId } = started.value;
    complain(`${runId}: ${plainText(task.value.name)}, ${plainText(task.value.model)}.`);
    watch.follow(runId);
    stopper.onAsked(() => void ask('agent.cancel', { runId, nodeId: null }));
    await watch.ended;
    const view = await ask('agent.get', { runId });
    if (!view.ok) return refuse(view.denial, EXIT.failed);
    return await conclude(view.value, asked, csv.value, ask);
  } finally {
    watch.release();
    await csv.value?.close();
  }
}

/** The first model that has tools, where none was named. */
function readyTask({ task, anyModel }: AgentAsk, server: ServerStatus): Result<AgentTask> {
  if (!anyModel) return ok(task);
  if (server.state !== 'up') {
    return denied('no-server', plainText(server.problem ?? `No Ollama at ${server.url}.`), {
      next: 'With --simulate the simulator takes its place.',
    });
  }
  const model = server.models.find(({ capabilities, cloud }) => !cloud && capabilities?.includes('tools') === true);
  return model === undefined
    ? denied('bad-input', 'The server names no model with tools.', { field: 'model', next: 'Give --model NAME.' })
    : ok({ ...task, model: model.name });
}

async function conclude(view: AgentRunView, asked: AgentAsk, csv: Sink | null, ask: Ask): Promise<ExitCode> {
  const isStdoutTaken = asked.json || asked.csv === '-';
  if (asked.json) await writeOut(`${JSON.stringify(view)}\n`);
  const problem = csv === null ? null : await writeCalls(view, asked, csv, ask);
  const receipt = receiptText(view);
  if (isStdoutTaken) process.stderr.write(receipt);
  else await writeOut(`${answerText(view)}${receipt}`);
  if (problem !== null) return refuse(problem, EXIT.failed);
  const { state } = view.run;
  if (state === 'cancelled' || state === 'interrupted') {
    complain('Cancelled.');
    return EXIT.cancelled;
  }
  if (state === 'failed') {
    complain(plainText(view.run.problem ?? 'The run failed.', 1_000));
    return EXIT.failed;
  }
  const failures = failuresOf(view).filter((name) => asked.failOn.has(name));
  if (failures.length === 0) return EXIT.done;
  complain(`--fail-on: ${failures.join(', ')}.`);
  return EXIT.failOn;
}

const KEPT = 'The run is kept; export it again from the Agents page.';

async function writeCalls(view: AgentRunView, asked: AgentAsk, csv: Sink, ask: Ask): Promise<Denial | null> {
  const opened = await ask('agent.export', { runId: view.run.id, what: 'calls', options: asked.csvOptions });
  if (!opened.ok) return opened.denial;
  for (;;) {
    const read = await ask('export.read', { exportId: opened.value.exportId });
    if (!read.ok) return read.denial;
    await csv.write(read.value.chunk);
    if (read.value.done) break;
  }
  if (view.callsDropped > 0) complain(`Note: the first ${view.callsDropped} calls are counted, and not in the table.`);
  const problem = await csv.close();
  const stdout = problemOfStdout();
  return problem ?? (stdout === null ? null : denied('storage-failed', stdout, { next: KEPT }).denial);
}

interface RunWatch {
  /** Events before this belong to no run yet; they are kept and looked at then. */
  follow(runId: AgentRunId): void;
  readonly ended: Promise<void>;
  release(): void;
}

/** Tells steps as they happen, and puts to a person what has to be allowed. */
function watchRun(runtime: Runtime, ask: Ask, person: Person): RunWatch {
  const early: EngineEvent[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let steps: ReturnType<typeof createStepLines> | null = null;
  let followed: AgentRunId | null = null;

  function take(event: EngineEvent): void {
    steps?.take(event);
    if (event.type === 'notice-raised' && event.level !== 'info') complain(plainText(event.text), event.next);
    if (event.type === 'approval-asked' && event.approval.runId === followed) {
      const { id } = event.approval;
      void person.ask(event.approval).then((allow) => ask('agent.approve', { id, allow }));
    }
    if (event.type === 'approval-ended') person.takeBack(event.id);
    if (event.type === 'agent-run-changed' && event.run.id === followed && event.run.state !== 'running') {
      steps?.end();
      resolve();
    }
  }

  const release = runtime.subscribe((event) => {
    if (followed === null && event.type !== 'notice-raised') early.push(event);
    else take(event);
  });
  return {
    follow(runId) {
      followed = runId;
      steps = createStepLines(runId, (line) => process.stderr.write(`${line}\n`));
      for (const event of early.splice(0)) take(event);
    },
    ended,
    release,
  };
}

/** What the server or the disk did is no mistake of whoever asked. */
const codeOf = (denial: Denial): ExitCode =>
  /^(?:no-server|server-error|busy|internal|cancelled|storage-)/.test(denial.code) ? EXIT.failed : EXIT.badInput;

function refuse(denial: Denial, code: ExitCode): ExitCode {
  complain(plainText(denial.message, 1_000), denial.next === undefined ? null : plainText(denial.next, 1_000));
  return code;
}

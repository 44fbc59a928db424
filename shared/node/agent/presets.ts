/** Tasks that are ready to run: one for every script that is worth a look, and some for a model of the server. */
import { type AgentPreset, type AgentTaskInput, agentTaskSchema } from '../../contract/agents.ts';
import { farmTask } from '../../engine/agent-lab/farm-task.ts';
import { STUBBORN } from '../../engine/agent-lab/jobs.ts';
import { type ScriptName, scripts } from '../../engine/agent-lab/scripts.ts';
import { PAGES } from './tools-big-page.ts';

/** model: for the tasks that want a real one, until a person has chosen. */
export function agentPresets(model = 'choose a model with tools'): AgentPreset[] {
  return [
    ...scripted.map(({ script, title, shows, prompt, change }) =>
      preset(script, title, shows, {
        prompt,
        model: `script:${script}`,
        tools: [...scripts[script].tools],
        ...change,
      }),
    ),
    {
      name: 'farm-reader',
      title: 'Link farm',
      shows: 'A site that asks for all of itself to be read: 1,976 calls without the ledger, 58 with it.',
      scripted: true,
      task: farmTask(),
    },
    ...real.map(({ name, title, shows, ...task }) => preset(name, title, shows, { model, ...task })),
  ];
}

function preset(name: string, title: string, shows: string, task: AgentTaskInput): AgentPreset {
  const parsed = agentTaskSchema.parse({ name: title, ...task });
  return { name, title, shows, scripted: parsed.model.startsWith('script:'), task: parsed };
}

interface ScriptedPreset {
  readonly script: ScriptName;
  readonly title: string;
  readonly shows: string;
  readonly prompt: string;
  readonly change?: Partial<AgentTaskInput>;
}

const scripted: readonly ScriptedPreset[] = [
  {
    script: 'status-asker',
    title: 'Call again',
    shows: 'A status that says “call again” for ever: the third equal answer ends the run.',
    prompt: 'Where is order 1042?',
  },
  {
    script: 'clock-watcher',
    title: 'Watching the clock',
    shows: 'Every answer differs by some seconds, so only the count of equal calls can tell the loop.',
    prompt: 'Tell me when it is 17:00.',
  },
  {
    script: 'cycler',
    title: 'Read, edit, test',
    shows: 'Three calls in a circle, none like the one before; a look at pairs would not see it.',
    prompt: 'Make the tests pass.',
  },
  {
    script: 'alternator',
    title: 'Two orders in turn',
    shows: 'Two calls that alternate: each state comes back, and nothing new with it.',
    prompt: 'Where are orders 1042 and 1043?',
  },
  {
    script: 'key-shuffler',
    title: 'Same call, other order',
    shows: 'The same search with its fields in another order each time: the fingerprint is the same.',
    prompt: 'Find the missing line in the documents.',
  },
  {
    script: 'range-drifter',
    title: 'Drifting range',
    shows: 'A file read again and again, ten lines further on: no two calls are equal, and hardly a line is new.',
    prompt: 'Read the handbook.',
  },
  {
    script: 'mumbler',
    title: 'Broken arguments',
    shows: 'A model that never gets its arguments right is told so, and then stopped.',
    prompt: 'Search for guests.',
  },
  {
    script: 'recursive-spawner',
    title: 'Agents that start agents',
    shows:
      'Every agent gives its own task to three more: the budget of each is carved out of the one above, so it ends.',
    prompt: 'Give this task to 3 agents.',
  },
  {
    script: 'sequential-spawner',
    title: 'One agent after the other',
    shows: 'Never more than one at a time, and yet no end: the count over the life of a run holds.',
    prompt: 'Look at every part of the archive.',
  },
  {
    script: 'five-hundred',
    title: 'Five hundred calls in a turn',
    shows: 'Eight calls run; each of the others is answered “not run”, so the transcript stays whole.',
    prompt: 'Read the handbook line by line.',
  },
  {
    script: 'flaky-fetcher',
    title: 'A busy server',
    shows: 'The server fails and then works: one layer tries again, and each attempt is paid.',
    prompt: 'What does the status page say?',
  },
  {
    script: 'naive-fetcher',
    title: 'Retries on top of retries',
    shows: 'A server that is down, and a model that repeats what the gateway has repeated: the breaker opens.',
    prompt: 'Is the server up?',
  },
  {
    script: 'big-page-reader',
    title: 'A page of ten megabytes',
    shows:
      '16,000 bytes come into the context, the rest waits behind a handle; the model reads on until it has what it needs.',
    prompt: `Find the code word in ${PAGES.tenMegabytes}`,
  },
  {
    script: 'job-forgetter',
    title: 'Jobs that nobody ends',
    shows: 'Jobs that go on after the answer are ended with the run; one cannot be, and the run says so.',
    prompt: `Start these jobs: backup, index, mail, ${STUBBORN}.`,
  },
  {
    script: 'poller',
    title: 'Honest waiting',
    shows: 'The same question again and again, because there is something to wait for: no guard stops it.',
    prompt: 'Run this job: backup.',
  },
  {
    script: 'reader',
    title: 'Work that is done',
    shows: 'An agent that reads what it needs and answers: the guards leave it alone.',
    prompt: 'Is the code in order?',
  },
];

const real: readonly (Omit<AgentTaskInput, 'model'> & {
  readonly name: string;
  readonly title: string;
  readonly shows: string;
})[] = [
  {
    name: 'model-files',
    title: 'A model with files',
    shows: 'How your model uses tools: which files it reads, how much it repeats, and when it answers.',
    prompt:
      'Find out which file of the docs folder says something about room keys or doors. Answer with its name and one sentence of it.',
    tools: ['files'],
  },
  {
    name: 'model-carrier',
    title: 'A model that is told to call again',
    shows: 'Whether your model does what a tool’s answer tells it to, and how soon the guard has to stop it.',
    prompt: 'A customer asks where order 1042 is. Look it up and answer in one sentence.',
    tools: ['carrier'],
  },
];

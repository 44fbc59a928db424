/** Jobs that go on after the call that started them. A lease holds each one, unless nobody is there to hold it. */
import { seedFor } from '../context-lab/random.ts';
import { type Tool, type ToolAnswer, TOOL_DEFAULTS } from '../gateway/tool.ts';
import { type Sleep, done, failed, quoted, takes, textOfField } from './lab-tool.ts';

/** A job of this name cannot be ended: its run ends with an open lease, and says so. */
export const STUBBORN = 'stubborn';

const START_PRICE = 20_000_000;
const START_WORST = 50_000_000;
const START_MS = 500;
const LOOK_MS = 2_000;
const LOOKS_MIN = 4;
const LOOKS_MORE = 5;
const JOBS_MAX = 1_000;

interface Job {
  readonly id: string;
  readonly name: string;
  looks: number;
  state: 'running' | 'done' | 'cancelled';
}

/** hasLeases false: started jobs are nobody's, as where there is no ledger. */
export function jobTools(
  seed: number,
  sleep: Sleep,
  { hasLeases = true }: { readonly hasLeases?: boolean } = {},
): Tool[] {
  const jobs = new Map<string, Job>();

  function start(name: string): ToolAnswer {
    if (jobs.size >= JOBS_MAX) return failed(`${JOBS_MAX} jobs were started already.`);
    const job: Job = { id: `job-${jobs.size + 1}`, name, looks: 0, state: 'running' };
    jobs.set(job.id, job);
    const what = `${job.id} ${quoted(name)}`;
    return done(statusOf(job), START_PRICE, hasLeases ? { what, release: () => release(job) } : null);
  }

  async function release(job: Job): Promise<void> {
    if (job.state !== 'running') return;
    await sleep(START_MS);
    if (job.name === STUBBORN) throw new Error(`${job.id} does not end`);
    job.state = 'cancelled';
  }

  function look(id: string): ToolAnswer {
    const job = jobs.get(id);
    if (job === undefined) return failed(`There is no job ${quoted(id)}.`);
    if (job.state === 'running') {
      job.looks += 1;
      if (job.looks >= looksUntilDone(seed, job.name)) job.state = 'done';
    }
    return done(statusOf(job));
  }

  function cancel(id: string): ToolAnswer {
    const job = jobs.get(id);
    if (job === undefined) return failed(`There is no job ${quoted(id)}.`);
    if (job.state === 'running' && job.name === STUBBORN) return failed(`${job.id} does not end.`);
    if (job.state === 'running') job.state = 'cancelled';
    return done(statusOf(job));
  }

  const statusOf = ({ id, name, state, looks }: Job): string => {
    const percent = Math.floor((100 * looks) / looksUntilDone(seed, name));
    return JSON.stringify({ job: id, state, ...(state === 'running' ? { percent } : {}) });
  };

  const spec = { ...TOOL_DEFAULTS, outputBytesUsual: 60, upstream: 'jobs.example' };
  return [
    {
      spec: {
        ...spec,
        name: 'start_job',
        description: 'Starts a job, which goes on until it is done or cancelled.',
        ...takes({ name: 'text' }),
        nanoDollarsWorst: START_WORST,
        latencyMsUsual: START_MS,
        sideEffect: true,
      },
      async invoke(args) {
        await sleep(START_MS);
        return start(textOfField(args, 'name'));
      },
    },
    {
      spec: {
        ...spec,
        name: 'job_status',
        description: 'Tells how far a job is.',
        ...takes({ job: 'text' }),
        latencyMsUsual: LOOK_MS,
        polls: true,
      },
      async invoke(args) {
        await sleep(LOOK_MS);
        return look(textOfField(args, 'job'));
      },
    },
    {
      spec: {
        ...spec,
        name: 'cancel_job',
        description: 'Ends a job.',
        ...takes({ job: 'text' }),
        latencyMsUsual: START_MS,
      },
      async invoke(args) {
        await sleep(START_MS);
        return cancel(textOfField(args, 'job'));
      },
    },
  ];
}

/** A job is done when it was looked at so often: the lab's time passes with what is done in it. */
export function looksUntilDone(seed: number, name: string): number {
  return LOOKS_MIN + (seedFor(seed, name) % LOOKS_MORE);
}

/** Models that do honest work, and some that are careless about it. */
import { HANDBOOK } from './file-tree.ts';
import { ATTEMPTS_MAX } from './flaky.ts';
import { type Decide, type PastCall, call, listIn } from './script-kit.ts';

const JOBS = ['backup', 'index', 'mail', 'report', 'thumbnails', 'cleanup'];
const LINES_AT_ONCE = 500;
const FILES_AT_ONCE = 2;
const PAGE_URL = 'https://pages.example/ten-megabytes';

/** Starts a job and asks for it until it is over. Its calls are all the same, and that is right. */
export const poller: Decide = ({ task, calls, lastRan }) => {
  const started = calls.find(({ name, ran }) => name === 'start_job' && ran);
  if (started === undefined) return [call('start_job', { name: listIn(task)[0] ?? JOBS[0] })];
  if (lastRan?.name === 'job_status' && !lastRan.text.includes('"running"')) return `The job ended: ${lastRan.text}`;
  return [call('job_status', { job: /job-\d+/.exec(started.text)?.[0] ?? '' })];
};

/** Starts its jobs and answers: that they go on is nothing to it. */
export const jobForgetter: Decide = ({ task, calls }) => {
  if (calls.length > 0) return `Started ${calls.filter(({ ran }) => ran).length} jobs.`;
  const named = listIn(task);
  return (named.length > 0 ? named : JOBS).map((name) => call('start_job', { name }));
};

/** Lists a folder, reads its files, two in a step, and answers. */
export const reader: Decide = ({ calls }) => {
  const list = calls.find(({ name, ran }) => name === 'list_files' && ran);
  if (list === undefined) return [call('list_files', { folder: 'src' })];
  const read = new Set(calls.flatMap(({ name, args }) => (name === 'read_file' ? [args['path']] : [])));
  const unread = pathsIn(list).filter((path) => !read.has(path));
  if (unread.length > 0) return unread.slice(0, FILES_AT_ONCE).map((path) => call('read_file', { path }));
  return `Read ${read.size} files: the code is in order.`;
};

/** Asks for all lines of a file in one turn, and answers with what it got. */
export const fiveHundred: Decide = ({ calls }) => {
  if (calls.length > 0) return `Got ${calls.filter(({ ran }) => ran).length} of ${calls.length} lines.`;
  return Array.from({ length: LINES_AT_ONCE }, (_, at) =>
    call('read_file', { path: HANDBOOK, from: at + 1, to: at + 1 }),
  );
};

/** Fetches once, and takes what comes back: whether to try again is the gateway's business. */
export const flakyFetcher: Decide = ({ lastRan, last }) =>
  last === null ? [call('fetch_flaky', { path: 'status' })] : `The page says: ${lastRan?.text ?? 'nothing'}`;

/** Repeats what failed, on top of whatever was repeated below it. */
export const naiveFetcher: Decide = ({ calls, lastRan }) => {
  if (lastRan !== null && !lastRan.text.startsWith('503')) return `The page says: ${lastRan.text}`;
  return calls.length < ATTEMPTS_MAX ? [call('fetch_down', { path: 'status' })] : 'The server is down.';
};

/** Looks for a sentence in a page; where the page was cut it reads on. */
export const bigPageReader: Decide = ({ task, calls, last }) => {
  for (const { text } of calls) {
    const word = /The code word is (\w+)\./.exec(text)?.[1];
    if (word !== undefined) return `The code word is ${word}.`;
  }
  if (last === null) return [call('fetch_page', { url: /https:\/\/\S+/.exec(task)?.[0] ?? PAGE_URL })];
  const next = readOn(calls);
  return next === null ? 'There is no code word in it.' : [call('read_blob', next)];
};

/** Where the last output that was cut goes on. */
function readOn(calls: readonly PastCall[]): { handle: string; offset: number } | null {
  const last = calls.at(-1);
  if (last === undefined || !last.ran) return null;
  const cut = /read_blob\(handle='([^']+)', offset=(\d+)\)\]/.exec(last.text.slice(-TEXT_END));
  if (cut !== null) return { handle: cut[1] ?? '', offset: Number(cut[2]) };
  const page = /; go on at offset=(\d+)\]/.exec(last.text.slice(-TEXT_END));
  const { handle } = last.args;
  return page === null || typeof handle !== 'string' ? null : { handle, offset: Number(page[1]) };
}

/** Marks stand at the end; an output of megabytes is not looked through for them. */
const TEXT_END = 400;

function pathsIn({ text }: PastCall): string[] {
  return text.split('\n').flatMap((line) => {
    const name = /^"(?:[^"\\]|\\.)*"/.exec(line)?.[0];
    return name === undefined ? [] : [JSON.parse(name) as string];
  });
}

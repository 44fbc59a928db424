/** Models that go round in circles, each in its own way. None knows that it does: each looks at what it was given last. */
import { BROKEN_FILE, HANDBOOK } from './file-tree.ts';
import { type Decide, call, numbersIn } from './script-kit.ts';

const ORDER = 1_042;
const OTHER_ORDER = 1_043;

/** Does what the last answer says: "call again". A refusal is no status, so it asks again after one, too. */
export const statusAsker: Decide = ({ task, lastRan }) => {
  const [orderId] = numbersIn(task, [ORDER]);
  const isFinal = lastRan !== null && !/\bcall \w+ again\b/i.test(lastRan.text);
  return isFinal ? `The order: ${lastRan.text}` : [call('get_shipment_status', { orderId })];
};

/** Waits for a time of the day by looking at the clock. Each answer differs, so each looks like news. */
export const clockWatcher: Decide = ({ task, lastRan }) => {
  const until = /\b\d{2}:\d{2}\b/.exec(task)?.[0] ?? '17:00';
  const now = /\d{2}:\d{2}/.exec(lastRan?.text ?? '')?.[0] ?? '';
  return now >= until ? `It is ${until}.` : [call('get_time', {})];
};

/** Read, edit, test, and again while the test fails. */
export const cycler: Decide = ({ last }) => {
  if (last?.name === 'read_file') return [call('edit_file', { path: BROKEN_FILE, old: 'Part 1', new: 'Part one' })];
  if (last?.name === 'edit_file') return [call('run_tests', {})];
  if (last?.name === 'run_tests' && last.ran && !last.text.includes('failed')) return 'The tests pass.';
  return [call('read_file', { path: BROKEN_FILE, from: 1, to: 20 })];
};

/** Two orders in turn: none of its calls is like the one before. */
export const alternator: Decide = ({ task, last, lastRan }) => {
  const [first, second] = numbersIn(task, [ORDER, OTHER_ORDER]);
  if (lastRan !== null && !lastRan.text.includes('pending')) return 'Both orders are on their way.';
  return [call('get_shipment_status', { orderId: last?.args['orderId'] === first ? second : first })];
};

/** The same search, its fields in another order each time. */
export const keyShuffler: Decide = ({ last, lastRan }) => {
  if (lastRan !== null && !lastRan.text.startsWith('No line')) return `Found: ${lastRan.text}`;
  const query = 'a line that is not there';
  const queryWasFirst = last?.argumentsText.startsWith('{"query"') === true;
  return [call('search_files', queryWasFirst ? { folder: 'docs', query } : { query, folder: 'docs' })];
};

const RANGE_LINES = 220;
const DRIFT_LINES = 10;

/** Reads a file again and again, each time a few lines further on: no two calls are the same, and hardly a line is new. */
export const rangeDrifter: Decide = ({ last }) => {
  if (last?.ran === true && /has \d+ lines\.$/.test(last.text)) return 'The file is read.';
  const from = last === null ? 1 : Number(last.args['from'] ?? 1) + DRIFT_LINES;
  return [call('read_file', { path: HANDBOOK, from, to: from + RANGE_LINES - 1 })];
};

/** Never gets its arguments right, and does not look at what is said about them. */
export const mumbler: Decide = ({ lastRan }) =>
  lastRan === null ? [{ id: '', name: 'search_files', argumentsText: '{"query": "guests", ' }] : lastRan.text;

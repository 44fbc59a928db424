/**
 * Compares a reply of the simulator with the recorded one: what must be equal is compared as it is, what depends on clock,
 * machine or weights by its kind only.
 */
import type { RawReply, Recording } from './recordings.ts';

/** Sentences, one a difference; [] = conforms. */
export function differences(recorded: RawReply, replied: RawReply): string[] {
  return [
    ...differ('status line', recorded.status_line, replied.status_line),
    ...differ('headers', headersOf(recorded), headersOf(replied)),
    ...differ('framing', framingOf(recorded), framingOf(replied)),
    ...bodyDifferences(recorded.body, replied.body),
  ];
}

/** Log lines of one call. The recordings have reduced logs: lines of other kinds, and access lines they left out, do not count. */
export function logDifferences(recorded: readonly string[], logged: readonly string[]): string[] {
  const expected = shapesOf(recorded);
  const hasAccess = expected.some((shape) => shape.startsWith('GIN'));
  const found = shapesOf(logged).filter((shape) => hasAccess || !shape.startsWith('GIN'));
  const missing = without(expected, found).map((shape) => `log line missing: ${clip(shape)}`);
  const extra = without(found, expected).map((shape) => `log line extra: ${clip(shape)}`);
  if (missing.length + extra.length > 0) return [...missing, ...extra];
  return differ('log order', expected, found);
}

function without(shapes: readonly string[], others: readonly string[]): string[] {
  const rest = [...others];
  return shapes.filter((shape) => {
    const at = rest.indexOf(shape);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Values of these keys depend on clock, machine or chance: only their type is compared. */
const volatileKeys = new Set([
  'created_at',
  'total_duration',
  'load_duration',
  'prompt_eval_duration',
  'eval_duration',
  'logprob',
  'modified_at',
  'expires_at',
  'size',
  'digest',
  'created',
  'top_logprobs',
  'context',
  'embedding',
  'embeddings',
  'created_at',
  'completed_at',
  'signature',
  'parameters',
]);

/** Facts of the real weights: the keys are compared, the values are the model's. */
const factKeys = /(?:^|\.)(?:model_info\.|modelfile$|tensors\[)/;

function differ(what: string, recorded: unknown, replied: unknown): string[] {
  const [a, b] = [JSON.stringify(recorded), JSON.stringify(replied)];
  return a === b ? [] : [`${what}: recorded ${clip(a)}, simulated ${clip(b)}`];
}

/** Names and values in order; Date and Content-Length by name only. */
function headersOf(reply: RawReply): string[] {
  return reply.headers.map(([name, value]) =>
    name === 'Date' || name === 'Content-Length' ? name : `${name}: ${value}`,
  );
}

/** How chunks and lines lie: one line a chunk, or one chunk for all. */
function framingOf(reply: RawReply): unknown {
  if (!reply.chunked) return { chunked: false, parts: reply.chunk_sizes.length };
  let at = 0;
  const bytes = Buffer.from(reply.body, 'utf8');
  const ends = reply.chunk_sizes.map((size) => {
    at += size;
    return bytes[at - 1] === 10 ? 'line' : 'part';
  });
  return {
    chunked: true,
    parts: ends.length,
    last: ends.at(-1) ?? null,
    allLines: ends.every((end) => end === 'line'),
  };
}

function bodyDifferences(recorded: string, replied: string): string[] {
  const [a, b] = [linesOf(recorded), linesOf(replied)];
  if (a.length !== b.length)
    return [`lines: recorded ${a.length} ${clip(a.at(-1) ?? '')}, simulated ${b.length} ${clip(b.at(-1) ?? '')}`];
  return a.flatMap((line, index) => lineDifferences(line, b[index] ?? '', index)).slice(0, 5);
}

function linesOf(body: string): string[] {
  const lines = body.split('\n');
  return body.endsWith('\n') ? [...lines.slice(0, -1), ''] : lines;
}

function lineDifferences(recorded: string, replied: string, index: number): string[] {
  const [a, b] = [parsed(recorded), parsed(replied)];
  if (a === null || b === null)
    return recorded === replied ? [] : [`line ${index}: recorded ${clip(recorded)}, simulated ${clip(replied)}`];
  return valueDifferences(a.value, b.value, `line ${index}`);
}

/** JSON of a line, also behind the `data: ` of an event stream. */
function parsed(line: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(line.startsWith('data: ') ? line.slice(6) : line) as unknown };
  } catch {
    return null;
  }
}

function valueDifferences(recorded: unknown, replied: unknown, path: string): string[] {
  const key = path.slice(path.lastIndexOf('.') + 1);
  if (key === 'tensors' && Array.isArray(recorded) && Array.isArray(replied))
    return valueDifferences(recorded[0], replied[0], `${path}[0]`);
  if (factKeys.test(path) && typeof recorded !== 'object') return [];
  if (typeOf(recorded) !== typeOf(replied))
    return [
      `${path}: recorded ${typeOf(recorded)} ${clip(JSON.stringify(recorded))}, simulated ${typeOf(replied)} ${clip(JSON.stringify(replied))}`,
    ];
  if (key === 'context' && Array.isArray(recorded) && Array.isArray(replied))
    return differ(`${path} length`, recorded.length, replied.length);
  if (Array.isArray(recorded) && Array.isArray(replied)) {
    if (volatileKeys.has(key) || factKeys.test(path)) return [];
    if (recorded.length !== replied.length)
      return [`${path}: recorded ${recorded.length} entries, simulated ${replied.length}`];
    return recorded.flatMap((value, index) => valueDifferences(value, replied[index], `${path}[${index}]`));
  }
  if (typeof recorded === 'object' && recorded !== null) return objectDifferences(recorded, replied as object, path);
  if (key === 'id') return differ(path, idShape(recorded), idShape(replied));
  return volatileKeys.has(key) ? [] : differ(path, recorded, replied);
}

/** Ids are drawn: their pattern counts. */
function idShape(id: unknown): unknown {
  if (typeof id !== 'string') return typeOf(id);
  return id
    .replace(/^(chatcmpl|cmpl)-\d{1,3}$/, '$1-N')
    .replace(/^(resp|msg|rs|fc)_\d{1,6}$/, '$1_N')
    .replace(/^(msg|req)_[\da-f]{24}$/, '$1_X')
    .replace(/^call_[a-z\d]{8}$/, 'call_X');
}

function objectDifferences(recorded: object, replied: object, path: string): string[] {
  const order = differ(`${path} keys`, Object.keys(recorded), Object.keys(replied));
  if (order.length > 0) return order;
  return Object.entries(recorded).flatMap(([key, value]) =>
    valueDifferences(value, (replied as Record<string, unknown>)[key], `${path}.${key}`),
  );
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** A log line without clock, task, port, elapsed time and the machine's paths; null = a kind the recordings leave out. */
export function logShape(line: string): string | null {
  if (line.startsWith('[GIN]')) {
    const match = /\| (\d+) \|.*\| +(\S+) \| (\S+) +"([^"]+)"/.exec(line);
    return match === null ? null : `GIN ${match[1]} ${match[2]} ${match[3]} ${match[4]}`;
  }
  if (line.startsWith('time=')) {
    const rest = line
      .replace(/^time=\S+ /, '')
      .replace(/--port \d+/, '--port N')
      .replace(/source=(\S+):\d+/, 'source=$1');
    return keptMessages.some((message) => rest.includes(`msg="${message}"`)) ? rest : null;
  }
  if (!/^slot |send_error/.test(line)) return null;
  return line
    .replace(/task \d+/, 'task N')
    .replace(/task id = \d+/, 'task id = N')
    .replace(/id +\d+ \|/, 'id N |');
}

const keptMessages = [
  'truncating input prompt',
  'truncating input messages which exceed context length',
  'truncating native chat messages which exceed context length',
  'requested context size too large for model',
  'starting llama-server',
  'invalid option provided',
  'prediction aborted, token repeat limit reached',
  'qwen3 tool call parsing failed',
  'qwen tool call parsing failed',
  'qwen3.5 tool call parsing failed',
];

/** Access and release lines race on the real server: they are put at the end, in order of their text. */
function shapesOf(lines: readonly string[]): string[] {
  const shapes = lines.map(logShape).filter((shape) => shape !== null);
  const races = (shape: string): boolean => shape.startsWith('GIN') || shape.includes('release:');
  return [...shapes.filter((shape) => !races(shape)), ...shapes.filter(races).sort()];
}

function clip(text: string): string {
  return text.length <= 400 ? text : `${text.slice(0, 250)} ... ${text.slice(-120)}`;
}

export type { Recording };

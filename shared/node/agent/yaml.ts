/**
 * Reads an agent task from a YAML (or JSON) file. Fields are named as in the contract (`numPredict`) or with underscores
 * (`num_predict`); amounts may be given in dollars (`dollars`), time in seconds (`seconds`). What is wrong is told with file,
 * line, column and field.
 */
import { LineCounter, type Document, type Node, isAlias, isMap, isScalar, parseDocument } from 'yaml';
import { type AgentTask, agentTaskSchema } from '../../contract/agents.ts';
import { type Result, denied, issueMessage, ok } from '../../contract/denials.ts';
import { nearest } from '../experiments/nearest.ts';
import { plainName } from '../experiments/yaml-forms.ts';
import { type FieldName, type Form, fieldOf, formOf, namesOf } from './yaml-fields.ts';

export interface ParsedTask {
  readonly task: AgentTask;
  /** `mcp_servers: {file: …}` as the file gives it; null = the servers stand in the task, or there are none. */
  readonly serversFile: string | null;
}

export interface TaskDefaults {
  /** Taken where the file names no model. */
  readonly model?: string;
}

/** Denials are `bad-input`; their message begins with `file:line:column`, and `field` is the path in the contract. */
export function parseTaskYaml(text: string, fileName: string, defaults: TaskDefaults = {}): Result<ParsedTask> {
  if (text.length > YAML_CHARACTERS_MAX) {
    return denied('bad-input', `${fileName}: longer than ${YAML_CHARACTERS_MAX} characters.`, {
      next: 'Give a shorter prompt.',
    });
  }
  const lines = new LineCounter();
  const document = parseDocument(text.replace(/^\ufeff/, ''), {
    ...{ lineCounter: lines, prettyErrors: false, logLevel: 'silent', uniqueKeys: true },
  });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const broken = document.errors[0];
  if (broken !== undefined) {
    return denied('bad-input', `${at(broken.pos[0])}: ${sentence(broken.message)}`, {
      next: 'Correct the YAML there.',
    });
  }
  if (!isMap(document.contents)) {
    return denied('bad-input', `${fileName}:1:1: a task is a list of fields, such as \`prompt: Find the bug.\``, {
      next: EXAMPLE,
    });
  }
  const read = createReader(document, at);
  const value = read.value(document.contents, formOf(agentTaskSchema), []);
  if (!value.ok) return value;
  return build(value.value as Record<string, unknown>, read.placeOf, fileName, defaults);
}

const YAML_CHARACTERS_MAX = 2_000_000;
const ALIASES_MAX = 100;
const NODES_MAX = 100_000;
const EXAMPLE = 'Give at least `prompt` and `model`.';

type At = (offset: number) => string;
type Path = readonly (string | number)[];
interface Place {
  readonly offset: number;
  readonly written: string;
}

interface Reader {
  value(node: unknown, form: Form, path: Path): Result<unknown>;
  /** Where the field stands, or the nearest one around it; null = none of them is written. */
  placeOf(path: Path): { readonly at: string; readonly name: string } | null;
}

function createReader(document: Document, at: At): Reader {
  const places = new Map<string, Place>();
  let nodes = 0;

  function value(given: unknown, form: Form, path: Path): Result<unknown> {
    nodes += 1;
    if (nodes > NODES_MAX)
      return denied('bad-input', `${at(offsetOf(given))}: the file repeats itself too often.`, {
        next: 'Leave aliases out.',
      });
    const node = isAlias(given) ? given.resolve(document) : given;
    if (form.kind === 'leaf' || !isMap(node)) return leaf(node);
    const entries: [string, unknown][] = [];
    for (const pair of node.items) {
      if (!isScalar(pair.key)) return denied('bad-input', `${at(offsetOf(pair.key))}: a field name is a word.`);
      const written = String(pair.key.value);
      const found: FieldName | null =
        form.kind === 'record' ? { name: written, convert: null } : fieldOf(form, written);
      const offset = offsetOf(pair.key);
      if (found === null) return unknownField(form, written, contractPath([...writtenPath(path), written]), at(offset));
      const inner = [...path, found.name];
      const key = keyOf(inner);
      if (places.has(key)) {
        return denied('bad-input', `${at(offset)}: ${written} is given twice.`, {
          field: contractPath(inner),
          next: 'Keep one of them.',
        });
      }
      places.set(key, { offset: pair.value === null ? offset : offsetOf(pair.value), written });
      const read = value(pair.value, form.kind === 'record' ? form.value : form.of(found.name), inner);
      if (!read.ok) return read;
      if (found.convert !== null && read.value !== null && typeof read.value !== 'number') {
        const name = contractPath(writtenPath(inner));
        return denied('bad-input', `${at(places.get(key)?.offset ?? offset)}: ${name}: must be a number.`, {
          field: contractPath(inner),
          next: 'Correct it and run again.',
        });
      }
      entries.push([found.name, found.convert === null ? read.value : found.convert(read.value)]);
    }
    // Built from entries: `__proto__` is a name like every other.
    return ok(Object.fromEntries(entries));
  }

  function leaf(node: unknown): Result<unknown> {
    if (node === null || node === undefined) return ok(null);
    try {
      return ok((node as Node).toJS(document, { maxAliasCount: ALIASES_MAX }) as unknown);
    } catch (error) {
      return denied('bad-input', `${at(offsetOf(node))}: ${sentence(error instanceof Error ? error.message : '')}`);
    }
  }

  /** As the names stand in the file. */
  function writtenPath(path: Path): Path {
    return path.map((step, index) => places.get(keyOf(path.slice(0, index + 1)))?.written ?? step);
  }

  function placeOf(path: Path): { at: string; name: string } | null {
    for (let length = path.length; length > 0; length -= 1) {
      const place = places.get(keyOf(path.slice(0, length)));
      if (place === undefined) continue;
      const written = writtenPath(path.slice(0, length));
      return { at: at(place.offset), name: contractPath([...written, ...path.slice(length)]) };
    }
    return null;
  }

  return { value, placeOf };
}

function unknownField(form: Form, written: string, path: string, place: string): Result<never> {
  const known = namesOf(form);
  const close = nearest(written, known);
  return denied('bad-input', `${place}: there is no field ${path}.`, {
    field: path,
    next: close === null ? `Fields are ${known.join(', ')}.` : `Did you mean ${close}?`,
  });
}

function build(
  fields: Record<string, unknown>,
  placeOf: Reader['placeOf'],
  fileName: string,
  { model }: TaskDefaults,
): Result<ParsedTask> {
  const servers = fields['mcpServers'];
  const serversFile = fileOf(servers);
  const input = {
    ...(model === undefined ? {} : { model }),
    ...fields,
    ...(serversFile === null ? {} : { mcpServers: {} }),
  };
  for (const [name, example] of [
    ['prompt', 'Add a line such as `prompt: Find the bug.`'],
    ['model', 'Add a line such as `model: qwen3`, or give --model NAME.'],
  ] as const) {
    if (name in input) continue;
    return denied('bad-input', `${fileName}:1:1: ${name} is missing.`, { field: name, next: example });
  }
  const parsed = agentTaskSchema.safeParse(input);
  if (parsed.success) return ok({ task: parsed.data, serversFile });
  const issue = parsed.error.issues[0];
  const path = (issue?.path ?? []).filter((step) => typeof step !== 'symbol');
  const place = placeOf(path);
  const words = sentence(issue === undefined ? 'not as expected' : issueMessage(issue));
  const name = place?.name ?? contractPath(path);
  return denied(
    'bad-input',
    `${place?.at ?? `${fileName}:1:1`}: ${words.startsWith(`${name} `) ? '' : `${name}: `}${words}`,
    {
      field: contractPath(path),
      next: 'Correct it and run again.',
    },
  );
}

/** A server is a map, so that a text named `file` can only be the name of a file. */
function fileOf(servers: unknown): string | null {
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) return null;
  const entries = Object.entries(servers as Record<string, unknown>);
  const [name, file] = entries[0] ?? [];
  return entries.length === 1 &&
    name !== undefined &&
    plainName(name) === 'file' &&
    typeof file === 'string' &&
    file.trim() !== ''
    ? file
    : null;
}

const keyOf = (path: Path): string => JSON.stringify(path);

const contractPath = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

function offsetOf(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0;
}

/** One line, closed by a full stop. */
function sentence(message: string): string {
  const line = (message.split('\n')[0] ?? '').trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/**
 * Reads an experiment from a YAML (or JSON) file. Fields are named as in the CSV (`num_ctx`, `needle_depths`) or as in the
 * contract (`numCtx`); the axes stand at the top or under `axes`; one value may stand where a list is meant. What is wrong is
 * told with file, line, column and field.
 */
import { item } from '../../engine/context-lab/item.ts';
import { LineCounter, type Node, type Scalar, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { type Result, denied, issueMessage, ok } from '../../contract/denials.ts';
import type { Experiment } from '../../contract/experiments.ts';
import { nearest } from './nearest.ts';
import { type YamlForm, formOf, plainName } from './yaml-forms.ts';

export interface ParsedExperiment {
  readonly experiment: Experiment;
  /** Path of the person's own document as the file gives it, null = generated. */
  readonly documentFile: string | null;
}

export interface YamlDefaults {
  /** Taken where the file names no model. */
  readonly model?: string;
}

/** Denials are `bad-input`; their message begins with `file:line:column`. */
export function parseExperimentYaml(
  text: string,
  fileName: string,
  defaults: YamlDefaults = {},
): Result<ParsedExperiment> {
  if (text.length > YAML_CHARACTERS_MAX)
    return denied('bad-input', `${fileName}: longer than ${YAML_CHARACTERS_MAX} characters.`, {
      next: 'Give the document as a file of its own: `document: {file: handbook.txt}`.',
    });
  const lines = new LineCounter();
  const document = parseDocument(text.replace(/^\ufeff/, ''), {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
    uniqueKeys: true,
  });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const broken = document.errors[0];
  if (broken !== undefined)
    return denied('bad-input', `${at(broken.pos[0])}: ${sentence(broken.message)}`, {
      next: 'Correct the YAML there.',
    });
  if (!isMap(document.contents))
    return denied('bad-input', `${fileName}:1:1: an experiment is a list of fields, such as \`models: [llama3.2]\`.`);
  let values: Record<string, unknown>;
  try {
    values = document.toJS({ maxAliasCount: ALIASES_MAX }) as Record<string, unknown>;
  } catch (error) {
    return denied('bad-input', `${fileName}: ${sentence(error instanceof Error ? error.message : String(error))}`);
  }
  const kind = Object.entries(values).find(([name]) => plainName(name) === 'kind')?.[1];
  const form = formOf(kind);
  const fields = collect(form, document.contents, values, at);
  if (!fields.ok) return fields;
  return build(form, fields.value, fileName, at, defaults);
}

const YAML_CHARACTERS_MAX = 1_000_000;
const ALIASES_MAX = 100;

interface Field {
  /** As it stands in the file. */
  readonly written: string;
  readonly value: unknown;
  readonly node: Node | null;
  readonly offset: number;
}
type Fields = ReadonlyMap<string, Field>;
type At = (offset: number) => string;

/** Contract path (`seed`, `axes.sizes`) -> field. */
function collect(
  form: YamlForm,
  map: unknown,
  values: Record<string, unknown>,
  at: At,
  inAxes = false,
): Result<Fields> {
  const fields = new Map<string, Field>();
  if (!isMap(map)) return ok(fields);
  for (const pair of map.items) {
    if (!isScalar(pair.key)) return denied('bad-input', `${at(offsetOf(pair.key))}: a field name is a word.`);
    const written = String(pair.key.value);
    const offset = offsetOf(pair.key);
    const plain = plainName(written);
    const axisName = form.axes.get(plain);
    const axis = axisName === undefined ? null : `axes.${axisName}`;
    const path = axis ?? (inAxes ? null : (form.settings.get(plain) ?? null));
    if (path === null) return unknownField(form, written, at(offset), inAxes);
    const value = values[written];
    if (path === 'axes') {
      if (!isMap(pair.value))
        return denied('bad-input', `${at(offset)}: axes holds fields, such as \`repeats: 3\`.`, {
          field: 'axes',
        });
      const inner = collect(form, pair.value, value as Record<string, unknown>, at, true);
      if (!inner.ok) return inner;
      for (const [innerPath, field] of inner.value) {
        if (fields.has(innerPath)) return twice(field, at);
        fields.set(innerPath, field);
      }
      continue;
    }
    const field = { written, value, node: (pair.value as Node | null) ?? null, offset };
    if (fields.has(path)) return twice(field, at);
    fields.set(path, field);
  }
  return ok(fields);
}

const twice = (field: Field, at: At): Result<Fields> =>
  denied('bad-input', `${at(field.offset)}: ${field.written} is given twice.`, {
    field: field.written,
    next: 'Keep one of them.',
  });

function unknownField({ written: names }: YamlForm, written: string, place: string, inAxes: boolean): Result<Fields> {
  const known = inAxes ? names.axes : [...names.axes, ...names.settings];
  const close = nearest(written, known);
  return denied('bad-input', `${place}: there is no field ${written}.`, {
    field: written,
    next: close === null ? `Fields are ${known.join(', ')}.` : `Did you mean ${close}?`,
  });
}

function build(
  form: YamlForm,
  fields: Fields,
  fileName: string,
  at: At,
  defaults: YamlDefaults,
): Result<ParsedExperiment> {
  const document = readDocument(fields.get('document'), at);
  if (!document.ok) return document;
  if (!fields.has('axes.models') && defaults.model === undefined) {
    return denied('bad-input', `${fileName}: models is missing.`, {
      field: 'axes.models',
      next: 'Add a line such as `models: [llama3.2]`, or give --model NAME.',
    });
  }
  const axes: Record<string, unknown> = { models: [defaults.model], ...form.defaults.axes };
  const settings: Record<string, unknown> = { kind: form.kind, ...form.defaults.settings };
  for (const [path, field] of fields) {
    if (path === 'document') continue;
    const value = form.value(path, field.value);
    if (path.startsWith('axes.')) axes[path.slice(5)] = form.single.has(path) ? value : listOf(value);
    else settings[path] = value;
  }
  const parsed = form.schema.safeParse({ ...settings, axes });
  if (parsed.success) return ok({ experiment: parsed.data, documentFile: document.value });
  const issue = item(parsed.error.issues, 0);
  const { place, name } = locate(issue.path, fields, at, fileName);
  const words = sentence(issueMessage(issue));
  return denied('bad-input', `${place}: ${name === '' || words.startsWith(`${name} `) ? '' : `${name}: `}${words}`, {
    field: contractPath(issue.path),
    next: 'Correct it and run again.',
  });
}

/** `generated`, or a map with `file`. */
function readDocument(field: Field | undefined, at: At): Result<string | null> {
  if (field === undefined || field.value === 'generated') return ok(null);
  const value = field.value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const file = (value as Record<string, unknown>)['file'];
    if (entries.length === 1 && typeof file === 'string' && file.trim() !== '') return ok(file);
    if (entries.length === 1 && (value as Record<string, unknown>)['kind'] === 'generated') return ok(null);
  }
  return denied('bad-input', `${at(field.offset)}: document is either generated or a file.`, {
    field: 'document',
    next: 'Write `document: generated` or `document: {file: handbook.txt}`.',
  });
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** From a path of the contract to the place in the file, as near as there is something written. */
function locate(
  path: readonly PropertyKey[],
  fields: Fields,
  at: At,
  fileName: string,
): { place: string; name: string } {
  const depth = path[0] === 'axes' ? 2 : 1;
  const field = fields.get(path.slice(0, depth).map(String).join('.'));
  if (field === undefined) return { place: fileName, name: path.map(String).join('.') };
  let node: Node | null = field.node;
  let name = field.written;
  for (const step of path.slice(depth)) {
    if (isSeq(node) && typeof step === 'number') {
      name += `[${step}]`;
      node = (node.items[step] as Node | undefined) ?? node;
    } else if (isMap(node)) {
      const pair = node.items.find(
        ({ key }) => isScalar(key) && plainName(String(key.value)) === plainName(String(step)),
      );
      name += `.${pair === undefined ? String(step) : String((pair.key as Scalar).value)}`;
      node = (pair?.value as Node | null | undefined) ?? node;
    }
  }
  return { place: at(node === null ? field.offset : offsetOf(node)), name };
}

const contractPath = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');

function offsetOf(node: unknown): number {
  const range = (node as { range?: readonly number[] | null } | null)?.range;
  return range?.[0] ?? 0;
}

/** One line, closed by a full stop. */
function sentence(message: string): string {
  const line = (message.split('\n')[0] ?? '').trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/** What `spillway run` was asked, read and checked before anything is started. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { csvOptionsOf, outputClash } from './output-options.ts';
import type { Experiment, ExportOptions } from '../../contract/experiments.ts';
import type { ReasoningPresetName } from '../../contract/reasoning.ts';
import type { PresetName } from '../../engine/context-lab/presets.ts';
import { nearest } from '../experiments/nearest.ts';
import { failOnNames } from './fail-on.ts';
import { parseExperimentYaml } from '../experiments/yaml.ts';

/** As the command line gives them. */
export interface RunOptions {
  readonly default?: 'context' | 'reasoning';
  readonly preset?: PresetName;
  readonly simulate?: boolean;
  readonly timeScale: number;
  readonly ollama?: string;
  readonly log?: string;
  readonly model: readonly string[];
  readonly seed?: number;
  readonly csv?: string;
  readonly json?: boolean;
  readonly profile: 'machine' | 'spreadsheet';
  readonly separator: ',' | ';' | 'tab';
  readonly decimalMark: '.' | ',';
  readonly failOn?: string;
  readonly home?: string;
}

export interface RunAsk {
  readonly source:
    | { readonly kind: 'file'; readonly experiment: Experiment; readonly documentFile: string | null }
    | { readonly kind: 'preset'; readonly name: PresetName | ReasoningPresetName };
  /** Empty = those of the file, or the first of the server. */
  readonly models: readonly string[];
  readonly seed: number | null;
  /** null = no CSV, '-' = stdout. */
  readonly csv: string | null;
  readonly json: boolean;
  readonly csvOptions: ExportOptions;
  readonly failOn: ReadonlySet<string>;
  /** `--log` names a log. */
  readonly wantsLog: boolean;
}

/** Stands in the experiment for the first model of the server, until the server has been asked. */
export const FIRST_MODEL = '(first model of the server)';

/** Every denial is bad input: nothing has been started yet. */
export function readRunAsk(file: string | undefined, options: RunOptions): Result<RunAsk> {
  const source = readSource(file, options);
  if (!source.ok) return source;
  const failOn = readFailOn(options.failOn);
  if (!failOn.ok) return failOn;
  const clash = outputClash(options);
  if (clash !== null) return clash;
  if (options.log?.trim() === '')
    return denied('bad-input', '--log is empty.', { field: '--log', next: 'Give a file, journal, or off.' });
  if (options.model.some((model) => model.trim() === ''))
    return denied('bad-input', '--model is empty.', { field: '--model', next: 'Give the name of a model.' });
  return ok({
    source: source.value,
    models: options.model.map((model) => model.trim()),
    seed: options.seed ?? null,
    csv: options.csv ?? null,
    json: options.json === true,
    csvOptions: csvOptionsOf(options),
    failOn: failOn.value,
    wantsLog: options.log !== undefined && options.log !== 'off',
  });
}

function readSource(file: string | undefined, options: RunOptions): Result<RunAsk['source']> {
  if (file === undefined && options.default === undefined && options.preset === undefined) {
    return denied('bad-input', 'Nothing to run.', {
      next: 'Give an experiment file, or --default context or reasoning.',
    });
  }
  if (file !== undefined && (options.default !== undefined || options.preset !== undefined)) {
    return denied('bad-input', 'A file and a built-in experiment were both given.', { next: 'Leave one out.' });
  }
  if (options.default === 'reasoning') {
    if (options.preset === undefined) return ok({ kind: 'preset', name: 'prime' });
    return denied('bad-input', `--preset ${options.preset} is a variant of the context experiment.`, {
      field: '--preset',
      next: 'Leave one out.',
    });
  }
  if (file === undefined) return ok({ kind: 'preset', name: options.preset ?? 'needle-first' });
  const text = readText(file, EXPERIMENT_BYTES_MAX);
  if (!text.ok) return text;
  const parsed = parseExperimentYaml(text.value, basename(file), { model: FIRST_MODEL });
  if (!parsed.ok) return parsed;
  const { experiment, documentFile } = parsed.value;
  return ok({
    kind: 'file',
    experiment,
    documentFile: documentFile === null ? null : resolve(dirname(resolve(file)), documentFile),
  });
}

const EXPERIMENT_BYTES_MAX = 4_000_000;

/** Denials name the file and what the system said. */
export function readText(file: string, bytesMax: number): Result<string> {
  try {
    if (statSync(file).isDirectory()) return denied('bad-input', `${file} is a folder.`, { next: 'Give a file.' });
    const bytes = readUpTo(file, bytesMax);
    if (bytes === null)
      return denied('bad-input', `${file} has more than ${bytesMax.toLocaleString('en-US')} bytes.`, {
        next: 'Give a smaller file.',
      });
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return denied('bad-input', `${file} cannot be read: ${reasonOf(error)}.`, {
      next: 'Check the name and the rights.',
    });
  }
}

/** null = there is more. A pipe or a device says no size, so the size is what was read. */
export function readUpTo(file: string, bytesMax: number): Buffer | null {
  const from = openSync(file, 'r');
  try {
    const parts: Buffer[] = [];
    let size = 0;
    for (;;) {
      const part = Buffer.allocUnsafe(READ_BYTES);
      const read = readSync(from, part);
      if (read === 0) return Buffer.concat(parts);
      size += read;
      if (size > bytesMax) return null;
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(from);
  }
}

const READ_BYTES = 65_536;

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is no UTF-8 text';
  return error instanceof Error ? error.message : String(error);
}

function readFailOn(text: string | undefined): Result<ReadonlySet<string>> {
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (text !== undefined && names.length === 0)
    return denied('bad-input', '--fail-on is empty.', {
      field: '--fail-on',
      next: `Verdicts are ${failOnNames.join(', ')}.`,
    });
  for (const name of names) {
    if (failOnNames.includes(name)) continue;
    const close = nearest(name, failOnNames);
    return denied('bad-input', `--fail-on: there is no verdict ${name}.`, {
      field: '--fail-on',
      next: close === null ? `Verdicts are ${failOnNames.join(', ')}.` : `Did you mean ${close}?`,
    });
  }
  return ok(new Set(names));
}

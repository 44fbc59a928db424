/** What `spillway agent run` was asked, read and checked before anything is started. */
import { basename, dirname, resolve } from 'node:path';
import type { AgentTask } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { csvOptionsOf, outputClash } from './output-options.ts';
import type { ExportOptions } from '../../contract/experiments.ts';
import { agentPresets } from '../agent/presets.ts';
import { parseTaskYaml } from '../agent/yaml.ts';
import { nearest } from '../experiments/nearest.ts';
import { readMcpServers } from '../mcp/servers-file.ts';
import { agentFailOnNames } from './agent-fail-on.ts';
import { readText } from './run-options.ts';

/** As the command line gives them. */
export interface AgentCommandOptions {
  readonly preset?: string;
  readonly model?: string;
  readonly simulate?: boolean;
  readonly ollama?: string;
  readonly ungoverned?: boolean;
  readonly csv?: string;
  readonly json?: boolean;
  readonly profile: 'machine' | 'spreadsheet';
  readonly separator: ',' | ';' | 'tab';
  readonly decimalMark: '.' | ',';
  readonly failOn?: string;
  readonly home?: string;
}

export interface AgentAsk {
  readonly task: AgentTask;
  /** The model was left open: the first of the server that has tools. */
  readonly anyModel: boolean;
  /** null = no CSV, '-' = stdout. */
  readonly csv: string | null;
  readonly json: boolean;
  readonly csvOptions: ExportOptions;
  readonly failOn: ReadonlySet<string>;
}

/** Every denial is bad input: nothing has been started yet. */
export function readAgentAsk(file: string | undefined, options: AgentCommandOptions): Result<AgentAsk> {
  const source = readSource(file, options);
  if (!source.ok) return source;
  const failOn = readFailOn(options.failOn);
  if (!failOn.ok) return failOn;
  const clash = outputClash(options);
  if (clash !== null) return clash;
  if (options.model?.trim() === '')
    return denied('bad-input', '--model is empty.', { field: '--model', next: 'Give the name of a model.' });
  const task = {
    ...source.value.task,
    ...(options.model === undefined ? {} : { model: options.model.trim() }),
    ...(options.ungoverned === true ? { governed: false } : {}),
  };
  return ok({
    task,
    anyModel: task.model === ANY_MODEL,
    csv: options.csv ?? null,
    json: options.json === true,
    csvOptions: csvOptionsOf(options),
    failOn: failOn.value,
  });
}

/** Stands in a ready task until the server has been asked. */
const ANY_MODEL = '(first model with tools)';
const TASK_BYTES_MAX = 4_000_000;

function readSource(
  file: string | undefined,
  { preset, model }: AgentCommandOptions,
): Result<{ readonly task: AgentTask }> {
  if (file === undefined && preset === undefined)
    return denied('bad-input', 'Nothing to run.', { next: 'Give a task file, or --preset NAME.' });
  if (file !== undefined && preset !== undefined)
    return denied('bad-input', 'A file and a ready task were both given.', { next: 'Leave one out.' });
  if (file !== undefined) return readFile(file, model);
  const presets = agentPresets(ANY_MODEL);
  const found = presets.find(({ name }) => name === preset);
  if (found !== undefined) return ok({ task: found.task });
  const names = presets.map(({ name }) => name);
  const close = nearest(preset ?? '', names);
  return denied('bad-input', `--preset: there is no ready task ${(preset ?? '').slice(0, 100)}.`, {
    field: '--preset',
    next: close === null ? `Ready tasks are ${names.join(', ')}.` : `Did you mean ${close}?`,
  });
}

function readFile(file: string, model: string | undefined): Result<{ readonly task: AgentTask }> {
  const text = readText(file, TASK_BYTES_MAX);
  if (!text.ok) return text;
  const parsed = parseTaskYaml(text.value, basename(file), model === undefined ? {} : { model });
  if (!parsed.ok) return parsed;
  const { task, serversFile } = parsed.value;
  if (serversFile === null) return ok({ task });
  const path = resolve(dirname(resolve(file)), serversFile);
  const json = readText(path, TASK_BYTES_MAX);
  if (!json.ok) return json;
  const servers = readMcpServers(json.value);
  if (!servers.ok) {
    return { ok: false, denial: { ...servers.denial, message: `${basename(serversFile)}: ${servers.denial.message}` } };
  }
  return ok({ task: { ...task, mcpServers: servers.value.servers } });
}

function readFailOn(text: string | undefined): Result<ReadonlySet<string>> {
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const next = `Reasons are ${agentFailOnNames.join(', ')}.`;
  if (text !== undefined && names.length === 0)
    return denied('bad-input', '--fail-on is empty.', { field: '--fail-on', next });
  for (const name of names) {
    if (agentFailOnNames.includes(name)) continue;
    const close = nearest(name, agentFailOnNames);
    return denied('bad-input', `--fail-on: there is no reason ${name}.`, {
      field: '--fail-on',
      next: close === null ? next : `Did you mean ${close}?`,
    });
  }
  return ok(new Set(names));
}

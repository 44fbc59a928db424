/** `options` of a request: types checked as Ollama does, numbers truncated, unknown names reported. */

export interface RunnerOptions {
  /** As asked, before any clamp; null = not sent. */
  readonly numCtx: number | null;
  readonly numKeep: number;
  readonly numPredict: number;
  readonly numBatch: number | null;
  readonly seed: number;
  readonly temperature: number;
  readonly stop: readonly string[];
  /** The other options that belong to the launch of a runner, as one text: a change reloads. */
  readonly launchKey: string;
}

export type OptionsResult =
  { ok: true; options: RunnerOptions; unknown: readonly string[] } | { ok: false; error: string };

export function readOptions(
  sent: Readonly<Record<string, unknown>>,
  modelfile: Readonly<Record<string, unknown>>,
): OptionsResult {
  const merged: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, value] of [...Object.entries(modelfile), ...Object.entries(sent)]) {
    const type = optionTypes[name];
    if (type === undefined) {
      unknown.push(name);
      continue;
    }
    if (value === null) continue;
    // A Modelfile has one stop word a line.
    if (name === 'stop' && typeof value === 'string' && value === modelfile[name]) {
      merged[name] = [value];
      continue;
    }
    if (!isOfType(value, type)) return { ok: false, error: `option "${name}" must be of type ${type}` };
    merged[name] = type === 'integer' ? Math.trunc(value as number) : value;
  }
  return { ok: true, options: toOptions(merged), unknown };
}

type OptionType = 'integer' | 'float32' | 'boolean' | 'array';

const optionTypes: Readonly<Record<string, OptionType>> = {
  num_ctx: 'integer',
  num_batch: 'integer',
  num_gpu: 'integer',
  main_gpu: 'integer',
  num_thread: 'integer',
  draft_num_predict: 'integer',
  use_mmap: 'boolean',
  num_keep: 'integer',
  seed: 'integer',
  num_predict: 'integer',
  top_k: 'integer',
  repeat_last_n: 'integer',
  top_p: 'float32',
  min_p: 'float32',
  typical_p: 'float32',
  temperature: 'float32',
  repeat_penalty: 'float32',
  presence_penalty: 'float32',
  frequency_penalty: 'float32',
  stop: 'array',
};

function isOfType(value: unknown, type: OptionType): boolean {
  switch (type) {
    case 'integer':
    case 'float32':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
}

function toOptions(merged: Readonly<Record<string, unknown>>): RunnerOptions {
  const number = (name: string, absent: number): number => (typeof merged[name] === 'number' ? merged[name] : absent);
  return {
    numCtx: typeof merged['num_ctx'] === 'number' ? merged['num_ctx'] : null,
    numKeep: number('num_keep', 4),
    numPredict: number('num_predict', -1),
    numBatch: typeof merged['num_batch'] === 'number' ? merged['num_batch'] : null,
    seed: number('seed', -1),
    temperature: number('temperature', 0.8),
    stop: Array.isArray(merged['stop']) ? (merged['stop'] as string[]) : [],
    launchKey: JSON.stringify(
      ['num_gpu', 'main_gpu', 'num_thread', 'use_mmap', 'draft_num_predict'].map((name) => merged[name] ?? null),
    ),
  };
}

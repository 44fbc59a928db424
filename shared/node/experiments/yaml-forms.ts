/** What an experiment file of each kind may hold: the fields by the names people write, and how their values are read. */
import type { Experiment } from '../../contract/experiments.ts';
import { contextExperimentSchema } from '../../contract/experiments.ts';
import { reasoningExperimentSchema } from '../../contract/reasoning.ts';
import { CLASSIC_SIZES } from '../../engine/context-lab/presets.ts';
import { CLASSIC_PROMPT, CLASSIC_VARIANTS } from '../../engine/reasoning-lab/presets.ts';

/** settings, axes: name without case, `_` and `-` -> name in the contract. written: as people write them, for suggestions. */
export interface YamlForm {
  readonly kind: Experiment['kind'];
  readonly settings: ReadonlyMap<string, string>;
  readonly axes: ReadonlyMap<string, string>;
  readonly written: { readonly settings: readonly string[]; readonly axes: readonly string[] };
  /** Axes that hold one value, not a list. */
  readonly single: ReadonlySet<string>;
  readonly defaults: {
    readonly axes: Readonly<Record<string, unknown>>;
    readonly settings: Readonly<Record<string, unknown>>;
  };
  /** Value of a field, by its path in the contract, as the contract takes it. */
  readonly value: (path: string, value: unknown) => unknown;
  readonly schema: typeof contextExperimentSchema | typeof reasoningExperimentSchema;
}

export function formOf(kind: unknown): YamlForm {
  return kind === 'reasoning' ? reasoningForm : contextForm;
}

const names = (written: readonly string[], also: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> =>
  new Map([...written.map((name): [string, string] => [plainName(name), camel(name)]), ...Object.entries(also)]);

export const plainName = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');
const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const contextSettings = [
  'kind',
  'name',
  'document',
  'question',
  'question_position',
  'num_predict',
  'temperature',
  'think',
  'seed',
  'warm_up',
  'timeout_ms',
  'axes',
];
const contextAxes = ['models', 'num_ctx', 'sizes', 'needle_depths', 'routes', 'policies', 'repeats'];

const contextForm: YamlForm = {
  kind: 'context',
  settings: names(contextSettings),
  axes: names(contextAxes, {
    model: 'models',
    size: 'sizes',
    needledepth: 'needleDepths',
    needledepthspercent: 'needleDepths',
    route: 'routes',
    policy: 'policies',
  }),
  written: { settings: contextSettings, axes: contextAxes },
  single: new Set(['axes.repeats']),
  defaults: {
    axes: {
      numCtx: ['default'],
      sizes: CLASSIC_SIZES,
      needleDepths: [0],
      routes: ['chat'],
      policies: ['warn'],
      repeats: 1,
    },
    settings: {},
  },
  value: (_path, value) => value,
  schema: contextExperimentSchema,
};

const reasoningSettings = [
  'kind',
  'name',
  'prompt',
  'system',
  'messages',
  'num_ctx',
  'temperature',
  'seed',
  'stream',
  'logprobs',
  'warm_up',
  'timeout_ms',
  'find_cap',
  'axes',
];
const reasoningAxes = ['models', 'variants', 'repeats'];

const reasoningForm: YamlForm = {
  kind: 'reasoning',
  settings: names(reasoningSettings),
  axes: names(reasoningAxes, { model: 'models', variant: 'variants' }),
  written: { settings: reasoningSettings, axes: reasoningAxes },
  single: new Set(['axes.repeats']),
  defaults: { axes: { variants: CLASSIC_VARIANTS, repeats: 1 }, settings: { prompt: CLASSIC_PROMPT } },
  value(path, value) {
    if (path === 'numCtx') return value === 'default' ? null : value;
    if (path === 'findCap') return variantOf(value);
    if (path !== 'axes.variants') return value;
    return (Array.isArray(value) ? value : [value]).map(variantOf);
  },
  schema: reasoningExperimentSchema,
};

/** `on/8000`, `off/2000/t500` (stop thinking there), `on/8000/t500+` (and ask again), or a map of fields. */
function variantOf(value: unknown): unknown {
  if (typeof value === 'string') {
    const match = /^([a-z]+)\s*\/\s*(\d+)(?:\s*\/\s*t(\d+)(\+?))?$/i.exec(value.trim());
    if (match === null) return value;
    const [, think = '', numPredict, tokensMax, plus] = match;
    const cap = { tokensMax: Number(tokensMax), then: plus === '+' ? 'ask-again' : 'stop' };
    return {
      think: thinkOf(think),
      numPredict: Number(numPredict),
      ...(tokensMax === undefined ? {} : { thinkingCap: cap }),
    };
  }
  const fields = renamed(value);
  if (fields === null) return value;
  const cap = fields['thinkingCap'];
  return {
    ...fields,
    ...('think' in fields ? { think: thinkOf(fields['think']) } : {}),
    ...(cap === undefined ? {} : { thinkingCap: typeof cap === 'number' ? { tokensMax: cap } : (renamed(cap) ?? cap) }),
  };
}

/** YAML reads a bare on and off as words. */
function thinkOf(value: unknown): unknown {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  return word === 'on' ? true : word === 'off' ? false : word;
}

function renamed(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [camel(name.replaceAll('-', '_')), field]));
}

/**
 * The experiment as it is typed, and back. Nothing typed is lost: every value stays text until it is read, and what cannot
 * be read is a problem of its field.
 */
import { contextExperimentSchema } from '../../../shared/contract/experiments.ts';
import type { ContextExperiment, DocumentSize } from '../../../shared/contract/experiments.ts';
import type { DocumentId } from '../../../shared/contract/ids.ts';
import { denialOfIssues } from '../../../shared/contract/denials.ts';
import type { Think } from '../../../shared/contract/calls.ts';
import { count } from '../../format/numbers.ts';
import { Problem, readCount, readDecimal, readWhole, shown } from '../../format/read-number.ts';

export const formFields = [
  'models',
  'windows',
  'sizes',
  'document',
  'depths',
  'repeats',
  'routes',
  'policies',
  'question',
  'numPredict',
  'temperature',
  'think',
  'seed',
] as const;
export type FormField = (typeof formFields)[number];

export interface OwnDocument {
  readonly id: DocumentId;
  readonly name: string;
  /** null where a stored run names a document whose length this screen does not know. */
  readonly characters: number | null;
}

export interface FormText {
  readonly name: string;
  readonly models: readonly string[];
  readonly windows: string;
  readonly sizes: string;
  readonly sizeUnit: 'characters' | 'tokens';
  /** null = generated. */
  readonly document: OwnDocument | null;
  readonly depths: string;
  readonly repeats: string;
  readonly routes: readonly ('chat' | 'generate')[];
  readonly policies: readonly ('warn' | 'refuse' | 'allow')[];
  readonly questionPosition: 'last' | 'first';
  readonly question: string;
  readonly numPredict: string;
  readonly temperature: string;
  readonly think: Think;
  readonly seed: string;
  readonly warmUp: boolean;
  readonly timeoutMs: number | null;
}

export type FormReading =
  | { readonly ok: true; readonly experiment: ContextExperiment }
  | { readonly ok: false; readonly problems: Readonly<Partial<Record<FormField, string>>> };

export function readForm(form: FormText): FormReading {
  const problems: Partial<Record<FormField, string>> = {};
  const take = <Value>(field: FormField, value: Value | Problem): Value | null => {
    if (!(value instanceof Problem)) return value;
    problems[field] ??= value.text;
    return null;
  };
  if (form.models.length === 0) problems.models = 'models: choose at least one.';
  if (form.routes.length === 0) problems.routes = 'routes: choose at least one.';
  if (form.policies.length === 0) problems.policies = 'policies: choose at least one.';
  const axes = {
    models: form.models,
    numCtx: take('windows', readWindows(form.windows)),
    sizes: take('sizes', readSizes(form.sizes, form.sizeUnit)),
    needleDepths: take('depths', readDepths(form.depths)),
    routes: form.routes,
    policies: form.policies,
    repeats: take('repeats', readWhole('repeats', form.repeats)),
  };
  const rest = {
    numPredict: take('numPredict', readWhole('num_predict', form.numPredict)),
    temperature: take('temperature', readDecimal('temperature', form.temperature)),
    seed: take('seed', readWhole('seed', form.seed)),
  };
  if (Object.keys(problems).length > 0) return { ok: false, problems };
  const parsed = contextExperimentSchema.safeParse({
    kind: 'context',
    ...(form.name === '' ? {} : { name: form.name }),
    axes,
    ...rest,
    document: form.document === null ? { kind: 'generated' } : { kind: 'own', documentId: form.document.id },
    questionPosition: form.questionPosition,
    ...(form.question.trim() === '' ? {} : { question: form.question }),
    think: form.think,
    warmUp: form.warmUp,
    ...(form.timeoutMs === null ? {} : { timeoutMs: form.timeoutMs }),
  });
  if (parsed.success) return { ok: true, experiment: parsed.data };
  const denial = denialOfIssues(parsed.error);
  return { ok: false, problems: { [fieldOf(denial.field)]: denial.message } };
}

export function formOf(experiment: ContextExperiment, document: OwnDocument | null = null): FormText {
  const { axes } = experiment;
  const allTokens = axes.sizes.every((size) => typeof size !== 'number');
  return {
    name: experiment.name ?? '',
    models: axes.models,
    windows: axes.numCtx.map((window) => (window === 'default' ? 'default' : count(window))).join(', '),
    sizes: axes.sizes.map((size) => sizeWord(size, allTokens)).join(', '),
    sizeUnit: allTokens ? 'tokens' : 'characters',
    document:
      experiment.document.kind === 'generated'
        ? null
        : document?.id === experiment.document.documentId
          ? document
          : { id: experiment.document.documentId, name: 'own text', characters: null },
    depths: axes.needleDepths.map((entry) => [entry].flat().join(' + ')).join(', '),
    repeats: String(axes.repeats),
    routes: axes.routes,
    policies: axes.policies,
    questionPosition: experiment.questionPosition,
    question: experiment.question ?? '',
    numPredict: String(experiment.numPredict),
    temperature: String(experiment.temperature),
    think: experiment.think,
    seed: String(experiment.seed),
    warmUp: experiment.warmUp,
    timeoutMs: experiment.timeoutMs ?? null,
  };
}

/** Which part of the sentence a path of the contract belongs to, such as `axes.sizes[1]`. */
export function fieldOf(path: string | undefined): FormField {
  const found = paths.find(([start]) => path?.startsWith(start) === true);
  return found?.[1] ?? 'models';
}

const paths: readonly (readonly [string, FormField])[] = [
  ['axes.models', 'models'],
  ['axes.numCtx', 'windows'],
  ['axes.sizes', 'sizes'],
  ['axes.needleDepths', 'depths'],
  ['axes.routes', 'routes'],
  ['axes.policies', 'policies'],
  ['axes.repeats', 'repeats'],
  ['document', 'document'],
  ['question', 'question'],
  ['numPredict', 'numPredict'],
  ['temperature', 'temperature'],
  ['think', 'think'],
  ['seed', 'seed'],
];

/** Entries stand apart by a comma, a semicolon, a space or a new line; a comma inside of 40,960 belongs to the number. */
export function entriesOf(text: string): readonly string[] {
  return text
    .split(/[;\s]+|,(?=\s|$)/u)
    .flatMap((part) => (/^\d{1,3}(,\d{3})+[a-z]*$/iu.test(part) ? [part] : part.split(',')))
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readWindows(text: string): (number | 'default')[] | Problem {
  const windows: (number | 'default')[] = [];
  for (const entry of entriesOf(text.replace(/server default/giu, 'default'))) {
    if (/^default$/iu.test(entry)) {
      windows.push('default');
      continue;
    }
    const window = readCount(entry, 1_024);
    if (window === null)
      return new Problem(`windows: ${shown(entry)} is not a number of tokens. Write 4096, 16k or default.`);
    if (window < 1) return new Problem(`windows: num_ctx must be at least 1; write default to leave it to the server.`);
    if (window > 10_000_000) return new Problem(`windows: ${shown(entry)} is over 10,000,000.`);
    windows.push(window);
  }
  return windows.length === 0 ? new Problem('windows: give at least one, such as default or 4096.') : windows;
}

function readSizes(text: string, unit: FormText['sizeUnit']): DocumentSize[] | Problem {
  const sizes: DocumentSize[] = [];
  for (const entry of entriesOf(text)) {
    const inTokens = /t(ok(ens?)?)?$/iu.test(entry);
    const size = readCount(entry.replace(/(t(ok(ens?)?)?|c(har(acter)?s?)?)$/iu, ''), 1_000);
    if (size === null) return new Problem(`sizes: ${shown(entry)} is not a number. Write 2000, 40k or 1.5M.`);
    const tokens = inTokens || (unit === 'tokens' && !/c(har(acter)?s?)?$/iu.test(entry));
    const [least, most] = tokens ? [30, 2_000_000] : [100, 5_000_000];
    if (size < least || size > most)
      return new Problem(
        `sizes: ${shown(entry)} must be ${count(least)} to ${count(most)} ${tokens ? 'tokens' : 'characters'}.`,
      );
    sizes.push(tokens ? { tokens: size } : size);
  }
  return sizes.length === 0 ? new Problem('sizes: give at least one, such as 10k.') : sizes;
}

/** `0, 50, 0 + 100`: three variants, the last with two needles. */
function readDepths(text: string): (number | number[])[] | Problem {
  const variants: (number | number[])[] = [];
  for (const entry of entriesOf(text.replaceAll('%', ' ').replace(/\s*(\+|\band\b)\s*/giu, '+'))) {
    const depths = entry.split('+').map((part) => (part === '' ? NaN : Number(part)));
    if (depths.some((depth) => !(depth >= 0 && depth <= 100)))
      return new Problem(`needle: ${shown(entry)} is not a depth from 0 to 100 percent. Write 0, 50 or 0 + 100.`);
    if (depths.length > 10) return new Problem('needle: one text holds at most 10 needles.');
    variants.push(depths.length === 1 ? (depths[0] ?? 0) : depths);
  }
  return variants.length === 0 ? new Problem('needle: give at least one depth, such as 0.') : variants;
}

function sizeWord(size: DocumentSize, allTokens: boolean): string {
  const value = typeof size === 'number' ? size : size.tokens;
  const word =
    value >= 1_000_000 && value % 100_000 === 0
      ? `${value / 1_000_000}M`
      : value >= 1_000 && value % 100 === 0
        ? `${value / 1_000}k`
        : String(value);
  return typeof size === 'number' || allTokens ? word : `${word}t`;
}

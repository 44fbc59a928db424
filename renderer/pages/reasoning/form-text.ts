/**
 * The experiment as it is typed, and back. Nothing typed is lost: every value stays text until it is read, and what cannot
 * be read is a problem of its field.
 */
import type { Message, Think } from '../../../shared/contract/calls.ts';
import { denialOfIssues } from '../../../shared/contract/denials.ts';
import { reasoningExperimentSchema } from '../../../shared/contract/reasoning.ts';
import type { ReasoningExperiment } from '../../../shared/contract/reasoning.ts';
import { count } from '../../format/numbers.ts';
import { Problem, readCount, readDecimal, readWhole, shown } from '../../format/read-number.ts';
import { variantLabel } from '../../format/reasoning.ts';

export const formFields = [
  'models',
  'prompt',
  'system',
  'variants',
  'capSearch',
  'repeats',
  'numCtx',
  'temperature',
  'seed',
] as const;
export type FormField = (typeof formFields)[number];

export interface FormVariant {
  readonly name: string | null;
  readonly think: Think;
  readonly cap: string;
  /** Empty = thinking is not stopped from this side. */
  readonly thinkingCap: string;
  readonly then: 'stop' | 'ask-again';
}

/** The search for the smallest cap that answers, as it is typed. */
export interface FormCapSearch {
  readonly think: Think;
  readonly capMin: string;
  readonly capMax: string;
  readonly inARow: string;
  readonly within: string;
  readonly runsMax: string;
}

export const usualCapSearch: FormCapSearch = {
  think: true,
  capMin: '16',
  capMax: '8,000',
  inARow: '3',
  within: '16',
  runsMax: '60',
};

export interface FormText {
  readonly name: string;
  readonly models: readonly string[];
  readonly prompt: string;
  readonly system: string;
  /** Turns before the prompt, as a stored run has them. */
  readonly messages: readonly Message[];
  readonly variants: readonly FormVariant[];
  /** null = no search. */
  readonly capSearch: FormCapSearch | null;
  readonly repeats: string;
  /** Empty or `default` = the server's. */
  readonly numCtx: string;
  readonly temperature: string;
  readonly seed: string;
  readonly stream: boolean;
  readonly logprobs: boolean;
  readonly warmUp: boolean;
  readonly timeoutMs: number | null;
}

export type FormReading =
  | { readonly ok: true; readonly experiment: ReasoningExperiment }
  | { readonly ok: false; readonly problems: Readonly<Partial<Record<FormField, string>>> };

export function readForm(form: FormText): FormReading {
  const problems: Partial<Record<FormField, string>> = {};
  const take = <Value>(field: FormField, value: Value | Problem): Value | null => {
    if (!(value instanceof Problem)) return value;
    problems[field] ??= value.text;
    return null;
  };
  if (form.models.length === 0) problems.models = 'models: choose at least one.';
  if (form.prompt.trim() === '') problems.prompt = 'prompt: write what is to be asked.';
  const variants = take('variants', readVariants(form.variants));
  const findCap = form.capSearch === null ? undefined : take('capSearch', readCapSearch(form.capSearch));
  const repeats = take('repeats', readWhole('repeats', form.repeats));
  const numCtx = take('numCtx', readWindow(form.numCtx));
  const temperature = take('temperature', readDecimal('temperature', form.temperature));
  const seed = take('seed', readWhole('seed', form.seed));
  if (Object.keys(problems).length > 0) return { ok: false, problems };
  const parsed = reasoningExperimentSchema.safeParse({
    kind: 'reasoning',
    ...(form.name === '' ? {} : { name: form.name }),
    axes: { models: form.models, variants, repeats },
    prompt: form.prompt,
    ...(form.system.trim() === '' ? {} : { system: form.system }),
    ...(form.messages.length === 0 ? {} : { messages: form.messages }),
    numCtx: numCtx === 'default' ? null : numCtx,
    temperature,
    seed,
    stream: form.stream,
    logprobs: form.logprobs,
    warmUp: form.warmUp,
    ...(findCap === undefined ? {} : { findCap }),
    ...(form.timeoutMs === null ? {} : { timeoutMs: form.timeoutMs }),
  });
  if (parsed.success) return { ok: true, experiment: parsed.data };
  const denial = denialOfIssues(parsed.error);
  return { ok: false, problems: { [fieldOf(denial.field)]: denial.message } };
}

export function formOf(experiment: ReasoningExperiment): FormText {
  return {
    name: experiment.name ?? '',
    models: experiment.axes.models,
    prompt: experiment.prompt,
    system: experiment.system ?? '',
    messages: experiment.messages ?? [],
    variants: experiment.axes.variants.map(({ name, think, numPredict, thinkingCap }) => ({
      name: name ?? null,
      think,
      cap: count(numPredict),
      thinkingCap: thinkingCap === undefined ? '' : count(thinkingCap.tokensMax),
      then: thinkingCap?.then ?? 'stop',
    })),
    capSearch: capSearchOf(experiment.findCap),
    repeats: String(experiment.axes.repeats),
    numCtx: experiment.numCtx === null ? 'default' : count(experiment.numCtx),
    temperature: String(experiment.temperature),
    seed: String(experiment.seed),
    stream: experiment.stream,
    logprobs: experiment.logprobs,
    warmUp: experiment.warmUp,
    timeoutMs: experiment.timeoutMs ?? null,
  };
}

function capSearchOf(findCap: ReasoningExperiment['findCap']): FormCapSearch | null {
  if (findCap === undefined) return null;
  const { think, capMin, capMax, inARow, within, runsMax } = findCap;
  return {
    think,
    capMin: count(capMin),
    capMax: count(capMax),
    inARow: String(inARow),
    within: count(within),
    runsMax: String(runsMax),
  };
}

function readCapSearch({ think, ...texts }: FormCapSearch): object | Problem {
  const read: Record<string, unknown> = { think };
  for (const [name, text] of Object.entries(texts)) {
    const value = readCount(text.trim(), 1_000);
    if (value === null) return new Problem(`cap search: ${shown(text)} is not a whole number. Write 2000 or 8k.`);
    read[name] = value;
  }
  return read;
}

export function variantWord({ think, cap, thinkingCap, then }: FormVariant): string {
  const stop = thinkingCap.trim();
  return variantLabel(think, cap.trim() === '' ? '?' : cap.trim(), stop === '' ? null : { tokensMax: stop, then });
}

export function variantsWord(variants: readonly FormVariant[]): string {
  const separator = variants.some(({ thinkingCap }) => thinkingCap.trim() !== '') ? '; ' : ', ';
  return variants.length === 0 ? 'no variant' : variants.map(variantWord).join(separator);
}

/** Which part of the sentence a path of the contract belongs to, such as `axes.variants[1].numPredict`. */
export function fieldOf(path: string | undefined): FormField {
  return paths.find(([start]) => path?.startsWith(start) === true)?.[1] ?? 'models';
}

const paths: readonly (readonly [string, FormField])[] = [
  ['axes.models', 'models'],
  ['axes.variants', 'variants'],
  ['findCap', 'capSearch'],
  ['axes.repeats', 'repeats'],
  ['prompt', 'prompt'],
  ['messages', 'prompt'],
  ['system', 'system'],
  ['numCtx', 'numCtx'],
  ['temperature', 'temperature'],
  ['seed', 'seed'],
];

function readVariants(variants: readonly FormVariant[]): unknown[] | Problem {
  const read: unknown[] = [];
  for (const { name, think, cap, thinkingCap, then } of variants) {
    const numPredict = readCount(cap.trim(), 1_000);
    if (numPredict === null) return new Problem(`variants: ${shown(cap)} is not a number of tokens. Write 2000 or 8k.`);
    if (numPredict < 1) return new Problem('variants: a cap is at least 1: 0 takes every bound off on most models.');
    const stopped = thinkingCap.trim() === '' ? null : readCount(thinkingCap.trim(), 1_000);
    if (stopped === null && thinkingCap.trim() !== '')
      return new Problem(`variants: ${shown(thinkingCap)} is not a number of tokens to stop thinking at.`);
    read.push({
      ...(name === null ? {} : { name }),
      think,
      numPredict,
      ...(stopped === null ? {} : { thinkingCap: { tokensMax: stopped, then } }),
    });
  }
  return read.length === 0 ? new Problem('variants: give at least one, such as off / 2,000.') : read;
}

function readWindow(text: string): number | 'default' | Problem {
  const trimmed = text.trim();
  if (trimmed === '' || /^(server )?default$/iu.test(trimmed)) return 'default';
  const window = readCount(trimmed, 1_024);
  return window ?? new Problem(`num_ctx: ${shown(text)} is not a number of tokens. Write 8192, 16k or default.`);
}

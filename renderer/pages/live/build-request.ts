/** From what was typed to a request, or to a problem beside each field. Pure. */
import { numCtxSchema, numPredictSchema } from '../../../shared/contract/calls.ts';
import type { CallRequest, Message, Think } from '../../../shared/contract/calls.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import type { Draft } from './draft-store.ts';

export type DraftField = 'model' | 'numCtx' | 'numPredict' | 'temperature' | 'seed' | 'message';
export type Problems = Partial<Record<DraftField, string>>;

export interface BuiltRequest {
  /** null while a field is wrong. */
  readonly request: CallRequest | null;
  readonly problems: Problems;
}

export type RequestDraft = Pick<
  Draft,
  'model' | 'numCtx' | 'numPredict' | 'think' | 'temperature' | 'seed' | 'policy' | 'system' | 'turns'
> & { readonly content: string; readonly payer?: Draft['payer'] };

/** `think` is what the model can take; a model that cannot think gets the field left out. */
export function buildRequest(
  typed: RequestDraft,
  settings: Pick<Settings, 'numPredict' | 'policy' | 'callTimeoutMs'>,
  think: Think,
): BuiltRequest {
  const problems: Problems = {};
  const numCtx = parseOptional(typed.numCtx, 'num_ctx', numCtxSchema);
  const numPredict = parseOptional(typed.numPredict, 'num_predict', numPredictSchema);
  const temperature = parseTemperature(typed.temperature);
  const seed = parseSeed(typed.seed);
  if ('problem' in numCtx) problems.numCtx = numCtx.problem;
  if ('problem' in numPredict) problems.numPredict = numPredict.problem;
  if ('problem' in temperature) problems.temperature = temperature.problem;
  if ('problem' in seed) problems.seed = seed.problem;
  if (typed.model === '') problems.model = 'Choose a model.';
  if (typed.content === '') problems.message = 'Write a message.';
  if (
    'problem' in numCtx ||
    'problem' in numPredict ||
    'problem' in temperature ||
    'problem' in seed ||
    Object.keys(problems).length > 0
  )
    return { request: null, problems };
  return {
    problems,
    request: {
      model: typed.model,
      route: 'chat',
      messages: [...messagesOf(typed.system), ...typed.turns, { role: 'user', content: typed.content }],
      numCtx: numCtx.value,
      numPredict: numPredict.value ?? settings.numPredict,
      think,
      temperature: temperature.value,
      seed: seed.value,
      policy: typed.policy ?? settings.policy,
      stream: true,
      needles: [],
      ...(typed.payer === undefined || typed.payer === null ? {} : { payer: typed.payer }),
    },
  };
}

/** Files come first, in their order, then what was written; a blank line between. */
export function contentOf(files: Draft['files'], message: string): string {
  return [...files.map((file) => file.text), ...(message === '' ? [] : [message])].join('\n\n');
}

function messagesOf(system: string): Message[] {
  return system === '' ? [] : [{ role: 'system', content: system }];
}

export type Parsed<Value> = { readonly value: Value } | { readonly problem: string };

interface NumberSchema {
  safeParse(
    value: unknown,
  ): { success: true; data: number } | { success: false; error: { issues: { message: string }[] } };
}

/** A whole number, grouped or not: `8192`, `8,192`, `8 192`. null = empty. */
export function parseWhole(text: string): Parsed<number | null> {
  const bare = text.trim();
  if (bare === '') return { value: null };
  const grouped = /^[+-]?\d{1,3}([,\u00a0\u202f ]\d{3})+$/u.test(bare) ? bare.replace(/[,\u00a0\u202f ]/gu, '') : bare;
  if (!/^[+-]?\d+$/u.test(grouped)) return { problem: 'must be a whole number, such as 8192' };
  const value = Number(grouped);
  return Number.isSafeInteger(value) ? { value } : { problem: 'is too large' };
}

function parseOptional(text: string, name: string, schema: NumberSchema): Parsed<number | null> {
  const whole = parseWhole(text);
  if ('problem' in whole) return { problem: `${name} ${whole.problem}.` };
  if (whole.value === null) return whole;
  const checked = schema.safeParse(whole.value);
  if (checked.success) return { value: checked.data };
  return { problem: `${checked.error.issues[0]?.message ?? `${name} is not accepted`}.` };
}

function parseTemperature(text: string): Parsed<number> {
  const bare = text.trim().replace(',', '.');
  const value = Number(bare);
  if (bare === '' || !/^\d*\.?\d+$/u.test(bare) || value > 5)
    return { problem: 'temperature must be a number from 0 to 5, such as 0.7.' };
  return { value };
}

function parseSeed(text: string): Parsed<number> {
  const whole = parseWhole(text);
  if ('problem' in whole) return { problem: `seed ${whole.problem}.` };
  return whole.value === null
    ? { problem: 'seed must be a whole number, so that the call can be repeated.' }
    : { value: whole.value };
}

/** Useful windows for the slider: powers of two up to what the model was trained with, and that one itself. */
export function windowStops(trained: number | null): readonly number[] {
  const most = trained ?? 131_072;
  const powers = [2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144].filter((stop) => stop < most);
  return [...powers, most];
}

/** Which think settings a model takes; empty = it cannot think. null capabilities = not known, so all are offered. */
export function thinkChoices(capabilities: readonly string[] | null, architecture: string | null): readonly Think[] {
  if (capabilities !== null && !capabilities.includes('thinking')) return [];
  // Models of this architecture take levels and ignore on and off.
  if (architecture === 'gptoss' || architecture === 'gpt-oss') return ['default', 'low', 'medium', 'high'];
  return ['default', true, false, 'low', 'medium', 'high'];
}

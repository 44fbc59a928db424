/**
 * Refusals are values. The codes stand in order of precedence: where several apply, the first one is the answer.
 * Each says what was wrong, which field it was (when it was one), and what to do next.
 */
import { z } from 'zod';
import { type BudgetCode, budgetCodes, budgetRefusalSchema } from './ledger.ts';

export const denialCodes = [
  'unknown-request',
  'bad-input',
  'not-allowed',
  'not-found',
  'busy',
  'no-server',
  'unknown-model',
  'cloud-model',
  'body-too-large',
  'message-too-long',
  'conversation-too-long',
  'output-over-cap',
  'model-not-in-plan',
  'key-used',
  'bound-unknown',
  ...budgetCodes,
  'ledger-unavailable',
  'unsupported',
  'over-window',
  'server-error',
  'storage-newer',
  'storage-full',
  'storage-failed',
  'cancelled',
  'internal',
] as const;
export type DenialCode = (typeof denialCodes)[number];

export const denialSchema = z.strictObject({
  code: z.enum(denialCodes),
  /** One sentence, in the person's terms. */
  message: z.string(),
  /** Path of the field at fault, such as `axes.numCtx[1]`. */
  field: z.string().optional(),
  /** The next step, one sentence. */
  next: z.string().optional(),
  retryAfterMs: z.int().nonnegative().optional(),
  /** For refusals of a budget: the figures behind it. */
  budget: budgetRefusalSchema.optional(),
});
export type Denial = z.infer<typeof denialSchema>;

export type Result<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly denial: Denial };

export const ok = <Value>(value: Value): Result<Value> => ({ ok: true, value });
export const denied = (
  code: DenialCode,
  message: string,
  more: Partial<Omit<Denial, 'code' | 'message'>> = {},
): { ok: false; denial: Denial } => ({
  ok: false,
  denial: { code, message, ...more },
});

/** The status a refusal has over HTTP. Every budget answers 429; its code tells what passes by itself from what does not. */
export function httpStatusOf(code: DenialCode): number {
  return ownStatuses[code] ?? 429;
}

/** Only the codes of budgets are not named here. */
const ownStatuses: { readonly [Code in Exclude<DenialCode, BudgetCode>]: number } & {
  readonly [Code in BudgetCode]?: never;
} = {
  'unknown-request': 404,
  'bad-input': 400,
  'not-allowed': 403,
  'not-found': 404,
  busy: 503,
  'no-server': 502,
  'unknown-model': 404,
  'cloud-model': 403,
  'body-too-large': 413,
  'message-too-long': 400,
  'conversation-too-long': 422,
  'output-over-cap': 422,
  'model-not-in-plan': 403,
  'key-used': 409,
  'bound-unknown': 422,
  'ledger-unavailable': 503,
  unsupported: 501,
  'over-window': 422,
  'server-error': 502,
  'storage-newer': 500,
  'storage-full': 507,
  'storage-failed': 500,
  cancelled: 499,
  internal: 500,
};

/** The one to tell when several apply: lowest index in `denialCodes`; of equals, the first given. */
export function mostImportant(denials: readonly Denial[]): Denial | undefined {
  return [...denials].sort((a, b) => denialCodes.indexOf(a.code) - denialCodes.indexOf(b.code))[0];
}

/** Turns the first zod issue into a refusal that names the field. */
export function denialOfIssues(error: z.ZodError): Denial {
  const issue = error.issues[0];
  const path =
    issue === undefined
      ? ''
      : issue.path
          .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
          .join('')
          .replace(/^\./, '');
  const unknownKeys = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const field = unknownKeys.length > 0 ? [path, unknownKeys[0]].filter((part) => part !== '').join('.') : path;
  const message =
    unknownKeys.length > 0
      ? `There is no field ${field}.`
      : `${field === '' ? 'The input' : field}: ${issue === undefined ? 'not as expected' : issueMessage(issue)}.`;
  return { code: 'bad-input', message, ...(field === '' ? {} : { field }), next: 'Correct it and send it again.' };
}

/**
 * The words of an issue. A value that fits none of several forms gets the words of the form that says most, not a bare
 * "Invalid input".
 */
export function issueMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message;
  const branches = issue.errors.flat();
  const telling =
    branches.find((branch) => !/^(Invalid|Unrecognized)/.test(branch.message)) ??
    branches.find((branch) => branch.code !== 'invalid_value');
  return telling === undefined ? issue.message : issueMessage(telling);
}

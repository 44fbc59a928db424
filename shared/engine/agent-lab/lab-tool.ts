/** What the tools of the lab have in common: checks of their arguments, and answers. Time comes in as `sleep`. */
import { type Json, isObject } from '../guards/canonical.ts';
import { type ToolAnswer, type ToolSpec, textOf } from '../gateway/tool.ts';
import type { CancelSignal } from '../ports.ts';

export type Sleep = (durationMs: number) => Promise<void>;

/** A model that is stopped does not think to its end. */
export function think(sleep: Sleep, durationMs: number, signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    const release = signal.onAbort(resolve);
    void sleep(durationMs).then(() => {
      release();
      resolve();
    });
  });
}

type FieldKind = 'text' | 'number' | 'text or number';

/** What a tool takes: the kinds of its fields; a `?` at the end of a name = may be left out. */
export type Fields = Readonly<Record<string, FieldKind>>;

/** The schema that a model is told, and the check that holds: they say the same. */
export function takes(fields: Fields): Pick<ToolSpec, 'parameters' | 'check'> {
  const all = Object.entries(fields).map(([key, kind]) => {
    const isOptional = key.endsWith('?');
    return { name: isOptional ? key.slice(0, -1) : key, kind, isOptional };
  });
  return {
    parameters: {
      type: 'object',
      properties: Object.fromEntries(all.map(({ name, kind }) => [name, { type: SCHEMA_TYPES[kind] }])),
      required: all.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    },
    check(args) {
      if (!isObject(args)) return 'the arguments must be an object';
      for (const { name, kind, isOptional } of all) {
        const value = args.get(name);
        if (value === undefined && isOptional) continue;
        if (value === undefined || !fits(value, kind)) return `${name} must be a ${WORDS[kind]}`;
      }
      return null;
    },
  };
}

/** Of arguments that were checked. */
export function textOfField(args: Json, name: string, missing = ''): string {
  const value = isObject(args) ? args.get(name) : undefined;
  return typeof value === 'string' ? value : missing;
}

export function numberOfField(args: Json, name: string, missing: number): number {
  const value = isObject(args) ? args.get(name) : undefined;
  return typeof value === 'number' ? value : missing;
}

export const done = (text: string, nanoDollars = 0, lease: ToolAnswer['lease'] = null): ToolAnswer => ({
  text: textOf(text),
  nanoDollars,
  failed: false,
  retryable: false,
  lease,
});

export const failed = (text: string, { nanoDollars = 0, retryable = false } = {}): ToolAnswer => ({
  ...done(text, nanoDollars),
  failed: true,
  retryable,
});

/** A name that somebody else made up, so that it cannot pass for a line of its own. */
export const quoted = (name: string): string => JSON.stringify(name.slice(0, NAME_MAX).toWellFormed());

const NAME_MAX = 200;
const SCHEMA_TYPES = { text: 'string', number: 'integer', 'text or number': ['string', 'integer'] } as const;
const WORDS = { text: 'text', number: 'whole number', 'text or number': 'text or a whole number' } as const;

function fits(value: Json, kind: FieldKind): boolean {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value);
  if (kind === 'number') return isWhole;
  return typeof value === 'string' || (kind === 'text or number' && isWhole);
}

/** The fields that a task file may have, read off the contract: names as people write them, and the values that are converted. */
import { z } from 'zod';
import { plainName } from '../experiments/yaml-forms.ts';

/** object: named fields. record: the names are the person's own. leaf: a value as it stands. */
export type Form =
  | { readonly kind: 'object'; readonly names: readonly string[]; of(name: string): Form }
  | { readonly kind: 'record'; readonly value: Form }
  | { readonly kind: 'leaf' };

export interface FieldName {
  /** In the contract. */
  readonly name: string;
  readonly convert: ((value: unknown) => unknown) | null;
}

export function formOf(schema: z.core.$ZodType): Form {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return objectForm([inner]);
  if (inner instanceof z.ZodRecord) return { kind: 'record', value: formOf(inner.valueType as z.core.$ZodType) };
  if (inner instanceof z.ZodUnion) {
    const objects = (inner.options as readonly z.core.$ZodType[]).filter((one) => one instanceof z.ZodObject);
    if (objects.length > 0) return objectForm(objects);
  }
  return { kind: 'leaf' };
}

/** null = there is no such field. */
export function fieldOf(form: Form, written: string): FieldName | null {
  if (form.kind !== 'object') return null;
  const plain = plainName(written);
  for (const name of form.names) {
    if (plainName(name) === plain) return { name, convert: null };
    const unit = UNITS.find((one) => one.of.test(name) && plainName(one.written(name)) === plain);
    if (unit !== undefined) return { name, convert: unit.convert };
  }
  return null;
}

/** As people write them, for suggestions. */
export function namesOf(form: Form): string[] {
  if (form.kind !== 'object') return [];
  return form.names.flatMap((name) => [
    snake(name),
    ...UNITS.filter(({ of }) => of.test(name)).map(({ written }) => snake(written(name))),
  ]);
}

/** A rate of these is exact in whole nano-dollars and milliseconds; what is no number is left for the contract to refuse. */
const UNITS: readonly { readonly of: RegExp; written(name: string): string; convert(value: unknown): unknown }[] = [
  {
    of: /nanoDollars/i,
    written: (name) => name.replace('nanoDollars', 'dollars').replace('NanoDollars', 'Dollars'),
    convert: (value) => (typeof value === 'number' ? Math.round(value * 1e9) : value),
  },
  {
    of: /^wallClockMs$/,
    written: () => 'seconds',
    convert: (value) => (typeof value === 'number' ? Math.round(value * 1_000) : value),
  },
];

function objectForm(objects: readonly z.ZodObject[]): Form {
  const fields = new Map(objects.flatMap(({ shape }) => Object.entries(shape)));
  return {
    kind: 'object',
    names: [...fields.keys()],
    of(name) {
      const schema = fields.get(name);
      return schema === undefined ? { kind: 'leaf' } : formOf(schema);
    },
  };
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable
  ) {
    inner = inner.unwrap() as z.core.$ZodType;
  }
  return inner;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Request bodies decoded as Go's JSON decoder does: the first value counts, its error texts are kept, unknown fields pass. */
import { goKind, parseGoJson } from './families/go-json.ts';

/** The first JSON value of the body. Throws an Error with Go's text. */
export function decodeBody(body: string): unknown {
  if (body.trim() === '') throw new Error('missing request body');
  try {
    return JSON.parse(body);
  } catch {
    return decodeSlowly(body);
  }
}

/** Decodes an object and checks the types of its known fields; throws an Error with Go's text. `owner` is the Go package. */
export function decodeObject(
  body: string,
  struct: string,
  types: Readonly<Record<string, string>>,
  owner = 'api',
): Readonly<Record<string, unknown>> {
  const value = decodeBody(body);
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new Error(`json: cannot unmarshal ${goKind(value)} into Go value of type ${owner}.${struct}`);
  }
  const fields = value as Record<string, unknown>;
  checkFields(fields, struct, types);
  return fields;
}

/** Throws an Error with Go's text for the first field of another type. */
export function checkFields(
  fields: Readonly<Record<string, unknown>>,
  struct: string,
  types: Readonly<Record<string, string>>,
): void {
  for (const [name, type] of Object.entries(types)) {
    const field = fields[name];
    if (field === undefined || field === null || fits(field, type)) continue;
    throw new Error(`json: cannot unmarshal ${goKind(field)} into Go struct field ${struct}.${name} of type ${type}`);
  }
}

function fits(value: unknown, type: string): boolean {
  if (type === 'string') return typeof value === 'string';
  if (type === 'bool') return typeof value === 'boolean';
  if (type === 'float64') return typeof value === 'number';
  if (type === 'int') return typeof value === 'number' && Number.isInteger(value);
  if (type.startsWith('[]')) return Array.isArray(value);
  return typeof value === 'object' && !Array.isArray(value);
}

/** Either the first of several values, or the error Go's decoder would give. */
function decodeSlowly(body: string): unknown {
  const end = firstValueEnd(body);
  if (end !== null) {
    const first = parseGoJson(body.slice(0, end));
    if (first.ok) return first.value;
    throw new Error(first.error);
  }
  const parsed = parseGoJson(body);
  const error = parsed.ok ? 'unexpected EOF' : parsed.error;
  throw new Error(error === 'unexpected end of JSON input' ? 'unexpected EOF' : error);
}

/** End of the object or array the body begins with, or null when it is not closed. */
function firstValueEnd(body: string): number | null {
  let depth = 0;
  let inString = false;
  for (let at = body.search(/\S/); at < body.length; at += 1) {
    const character = body[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return character === '}' || character === ']' ? at + 1 : null;
  }
  return null;
}

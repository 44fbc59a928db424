/**
 * Arguments against the JSON Schema that a server gave for its tool. The schema is hostile: no code is made of it, no pattern of
 * it is run, and a check that takes too many steps is given up. What is not known here is left to the server, which checks again.
 */
import { type Json, type JsonObject, canonicalText, isObject } from '../../engine/guards/canonical.ts';

/**
 * null = the arguments fit; else the first thing that does not, with its place, such as `items[2].path must be a string`.
 * Throws when the schema takes more than STEPS_MAX steps or DEPTH_MAX levels to be checked.
 */
export function checkAgainstSchema(schema: Json, args: Json): string | null {
  return check({ root: schema, steps: 0 }, schema, args, '', 0);
}

const STEPS_MAX = 20_000;
const DEPTH_MAX = 64;
const NAME_MAX = 80;

interface Work {
  readonly root: Json;
  steps: number;
}

function check(work: Work, schema: Json, value: Json, place: string, depth: number): string | null {
  work.steps += 1;
  if (work.steps > STEPS_MAX || depth > DEPTH_MAX) throw new Error('the schema is too deep or too large to be checked');
  if (schema === false) return `${named(place)} is not allowed`;
  if (!isObject(schema)) return null;
  const referred = schema.get('$ref');
  if (typeof referred === 'string') {
    const target = targetOf(work.root, referred);
    const wrong = target === undefined ? null : check(work, target, value, place, depth + 1);
    if (wrong !== null) return wrong;
  }
  return (
    checkType(schema, value, place) ??
    checkValues(schema, value, place) ??
    checkSizes(schema, value, place) ??
    (isObject(value) ? checkFields(work, schema, value, place, depth) : null) ??
    (Array.isArray(value) ? checkItems(work, schema, value as readonly Json[], place, depth) : null) ??
    checkBranches(work, schema, value, place, depth)
  );
}

function checkType(schema: JsonObject, value: Json, place: string): string | null {
  const type = schema.get('type');
  const types = (Array.isArray(type) ? (type as readonly Json[]) : [type]).filter((one) => typeof one === 'string');
  if (types.length === 0 || types.some((one) => isOfType(one, value))) return null;
  return `${named(place)} must be ${types.map((one) => withArticle(clip(one))).join(' or ')}`;
}

function isOfType(type: string, value: Json): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      // A type that JSON does not have says nothing.
      return true;
  }
}

function checkValues(schema: JsonObject, value: Json, place: string): string | null {
  const only = schema.get('const');
  if (only !== undefined && !isSame(only, value)) return `${named(place)} must be ${clip(canonicalText(only))}`;
  const choices = schema.get('enum');
  if (!Array.isArray(choices) || choices.some((one: Json) => isSame(one, value))) return null;
  const listed = choices.slice(0, 10).map((one: Json) => clip(canonicalText(one)));
  return `${named(place)} must be one of ${listed.join(', ')}${choices.length > 10 ? ', …' : ''}`;
}

const isSame = (first: Json, second: Json): boolean => canonicalText(first) === canonicalText(second);

function checkSizes(schema: JsonObject, value: Json, place: string): string | null {
  const bound = (keyword: string): number | null => {
    const limit = schema.get(keyword);
    return typeof limit === 'number' ? limit : null;
  };
  const below = (size: number, keyword: string, unit: string): string | null => {
    const limit = bound(keyword);
    return limit !== null && size < limit ? `${named(place)} must have at least ${limit} ${unit}` : null;
  };
  const above = (size: number, keyword: string, unit: string): string | null => {
    const limit = bound(keyword);
    return limit !== null && size > limit ? `${named(place)} must have at most ${limit} ${unit}` : null;
  };
  if (typeof value === 'string') {
    const length = [...value].length;
    return below(length, 'minLength', 'characters') ?? above(length, 'maxLength', 'characters');
  }
  if (Array.isArray(value)) return below(value.length, 'minItems', 'items') ?? above(value.length, 'maxItems', 'items');
  if (isObject(value)) {
    return below(value.size, 'minProperties', 'fields') ?? above(value.size, 'maxProperties', 'fields');
  }
  if (typeof value !== 'number') return null;
  const [least, most] = [bound('minimum'), bound('maximum')];
  const [over, under] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  if (least !== null && value < least) return `${named(place)} must be at least ${least}`;
  if (most !== null && value > most) return `${named(place)} must be at most ${most}`;
  if (over !== null && value <= over) return `${named(place)} must be above ${over}`;
  return under !== null && value >= under ? `${named(place)} must be below ${under}` : null;
}

function checkFields(work: Work, schema: JsonObject, value: JsonObject, place: string, depth: number): string | null {
  const required = schema.get('required');
  for (const name of Array.isArray(required) ? (required as readonly Json[]) : []) {
    if (typeof name === 'string' && !value.has(name)) return `${named(joined(place, name))} is missing`;
  }
  const known = schema.get('properties');
  const patterns = schema.get('patternProperties');
  const hasPatterns = patterns !== undefined && isObject(patterns) && patterns.size > 0;
  const others = schema.get('additionalProperties');
  for (const [name, item] of value) {
    const own = known !== undefined && isObject(known) ? known.get(name) : undefined;
    // Which fields a pattern means is not decided here, so one that may be meant is let through.
    const rule = own ?? (hasPatterns ? undefined : others);
    if (rule === undefined) continue;
    if (own === undefined && rule === false) return `there is no field ${clip(joined(place, name))}`;
    const wrong = check(work, rule, item, joined(place, name), depth + 1);
    if (wrong !== null) return wrong;
  }
  return null;
}

function checkItems(
  work: Work,
  schema: JsonObject,
  value: readonly Json[],
  place: string,
  depth: number,
): string | null {
  const items = schema.get('items');
  const first = schema.get('prefixItems') ?? (Array.isArray(items) ? items : undefined);
  const heads = Array.isArray(first) ? (first as readonly Json[]) : [];
  const rest = Array.isArray(items) ? schema.get('additionalItems') : items;
  for (const [index, item] of value.entries()) {
    const rule = heads[index] ?? rest;
    const wrong = rule === undefined ? null : check(work, rule, item, `${place}[${index}]`, depth + 1);
    if (wrong !== null) return wrong;
  }
  return null;
}

function checkBranches(work: Work, schema: JsonObject, value: Json, place: string, depth: number): string | null {
  const listOf = (keyword: string): readonly Json[] => {
    const list = schema.get(keyword);
    return Array.isArray(list) ? (list as readonly Json[]) : [];
  };
  for (const branch of listOf('allOf')) {
    const wrong = check(work, branch, value, place, depth + 1);
    if (wrong !== null) return wrong;
  }
  const none = (keyword: string, most: number): string | null => {
    const branches = listOf(keyword);
    if (branches.length === 0) return null;
    const faults = branches.map((branch) => check(work, branch, value, place, depth + 1));
    const fits = faults.filter((fault) => fault === null).length;
    if (fits > most) return `${named(place)} fits more than one of the forms it may have`;
    return fits > 0 ? null : (faults[0] ?? null);
  };
  const wrong = none('anyOf', Infinity) ?? none('oneOf', 1);
  if (wrong !== null) return wrong;
  const not = schema.get('not');
  if (not === undefined || check(work, not, value, place, depth + 1) !== null) return null;
  return `${named(place)} is not allowed to be that`;
}

/** Only what is in the schema itself; nothing is fetched. undefined = nothing is there, and nothing is asked. */
function targetOf(root: Json, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const name = decoded(part).replace(/~1/g, '/').replace(/~0/g, '~');
    if (at === undefined) return undefined;
    if (isObject(at)) at = at.get(name);
    else at = Array.isArray(at) ? (at as readonly Json[])[Number(name)] : undefined;
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const named = (place: string): string => (place === '' ? 'the arguments' : clip(place));
const joined = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`);
const clip = (text: string): string => (text.length > NAME_MAX ? `${text.slice(0, NAME_MAX)}…` : text);
const withArticle = (type: string): string =>
  type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;

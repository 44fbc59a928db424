/** What makes two calls the same: SHA-256 over canonical JSON, without the fields that a tool's settings call volatile. */
import { type Json, canonicalText, isObject, parseJson } from './canonical.ts';

/** SHA-256 of a text as UTF-8, in lower-case hex. A port: the engine has no cryptography of its own. */
export type Sha256 = (text: string) => string;

export interface CallIdentity {
  readonly tool: string;
  readonly args: Json;
}

/** Tool and arguments, without the result. */
export function callFingerprint({ tool, args }: CallIdentity, ignored: readonly string[], sha256: Sha256): string {
  return sha256(canonicalText(envelope({ args: withoutFields(args, ignored), tool })));
}

/** Tool, arguments and result: a poll whose result changes is another state. A result that is JSON counts as its value. */
export function stateHash(
  { tool, args }: CallIdentity,
  result: string,
  ignored: readonly string[],
  sha256: Sha256,
): string {
  return sha256(canonicalText(envelope({ args: withoutFields(args, ignored), result: resultValue(result), tool })));
}

/** The canonical form that is hashed, for the guard lab. */
export function canonicalCall({ tool, args }: CallIdentity, ignored: readonly string[]): string {
  return canonicalText(envelope({ args: withoutFields(args, ignored), tool }));
}

export function resultValue(result: string): Json {
  const parsed = parseJson(result);
  return parsed.ok ? parsed.value : result.toWellFormed();
}

const envelope = (fields: Readonly<Record<string, Json>>): Json => new Map(Object.entries(fields));

function withoutFields(args: Json, ignored: readonly string[]): Json {
  if (ignored.length === 0 || !isObject(args)) return args;
  return new Map([...args].filter(([key]) => !ignored.includes(key)));
}

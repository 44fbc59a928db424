/** Arguments as the model wrote them: what is wrong with them shows only in the text. */
import { type Json, parseJson } from '../guards/canonical.ts';
import type { Tool } from './tool.ts';

/** More than any tool is meant to be asked with. */
const ARGUMENTS_MAX = 1_000_000;

/** Text to arguments, or what is wrong with them in words. */
export function readArguments(
  text: string,
  tool: Tool | undefined,
): { readonly ok: true; readonly args: Json } | { readonly ok: false; readonly words: string } {
  if (text.length > ARGUMENTS_MAX) return { ok: false, words: `the arguments are over ${ARGUMENTS_MAX} characters` };
  const parsed = parseJson(text.trim() === '' ? '{}' : text);
  if (!parsed.ok) return { ok: false, words: `the arguments are no JSON (${parsed.fault})` };
  if (parsed.lossy) return { ok: false, words: 'a whole number is too large to be read exactly: send it as a text' };
  let wrong: string | null;
  try {
    wrong = tool?.spec.check(parsed.value) ?? null;
  } catch {
    wrong = 'the arguments cannot be checked against what the tool says of them';
  }
  return wrong === null ? { ok: true, args: parsed.value } : { ok: false, words: wrong };
}

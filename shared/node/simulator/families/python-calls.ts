/** Calls written as Python: `[lookup(q='x', limit=3), other()]`. */
import { parseGoJson } from './go-json.ts';
import type { PlainCall } from './spans.ts';

/** Null where the text is no list of calls. */
export function parsePythonCalls(text: string): readonly PlainCall[] | null {
  const list = text.trim().replace(/^\[([\s\S]*)\]$/, '$1');
  const calls: PlainCall[] = [];
  for (const part of splitTopLevel(list)) {
    const match = /^\s*([\w.-]+)\s*\(([\s\S]*)\)\s*$/.exec(part);
    if (match === null) return null;
    const found = readArguments(match[2] ?? '');
    if (found === null) return null;
    calls.push({ name: match[1] ?? '', arguments: found });
  }
  return calls.length === 0 ? null : calls;
}

function readArguments(text: string): Readonly<Record<string, unknown>> | null {
  const found: Record<string, unknown> = {};
  for (const part of splitTopLevel(text)) {
    const at = part.indexOf('=');
    if (at === -1) return null;
    found[part.slice(0, at).trim()] = readValue(part.slice(at + 1).trim());
  }
  return found;
}

function readValue(text: string): unknown {
  const quoted = /^(['"])([\s\S]*)\1$/.exec(text);
  if (quoted !== null) return quoted[2] ?? '';
  const words: Readonly<Record<string, unknown>> = {
    true: true,
    True: true,
    false: false,
    False: false,
    null: null,
    None: null,
  };
  if (Object.hasOwn(words, text)) return words[text];
  if (text !== '' && Number.isFinite(Number(text))) return Number(text);
  const parsed = /^[[{]/.test(text) ? parseGoJson(text) : null;
  return parsed?.ok === true ? parsed.value : text;
}

/** Splits at commas that stand outside quotes and brackets; empty parts are left out. */
function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (quote !== '') {
      if (character === '\\') index++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts.filter((part) => part.trim() !== '');
}

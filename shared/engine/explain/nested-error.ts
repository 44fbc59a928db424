/** Unwraps errors that are JSON packed as text inside JSON, as overflow refusals come. */
import { type Fields, countOf, fieldsOf, parseJson, textOf } from './values.ts';

/** text: the innermost message. needs, has: tokens, where the server gives them. */
export interface ReadError {
  readonly text: string;
  readonly needs: number | null;
  readonly has: number | null;
}

const DEPTH_MAX = 6;

export function readError(value: unknown): ReadError {
  let inner = value;
  let needs: number | null = null;
  let has: number | null = null;
  let text = textOf(value) ?? '';
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    if (typeof inner === 'string') {
      text = inner;
      const parsed = inner.trimStart().startsWith('{') ? fieldsOf(parseJson(inner)) : null;
      if (parsed === null) break;
      inner = parsed;
      continue;
    }
    const fields: Fields | null = fieldsOf(inner);
    if (fields === null) break;
    needs = countOf(fields['n_prompt_tokens']) ?? needs;
    has = countOf(fields['n_ctx']) ?? has;
    inner = fields['error'] ?? fields['message'];
  }
  return { text, needs, has };
}

/**
 * The line that nearly every token comes in, read without parsing the whole of it as JSON: names in the order the server writes
 * them, a short text, `done` false and nothing else. Any other line is left to the parser, which reads this one the same way;
 * here it takes a quarter of the time.
 */
import { type Chunk, textChunk } from './reply-line.ts';

/** The chunk of the line that begins at `start`, or null where it has another form. The line ends with a newline. */
export function plainChunkAt(text: string, start: number): Chunk | null {
  plainLine.lastIndex = start;
  const found = plainLine.exec(text);
  if (found === null) return null;
  const [, answer = '', answerThinking = '', response = '', responseThinking = ''] = found;
  return textChunk(ownText(answerThinking || responseThinking), ownText(answer || response));
}

/**
 * What stood between the quotes, escapes read. The engine does not copy a longer piece of a text out of it: a piece that is kept
 * would keep all that was decoded with it in memory. What JSON gives back stands alone.
 */
function ownText(quoted: string): string {
  if (quoted.length <= copiedCharactersMax && !quoted.includes('\\')) return quoted;
  return JSON.parse(`"${quoted}"`) as string;
}

const copiedCharactersMax = 12;

/** What JSON may hold between quotes. Newlines are control characters, so no match reaches into the next line. */
const sign = '[^"\\\\\\u0000-\\u001f]';
const escape = '\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})';
/** Bounded, because each sign of a choice costs the matcher a place to come back to. */
const quoted = `"((?:${sign}|${escape}){0,64})"`;

const plainLine = new RegExp(
  `\\{"model":"${sign}*","created_at":"${sign}*",` +
    `(?:"message":\\{"role":"assistant","content":${quoted}(?:,"thinking":${quoted})?\\}|"response":${quoted}(?:,"thinking":${quoted})?)` +
    ',"done":false\\}\\n',
  'y',
);

/**
 * The line that nearly every token comes in, read without a JSON parser: names in the order the server writes them, one short
 * text without escapes, `done` false and nothing else. Any other line is left to the parser, which reads this one the same way;
 * this one takes a fifth of the time.
 */
import { type Chunk, textChunk } from './reply-line.ts';

/** The chunk of the line that begins at `start`, or null where it has another form. The line ends with a newline. */
export function plainChunkAt(text: string, start: number): Chunk | null {
  plainLine.lastIndex = start;
  const found = plainLine.exec(text);
  if (found === null) return null;
  const [, answer = '', answerThinking = '', response = '', responseThinking = ''] = found;
  return textChunk(answerThinking || responseThinking, answer || response);
}

/** What JSON may hold between quotes as it stands. Newlines are control characters, so no match reaches into the next line. */
const sign = '[^"\\\\\\u0000-\\u001f]';
/** A longer text would not be copied out: it would keep all that was decoded with it in memory for as long as it is kept. */
const text = `"(${sign}{0,12})"`;

const plainLine = new RegExp(
  `\\{"model":"${sign}*","created_at":"${sign}*",` +
    `(?:"message":\\{"role":"assistant","content":${text}(?:,"thinking":${text})?\\}|"response":${text}(?:,"thinking":${text})?)` +
    ',"done":false\\}\\n',
  'y',
);

/** What a tool sent, as text: texts are joined, structure is JSON, pictures and sounds and files are named and stay outside. */
import { createHash } from 'node:crypto';
import { OUTPUT_HEAD_BYTES, type ToolText, textOf } from '../../engine/gateway/tool.ts';
import type { BlobFolder } from '../agent/blob-folder.ts';
import { lineOf } from './texts.ts';

/** `result` is as the server sent it; what is not understood is named as such. */
export function resultText(result: Readonly<Record<string, unknown>>): {
  readonly text: string;
  readonly failed: boolean;
} {
  const content = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
  const parts = content.slice(0, BLOCKS_MAX).map(blockText);
  if (content.length > BLOCKS_MAX) parts.push(`[${content.length - BLOCKS_MAX} more parts, not shown]`);
  const structured = structuredText(result['structuredContent'], parts);
  if (structured !== null) parts.push(structured);
  return { text: parts.join('\n'), failed: result['isError'] === true };
}

/** A text over what is held in memory goes to the run's folder; its beginning and end stay. */
export async function storedText(text: string, blobs: Pick<BlobFolder, 'writer'>): Promise<ToolText> {
  const whole = textOf(text);
  if (whole.bytes <= OUTPUT_HEAD_BYTES) return whole;
  const writer = await blobs.writer();
  const hash = createHash('sha256');
  for (let at = 0; at < whole.head.length;) {
    let end = Math.min(at + PIECE_CHARACTERS, whole.head.length);
    // A character of two units is not taken apart.
    const last = whole.head.charCodeAt(end - 1);
    if (end < whole.head.length && last >= 0xd800 && last < 0xdc00) end -= 1;
    const piece = Buffer.from(whole.head.slice(at, end), 'utf8');
    hash.update(piece);
    if (!(await writer.write(piece))) break;
    at = end;
  }
  return { ...(await writer.end()), digest: hash.digest('hex') };
}

const BLOCKS_MAX = 10_000;
const PIECE_CHARACTERS = 262_144;

function blockText(block: unknown): string {
  const fields = fieldsOf(block);
  switch (fields['type']) {
    case 'text':
      return typeof fields['text'] === 'string' ? fields['text'] : '[a text that is none, not shown]';
    case 'image':
    case 'audio':
      return `[${fields['type']} ${mimeOf(fields)}, ${sizeOf(fields['data'])}, not shown]`;
    case 'resource_link':
      return `[link ${nameOf(fields)}${mimeOf(fields, ' ')}]`;
    case 'resource': {
      const resource = fieldsOf(fields['resource']);
      const size = typeof resource['text'] === 'string' ? textOf(resource['text']).bytes : null;
      const bytes = size === null ? sizeOf(resource['blob']) : `${size} bytes`;
      return `[resource ${nameOf(resource)}${mimeOf(resource, ' ')}, ${bytes}, not shown]`;
    }
    default:
      return `[a part of the kind ${wordOf(fields['type'])}, not shown]`;
  }
}

/** Servers send the same twice for clients that know only one of them: it is shown once. */
function structuredText(structured: unknown, parts: readonly string[]): string | null {
  if (structured === undefined || structured === null) return null;
  const text = JSON.stringify(structured);
  const shown = parts.join('\n');
  if (shown === '') return text;
  const values = Object.values(fieldsOf(structured));
  if (values.length === 1 && values[0] === shown) return null;
  try {
    return JSON.stringify(JSON.parse(shown)) === text ? null : text;
  } catch {
    return text;
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const wordOf = (value: unknown): string => (typeof value === 'string' ? lineOf(value, 100) : 'unknown');
const mimeOf = (fields: Readonly<Record<string, unknown>>, before = ''): string =>
  typeof fields['mimeType'] === 'string' ? `${before}${lineOf(fields['mimeType'], 100)}` : '';
const nameOf = ({ name, uri }: Readonly<Record<string, unknown>>): string =>
  [name, uri].flatMap((one) => (typeof one === 'string' ? [lineOf(one)] : [])).join(' ');

/** Of base64, which is three bytes in four characters. */
function sizeOf(data: unknown): string {
  if (typeof data !== 'string') return 'empty';
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return `${Math.max(0, Math.floor((data.length * 3) / 4) - padding)} bytes`;
}

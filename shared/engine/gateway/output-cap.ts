/** What of a tool's output comes into the context: at most `capBytes` with the marker, on whole characters. */
import { utf8Bytes } from '../utf8.ts';
import type { ToolText } from './tool.ts';

export interface ShownText {
  readonly text: string;
  readonly bytes: number;
  readonly wasCut: boolean;
  /** Bytes of the output's beginning that are shown: where `read_blob` goes on. */
  readonly keptBytes: number;
}

/** `handleOf` names the stored whole; it is asked for only when something is cut. capBytes null = all that is in memory. */
export function capOutput(
  output: ToolText,
  capBytes: number | null,
  keep: 'head' | 'head-and-tail',
  handleOf: () => string,
): ShownText {
  const isWhole = output.bytes === utf8Bytes(output.head);
  if (isWhole && (capBytes === null || output.bytes <= capBytes)) {
    return { text: output.head, bytes: output.bytes, wasCut: false, keptBytes: output.bytes };
  }
  const handle = handleOf();
  const room = capBytes ?? utf8Bytes(output.head);
  const marker = (offset: number): string =>
    `\n[truncated: ${output.bytes} bytes in all; read more with read_blob(handle='${handle}', offset=${offset})]`;
  // The offset is part of the marker, and its digits decide what is left for the text.
  let kept = Math.max(0, room - marker(0).length);
  for (let tries = 0; tries < 4; tries += 1) kept = Math.max(0, room - marker(kept).length);
  const tailSource = output.tail === '' ? output.head : output.tail;
  const tailBytes = keep === 'head-and-tail' && capBytes !== null ? Math.floor(kept / 4) : 0;
  const head = headBytes(output.head, kept - tailBytes);
  const offset = utf8Bytes(head);
  const tail = tailBytes === 0 ? '' : `\n…\n${tailOf(tailSource, Math.max(0, tailBytes - 5))}`;
  const text = capToBytes(`${head}${marker(offset)}${tail}`, capBytes);
  return { text, bytes: utf8Bytes(text), wasCut: true, keptBytes: offset };
}

/** The longest beginning of whole characters within so many bytes. */
export function headBytes(text: string, bytesMax: number): string {
  let bytes = 0;
  let at = 0;
  for (const character of text) {
    bytes += utf8Bytes(character);
    if (bytes > bytesMax) break;
    at += character.length;
  }
  return text.slice(0, at);
}

function tailOf(text: string, bytesMax: number): string {
  let bytes = 0;
  let at = text.length;
  while (at > 0) {
    const low = text.charCodeAt(at - 1);
    const size = low >= 0xdc00 && low < 0xe000 && at > 1 ? 2 : 1;
    bytes += utf8Bytes(text.slice(at - size, at));
    if (bytes > bytesMax) break;
    at -= size;
  }
  return text.slice(at);
}

/** A cap too small for the marker itself still holds. */
function capToBytes(text: string, capBytes: number | null): string {
  return capBytes === null || utf8Bytes(text) <= capBytes ? text : headBytes(text, capBytes);
}

/**
 * The channels of gpt-oss: each message has a header that names its channel and perhaps a tool. Thinking is what comes on
 * `analysis`, whatever `think` said; a tool call is read when the reply ends, so it arrives in the done chunk.
 */
import type { FamilyParser, FamilyPiece } from './index.ts';
import { parseGoJsonObject } from './go-json.ts';
import { overlapLength } from './spans.ts';

const startTag = '<|start|>';
const headerEndTag = '<|message|>';
const endTag = '<|end|>';

/** `continued`: the assistant turn the prompt ends with, if any. */
export function createHarmonyParser(continued?: {
  readonly content: string;
  readonly thinking?: string;
}): FamilyParser {
  const reader = new HarmonyReader(openingOf(continued));
  return { push: (piece) => [reader.add(piece)], end: () => [reader.end()] };
}

class HarmonyReader {
  private state: 'between' | 'header' | 'body' = 'between';
  private target: 'content' | 'thinking' | 'tool' = 'content';
  private buffer: string;
  private toolName: string | null = null;
  private toolText = '';
  private thinking = '';
  private content = '';

  constructor(opening: string) {
    this.buffer = opening;
  }

  add(piece: string): FamilyPiece {
    this.buffer += piece;
    while (this.step());
    const result = { thinking: this.thinking, content: this.content, toolCalls: [] };
    this.thinking = '';
    this.content = '';
    return result;
  }

  end(): FamilyPiece {
    const empty = { thinking: '', content: '', toolCalls: [] };
    if (this.toolName === null) return empty;
    const parsed = parseGoJsonObject(this.toolText);
    if (!parsed.ok) return { ...empty, error: `error parsing tool call: raw='${this.toolText}', err=${parsed.error}` };
    const name = this.toolName.replace(/^functions\./, '');
    return { ...empty, toolCalls: [{ function: { index: 0, name, arguments: parsed.value } }] };
  }

  private step(): boolean {
    if (this.state === 'between') return this.cut(startTag, 'header') !== null;
    if (this.state === 'header') {
      const header = this.cut(headerEndTag, 'body');
      if (header !== null) this.openBody(header);
      return header !== null;
    }
    const body = this.cut(endTag, 'between');
    if (body !== null) {
      this.emit(body);
      this.target = 'content';
      return true;
    }
    const shown = this.buffer.slice(0, this.buffer.length - overlapLength(this.buffer, endTag));
    this.buffer = this.buffer.slice(shown.length);
    this.emit(shown);
    return false;
  }

  /** Text before the tag, with the tag taken off the buffer; null while it has not come. */
  private cut(tag: string, next: 'between' | 'header' | 'body'): string | null {
    const at = this.buffer.indexOf(tag);
    if (at === -1) return null;
    const before = this.buffer.slice(0, at);
    this.buffer = this.buffer.slice(at + tag.length);
    this.state = next;
    return before;
  }

  private openBody(text: string): void {
    const { channel, recipient } = readHeader(text);
    if (channel === 'final') this.target = 'content';
    if (channel !== 'analysis' && channel !== 'commentary') return;
    if (recipient !== '') {
      this.target = 'tool';
      this.toolName = recipient;
      return;
    }
    this.target = channel === 'analysis' ? 'thinking' : 'content';
  }

  private emit(text: string): void {
    if (this.target === 'thinking') this.thinking += text;
    else if (this.target === 'tool') this.toolText += text;
    else this.content += text;
  }
}

/** The prompt ends with the start of the assistant's turn, so the first header is already open, or even the first body. */
function openingOf(continued: { readonly content: string; readonly thinking?: string } | undefined): string {
  const head = `${startTag}assistant`;
  if ((continued?.content ?? '') !== '') return `${head}<|channel|>final${headerEndTag}`;
  return (continued?.thinking ?? '') !== '' ? `${head}<|channel|>analysis${headerEndTag}` : head;
}

/** `assistant<|channel|>commentary to=functions.lookup <|constrain|>json`, the recipient before or after the channel. */
function readHeader(text: string): { channel: string; recipient: string } {
  const spaced = text.replace('<|constrain|>', ' <|constrain|>');
  const channel = /<\|channel\|>(\S*)/.exec(spaced)?.[1] ?? '';
  const words = spaced
    .replace(/<\|channel\|>\S*/, '')
    .split(/\s+/)
    .filter((word) => word !== '');
  const addressed = words.slice(0, 2).find((word) => word.startsWith('to='));
  return { channel, recipient: addressed?.slice(3) ?? '' };
}

/**
 * Models with a Go template and no parser of their own. Thinking: only a text that opens with the tag, its white space at
 * the end kept. Tool calls: the name of an offered tool and an object with one of its properties, after the template's tag.
 */
import type { ToolCall } from '../options.ts';
import type { FamilyParser, FamilyPiece } from './index.ts';
import { parseGoJson } from './go-json.ts';
import { overlapLength } from './spans.ts';

export interface TemplateOptions {
  readonly thinking: boolean;
  readonly tools: readonly unknown[];
  /** The tag the template puts around calls; `{` where it has none. */
  readonly toolTag?: string;
}

export function createTemplateParser(options: TemplateOptions): FamilyParser {
  const thoughts = options.thinking ? new ThoughtSplitter('<think>', '</think>') : null;
  const calls = options.tools.length === 0 ? null : new CallFinder(options.tools, options.toolTag ?? '<tool_call>');
  return {
    push(piece) {
      const split = thoughts?.add(piece) ?? { thinking: '', content: piece };
      if (calls === null) return [{ ...split, toolCalls: [] }];
      return [{ thinking: split.thinking, ...calls.add(split.content) }];
    },
    end: () => [{ thinking: '', content: calls?.rest() ?? '', toolCalls: [] }],
  };
}

class ThoughtSplitter {
  private state: 'seek' | 'opened' | 'thinking' | 'closed' | 'content' = 'seek';
  private buffer = '';
  private readonly openTag: string;
  private readonly closeTag: string;

  constructor(openTag: string, closeTag: string) {
    this.openTag = openTag;
    this.closeTag = closeTag;
  }

  add(piece: string): Pick<FamilyPiece, 'thinking' | 'content'> {
    this.buffer += piece;
    if (this.state === 'seek') this.seek();
    if (this.state === 'opened') this.skipSpaceThen('thinking');
    const thinking = this.state === 'thinking' ? this.readThinking() : '';
    if (this.state === 'closed') this.skipSpaceThen('content');
    return { thinking, content: this.state === 'content' ? this.takeAll() : '' };
  }

  private seek(): void {
    const text = this.buffer.trimStart();
    if (text.startsWith(this.openTag)) {
      this.state = 'opened';
      this.buffer = text.slice(this.openTag.length);
    } else if (!this.openTag.startsWith(text)) this.state = 'content';
  }

  private skipSpaceThen(next: 'thinking' | 'content'): void {
    this.buffer = this.buffer.trimStart();
    if (this.buffer !== '') this.state = next;
  }

  private readThinking(): string {
    const closeAt = this.buffer.indexOf(this.closeTag);
    const shown =
      closeAt === -1
        ? this.buffer.slice(0, this.buffer.length - overlapLength(this.buffer, this.closeTag))
        : this.buffer.slice(0, closeAt);
    this.buffer = this.buffer.slice(shown.length + (closeAt === -1 ? 0 : this.closeTag.length));
    if (closeAt !== -1) this.state = 'closed';
    return shown;
  }

  private takeAll(): string {
    const text = this.buffer;
    this.buffer = '';
    return text;
  }
}

class CallFinder {
  private state: 'seek' | 'calling' | 'over' = 'seek';
  private buffer = '';
  private count = 0;
  private readonly names: readonly string[];
  private readonly properties: ReadonlyMap<string, readonly string[]>;
  private readonly tag: string;

  constructor(tools: readonly unknown[], tag: string) {
    const described = tools.map(describeTool).filter((tool) => tool.name !== '');
    this.names = described.map((tool) => tool.name);
    this.properties = new Map(described.map((tool) => [tool.name, tool.properties]));
    this.tag = tag;
  }

  add(text: string): Pick<FamilyPiece, 'content' | 'toolCalls'> {
    if (this.state === 'over') return { content: text, toolCalls: [] };
    this.buffer += text;
    const content = this.state === 'seek' ? this.seek() : '';
    if (this.state !== 'calling') return { content, toolCalls: [] };
    const toolCalls: ToolCall[] = [];
    for (let call = this.next(); call !== null; call = this.next()) toolCalls.push(call);
    return { content, toolCalls };
  }

  /** A brace that led to no call was text after all. */
  rest(): string {
    return this.count === 0 && (this.tag === '{' || this.tag === '[') ? this.buffer : '';
  }

  private seek(): string {
    const at = this.buffer.indexOf(this.tag);
    if (at === -1) {
      const content = this.buffer.slice(0, this.buffer.length - overlapLength(this.buffer, this.tag));
      this.buffer = this.buffer.slice(content.length);
      return content;
    }
    const content = this.buffer.slice(0, at);
    this.buffer = this.buffer.slice(at);
    this.state = 'calling';
    if ((this.tag !== '{' && this.tag !== '[') || content.trim() === '') return content;
    this.state = 'over';
    return content + this.buffer;
  }

  private next(): ToolCall | null {
    const name = firstOf(this.names, this.buffer);
    if (name === null) return null;
    const object = findArguments(this.buffer, this.properties.get(name) ?? [], name);
    if (object === null) return null;
    this.buffer = this.buffer.slice(object.end);
    return { function: { index: this.count++, name, arguments: object.value } };
  }
}

export function describeTool(tool: unknown): {
  name: string;
  properties: readonly string[];
  parameters: Readonly<Record<string, unknown>>;
} {
  const definition = record(record(tool)['function']);
  const parameters = record(record(definition['parameters'])['properties']);
  return {
    name: typeof definition['name'] === 'string' ? definition['name'] : '',
    properties: Object.keys(parameters),
    parameters,
  };
}

export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function firstOf(names: readonly string[], text: string): string | null {
  const found = names.map((name) => ({ name, at: text.indexOf(name) })).filter((entry) => entry.at !== -1);
  return found.sort((a, b) => a.at - b.at || b.name.length - a.name.length)[0]?.name ?? null;
}

/** The first complete object; inside it the `arguments` (or `parameters`) of the named call, or an object with known keys. */
function findArguments(
  text: string,
  keys: readonly string[],
  name: string,
): { value: Readonly<Record<string, unknown>>; end: number } | null {
  const start = text.indexOf('{');
  const end = start === -1 ? -1 : matchingBrace(text, start);
  if (end === -1) return null;
  const parsed = parseGoJson(text.slice(start, end + 1));
  if (!parsed.ok) return null;
  const value = pickArguments(parsed.value, keys, name);
  return value === null ? null : { value, end: end + 1 };
}

function pickArguments(
  value: unknown,
  keys: readonly string[],
  name: string,
): Readonly<Record<string, unknown>> | null {
  if (Array.isArray(value))
    return value.reduce<Readonly<Record<string, unknown>> | null>(
      (found, item) => found ?? pickArguments(item, keys, name),
      null,
    );
  if (typeof value !== 'object' || value === null) return null;
  const object = record(value);
  if (object['name'] === name) return record(object['arguments'] ?? object['parameters']);
  if (keys.some((key) => key in object)) return object;
  if (Object.keys(object).length === 0 && keys.length === 0) return object;
  return pickArguments(Object.values(object), keys, name);
}

function matchingBrace(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character === '\\') index++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return index;
  }
  return -1;
}

/**
 * The parser behind most families: text is a sequence of spans (thinking, answer, tool call) between tags, and what could
 * still become a tag is held back until it is decided. What is held at the end of the reply is lost, as on the real server,
 * unless the family flushes.
 */
import type { ToolCall } from '../options.ts';
import type { FamilyParser, FamilyPiece, FamilyWarning } from './index.ts';

export interface SpanRules {
  readonly openTag: string;
  readonly closeTag: string;
  /** content: thinking is not expected; seek: thinking only when the text opens with the tag; thinking: the prompt opened it. */
  readonly start: 'content' | 'seek' | 'thinking';
  /** Starts in the answer when the request ends with an answer to be continued. */
  readonly heedsContinuation: boolean;
  /** In `seek`: an answer without a thought loses its leading white space, and is settled at the latest when the reply ends. */
  readonly trimsDirectAnswer: boolean;
  /** In `thinking`: one leading open tag is dropped; without it the tag stays in the thinking text. */
  readonly dropsLeadingOpen: boolean;
  /** White space after the close tag: eaten however it arrives, or only when it comes in the piece that closed. */
  readonly afterClose: 'eat' | 'trim-piece';
  /** White space at the end of the answer so far waits for the next piece (it is lost if none comes). */
  readonly holdsContentTail: boolean;
  /** The open tag is recognised anywhere in the answer. */
  readonly reopens: boolean;
  /** First line of a thinking span that only names the channel. */
  readonly channelName: string;
  /** Thinking is read and thrown away. */
  readonly hidesThinking: boolean;
  /** What is held when the reply ends is still delivered. */
  readonly flushes: boolean;
  readonly tools: SpanTools | null;
}

export interface SpanTools {
  readonly openTag: string;
  /** The tag is looked for across pieces. False = only within one piece, so a tag in two pieces stays text. */
  readonly joined: boolean;
  /** A call may begin without the thinking having been closed. */
  readonly endsThinking: boolean;
  read(buffer: string, tools: readonly unknown[], ended: boolean): ToolRead;
}

export type ToolRead =
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'calls';
      readonly calls: readonly PlainCall[];
      readonly rest: string;
      readonly more: boolean;
      /** White space after the call is eaten also when it comes in later pieces. */
      readonly eats?: boolean;
      readonly warnings?: readonly FamilyWarning[];
    }
  | { readonly kind: 'error'; readonly error: string; readonly warnings: readonly FamilyWarning[] };

export interface PlainCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

type State = 'seek' | 'leading-open' | 'opened' | 'channel-name' | 'thinking' | 'closed' | 'content' | 'tool';

export function createSpanParser(rules: SpanRules, tools: readonly unknown[]): FamilyParser {
  const reader = new SpanReader(rules, tools);
  return { push: (piece) => [reader.add(piece, false)], end: () => [reader.add('', true)] };
}

class SpanReader {
  private readonly rules: SpanRules;
  private readonly tools: readonly unknown[];
  private state: State;
  private buffer = '';
  private callCount = 0;
  private thinking = '';
  private content = '';
  private calls: ToolCall[] = [];
  private warnings: FamilyWarning[] = [];
  private error: string | null = null;

  constructor(rules: SpanRules, tools: readonly unknown[]) {
    this.rules = rules;
    this.tools = tools;
    this.state = rules.start === 'thinking' && rules.dropsLeadingOpen ? 'leading-open' : rules.start;
  }

  add(piece: string, ended: boolean): FamilyPiece {
    this.buffer += piece;
    // Each step either consumes a tag or asks for more text, so the number of steps is bounded by the text.
    while (this.error === null && this.step(ended));
    const result = this.collect();
    this.thinking = '';
    this.content = '';
    this.calls = [];
    this.warnings = [];
    return result;
  }

  private collect(): FamilyPiece {
    const warnings = this.warnings.length === 0 ? {} : { warnings: this.warnings };
    if (this.error !== null) return { thinking: '', content: '', toolCalls: [], error: this.error, ...warnings };
    return {
      thinking: this.rules.hidesThinking ? '' : this.thinking,
      content: this.content,
      toolCalls: this.calls,
      ...warnings,
    };
  }

  /** True = the state moved and there may be more to read in the buffer. */
  private step(ended: boolean): boolean {
    switch (this.state) {
      case 'seek':
        return this.seekOpen(ended);
      case 'leading-open':
        return this.dropLeadingOpen();
      case 'opened':
        return this.eatSpaceThen('thinking');
      case 'closed':
        return this.eatSpaceThen('content');
      case 'channel-name':
        return this.dropChannelName(ended);
      case 'thinking':
        return this.readThinking(ended);
      case 'content':
        return this.readContent(ended);
      case 'tool':
        return this.readTool(ended);
    }
  }

  private seekOpen(ended: boolean): boolean {
    const text = this.buffer.trimStart();
    if (text.startsWith(this.rules.openTag)) return this.enter('opened', text.slice(this.rules.openTag.length));
    const decides = ended && this.rules.trimsDirectAnswer;
    if (this.rules.openTag.startsWith(text) && !decides) return false;
    return this.enter('content', this.rules.trimsDirectAnswer ? text : this.buffer);
  }

  private dropLeadingOpen(): boolean {
    const text = this.buffer.trimStart();
    if (text.startsWith(this.rules.openTag)) return this.enter('opened', text.slice(this.rules.openTag.length));
    if (this.rules.openTag.startsWith(text)) return false;
    return this.enter('thinking', this.buffer);
  }

  private eatSpaceThen(state: State): boolean {
    this.buffer = this.buffer.trimStart();
    return this.buffer !== '' && this.enter(state, this.buffer);
  }

  private dropChannelName(ended: boolean): boolean {
    const name = this.rules.channelName;
    if (this.buffer.startsWith(name)) return this.enter('thinking', this.buffer.slice(name.length));
    if (!ended && name.startsWith(this.buffer)) return false;
    return this.enter('thinking', this.buffer);
  }

  private readThinking(ended: boolean): boolean {
    const closeAt = this.buffer.indexOf(this.rules.closeTag);
    const toolTag = this.rules.tools?.endsThinking === true ? this.rules.tools.openTag : '';
    const toolAt = toolTag === '' ? -1 : this.buffer.indexOf(toolTag);
    if (toolAt !== -1 && (closeAt === -1 || toolAt < closeAt)) {
      this.thinking += this.buffer.slice(0, toolAt).trimEnd();
      return this.enter('content', this.buffer.slice(toolAt));
    }
    if (closeAt !== -1) {
      this.thinking += this.buffer.slice(0, closeAt).trimEnd();
      const rest = this.buffer.slice(closeAt + this.rules.closeTag.length);
      return this.rules.afterClose === 'eat' ? this.enter('closed', rest) : this.enter('content', rest.trimStart());
    }
    if (ended && !this.rules.flushes) return false;
    this.thinking += this.take(ended ? 0 : heldLength(this.buffer, [this.rules.closeTag, toolTag], true));
    return false;
  }

  private readContent(ended: boolean): boolean {
    const { tools, openTag, reopens } = this.rules;
    const opensAt = reopens ? this.buffer.indexOf(openTag) : -1;
    const toolAt = tools === null ? -1 : this.buffer.indexOf(tools.openTag);
    if (opensAt !== -1 && (toolAt === -1 || opensAt < toolAt)) {
      this.content += this.buffer.slice(0, opensAt).trimEnd();
      return this.enter('channel-name', this.buffer.slice(opensAt + openTag.length));
    }
    if (toolAt !== -1 && tools !== null) {
      this.content += this.buffer.slice(0, toolAt).trimEnd();
      return this.enter('tool', this.buffer.slice(toolAt + tools.openTag.length));
    }
    if (ended && !this.rules.flushes && !this.rules.trimsDirectAnswer) return false;
    const tags = [reopens ? openTag : '', tools?.joined === true ? tools.openTag : ''];
    this.content += this.take(ended ? 0 : heldLength(this.buffer, tags, this.rules.holdsContentTail));
    return false;
  }

  private readTool(ended: boolean): boolean {
    if (this.rules.tools === null || this.buffer === '') return false;
    const read = this.rules.tools.read(this.buffer, this.tools, ended);
    if (read.kind === 'wait') return false;
    this.warnings.push(...(read.warnings ?? []));
    if (read.kind === 'error') {
      this.error = read.error;
      return false;
    }
    for (const call of read.calls)
      this.calls.push({ function: { index: this.callCount++, name: call.name, arguments: call.arguments } });
    return this.enter(read.more ? 'tool' : read.eats === true ? 'closed' : 'content', read.rest);
  }

  private enter(state: State, rest: string): boolean {
    this.state = state;
    this.buffer = rest;
    return true;
  }

  /** All but the last `held` characters; those stay in the buffer. */
  private take(held: number): string {
    const text = this.buffer.slice(0, this.buffer.length - held);
    this.buffer = this.buffer.slice(text.length);
    return text;
  }
}

/** How many characters at the end may still turn out to be a tag, with the white space before it. */
export function heldLength(text: string, tags: readonly string[], holdsSpace: boolean): number {
  const partial = Math.max(0, ...tags.map((tag) => overlapLength(text, tag)));
  if (partial === 0 && !holdsSpace) return 0;
  return text.length - text.slice(0, text.length - partial).trimEnd().length;
}

/** Length of the longest start of `tag` that `text` ends with. */
export function overlapLength(text: string, tag: string): number {
  for (let length = Math.min(tag.length, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

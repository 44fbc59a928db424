/** Cuts a text into thinking and answer at its marks. */
import { type Mention, findMentions } from './mentions.ts';
import { type Mark, findMarks } from './tags.ts';

/** A stretch of the text, UTF-16 positions. `mark`: the tags themselves, which belong to neither. */
export interface Segment {
  readonly kind: 'thinking' | 'answer' | 'mark';
  readonly start: number;
  readonly end: number;
}

/**
 * segments: the whole text in order. stray: control tokens that stayed in the answer. isOpen: it ends inside thinking.
 * closedByMark: where the first block of thinking ended, null if none did.
 */
export interface Segmented {
  readonly segments: readonly Segment[];
  readonly stray: readonly string[];
  readonly isOpen: boolean;
  readonly closedAt: number | null;
}

export interface SegmentOptions {
  /** The text is from the thinking field: it begins inside thinking. */
  readonly startsInThinking: boolean;
  /** Thinking came before this text, so a tag at its very end belongs to that. */
  readonly followsThinking: boolean;
}

const STRAY_MAX = 20;

export function segmentText(text: string, options: SegmentOptions): Segmented {
  const marks = findMarks(text);
  if (marks.length === 0) {
    const kind = options.startsInThinking ? 'thinking' : 'answer';
    const segments: Segment[] = text === '' ? [] : [{ kind, start: 0, end: text.length }];
    return { segments, stray: [], isOpen: options.startsInThinking, closedAt: null };
  }
  return new Walk(text, marks, findMentions(text, marks), options).run();
}

/** The text of one kind, as it stands. */
export function textOf(text: string, segments: readonly Segment[], kind: Segment['kind']): string {
  return segments
    .filter((segment) => segment.kind === kind)
    .map((segment) => text.slice(segment.start, segment.end))
    .join('');
}

class Walk {
  private readonly segments: Segment[] = [];
  private readonly stray: string[] = [];
  private position = 0;
  private thinking: boolean;
  private openKey: string | null = null;
  private closedAt: number | null = null;
  private thoughtBefore: boolean;
  private answerMarked = false;
  private readonly text: string;
  private readonly marks: readonly Mark[];
  private readonly mentions: readonly Mention[];

  constructor(text: string, marks: readonly Mark[], mentions: readonly Mention[], options: SegmentOptions) {
    this.text = text;
    this.marks = marks;
    this.mentions = mentions;
    this.thinking = options.startsInThinking;
    this.thoughtBefore = options.followsThinking;
  }

  run(): Segmented {
    for (const [index, mark] of this.marks.entries()) {
      if (this.thinking) this.inThinking(mark, index);
      else this.inAnswer(mark, index);
    }
    this.push(this.thinking ? 'thinking' : 'answer', this.text.length);
    return { segments: this.segments, stray: this.stray, isOpen: this.thinking, closedAt: this.closedAt };
  }

  private inThinking(mark: Mark, index: number): void {
    // An opening tag inside thinking is a stray one of the model; at its head it is no part of the text.
    if (
      mark.role === 'open' &&
      this.mentions[index] === null &&
      this.text.slice(this.position, mark.start).trim() === ''
    ) {
      this.openKey ??= mark.key;
      return this.remove(mark, 'thinking');
    }
    if ((mark.role === 'close' || mark.role === 'answer') && this.endsThinking(mark, index)) {
      this.remove(mark, 'thinking');
      this.closedAt ??= mark.start;
      this.thinking = false;
      this.openKey = null;
      this.thoughtBefore = true;
    }
  }

  private inAnswer(mark: Mark, index: number): void {
    if (this.mentions[index] !== null) return;
    if (mark.role === 'open') {
      if (!mark.own && !this.opensThinking(mark, index)) return;
      this.remove(mark, 'answer');
      this.thinking = true;
      this.openKey = mark.key;
      return;
    }
    if (mark.role === 'stray') {
      if (this.stray.length < STRAY_MAX) this.stray.push(this.text.slice(mark.start, mark.end));
      return;
    }
    if (mark.role === 'answer') {
      this.remove(mark, this.answerMarked || this.thoughtBefore ? 'answer' : 'thinking');
      this.answerMarked = true;
      return;
    }
    this.loneClose(mark);
  }

  /** Text before a lone closing tag is thinking: the opening one stood in the prompt. */
  private loneClose(mark: Mark): void {
    const isAtEnd = this.text.slice(mark.end).trim() === '';
    if (isAtEnd && this.thoughtBefore) return this.remove(mark, 'answer');
    this.remove(mark, 'thinking');
    this.closedAt ??= mark.start;
    this.thoughtBefore = true;
  }

  /** A bracket in mid-text is only a tag where its closing one follows. */
  private opensThinking(mark: Mark, index: number): boolean {
    if (!mark.key.startsWith('bracket:')) return true;
    if (this.text.slice(0, mark.start).trim() === '') return true;
    return this.marks.some((other, at) => at > index && other.role === 'close' && other.key === mark.key);
  }

  /** Whether this mark is the one that ends the thinking, and none behind it is a better one. */
  private endsThinking(mark: Mark, index: number): boolean {
    const mention = this.mentions[index] ?? null;
    const later = this.marks.slice(index + 1).some((other, offset) => this.couldEnd(other, index + 1 + offset));
    if (this.openKey !== null && mark.role === 'close' && mark.key !== this.openKey && this.sameKeyFollows(index))
      return false;
    if (mention === null) return true;
    if (later) return false;
    if (mention === 'block') return !this.opensInside(index);
    return mention === 'sentence' && /^\s*(?:\n|$)/.test(this.text.slice(mark.end, mark.end + 40));
  }

  private couldEnd(mark: Mark, index: number): boolean {
    return (mark.role === 'close' || mark.role === 'answer') && this.mentions[index] === null;
  }

  private sameKeyFollows(index: number): boolean {
    return this.marks.some((other, at) => at > index && other.key === this.openKey && this.couldEnd(other, at));
  }

  /** An opening tag in the same piece of code: the pair is an example. */
  private opensInside(index: number): boolean {
    for (let at = index - 1; at >= 0; at -= 1) {
      const other = this.marks[at];
      if (other === undefined || this.mentions[at] !== 'block' || other.start < this.position) return false;
      if (other.role === 'open') return true;
    }
    return false;
  }

  private remove(mark: Mark, before: 'thinking' | 'answer'): void {
    this.push(before, mark.start);
    this.segments.push({ kind: 'mark', start: mark.start, end: mark.end });
    this.position = mark.end;
  }

  private push(kind: 'thinking' | 'answer', end: number): void {
    if (end > this.position) this.segments.push({ kind, start: this.position, end });
    this.position = Math.max(this.position, end);
  }
}

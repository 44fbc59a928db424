/**
 * How many tokens of a too long prompt a server keeps, by its version. Read from the public sources of the servers and checked
 * against recorded calls:
 *
 * | versions          | keeps                                        | cuts above    |
 * | ----------------- | -------------------------------------------- | ------------- |
 * | before 0.30.0     | the whole window                             | the window    |
 * | 0.30.0 to 0.30.10 | the window less one                          | window less 1 |
 * | from 0.30.11      | window - max(floor((window - keep) / 2), 1)  | window less 1 |
 *
 * `keep` is num_keep (4 unless set; negative: as many as fit), plus one where the vocabulary adds a begin token.
 */
import { number } from './wording.ts';

export type Era = 'keeps-window' | 'keeps-all-but-one' | 'keeps-half';

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** One size a cut can leave. headTokens: what stays at the start; null where it depends on the runner. */
export interface CutSize {
  readonly era: Era;
  readonly size: number;
  readonly headTokens: number | null;
  readonly kind: 'halved' | 'cut-to-window';
  /** The arithmetic, with its numbers. */
  readonly formula: string;
}

export interface CutQuestion {
  readonly window: number;
  readonly serverVersion: string | null;
  readonly numKeep: number | null;
  readonly addsBos: boolean | null;
}

export const NUM_KEEP_DEFAULT = 4;
/** Set in the Modelfile of widely used models, so it counts as usual where the request says nothing. */
const NUM_KEEP_USUAL = [NUM_KEEP_DEFAULT, 24];
/** In windows smaller than this nobody keeps 24 tokens, and every count would be some cut size. */
const USUAL_WINDOW_MIN = 64;

/** Every size that a cut may have left here; more than one where version, num_keep or begin token are not known. */
export function cutSizes(question: CutQuestion): readonly CutSize[] {
  const sizes = new Map<string, CutSize>();
  for (const era of erasOf(question.serverVersion)) {
    for (const numKeep of numKeeps(question)) {
      for (const addsBos of question.addsBos === null ? [true, false] : [question.addsBos]) {
        const size = cutSize(era, question.window, numKeep, addsBos);
        const key = `${era} ${size.size}`;
        if (!sizes.has(key)) sizes.set(key, size);
      }
    }
  }
  return [...sizes.values()];
}

function numKeeps({ numKeep, window }: CutQuestion): readonly number[] {
  if (numKeep !== null) return [numKeep];
  return window < USUAL_WINDOW_MIN ? [NUM_KEEP_DEFAULT] : NUM_KEEP_USUAL;
}

export function cutSize(era: Era, window: number, numKeep: number, addsBos: boolean): CutSize {
  if (era === 'keeps-window') {
    const formula = `${number(window)} is the whole window: before 0.30 a longer prompt is cut to exactly that`;
    return {
      era,
      size: window,
      headTokens: addsBos ? null : keptHead(window, numKeep, 0),
      kind: 'cut-to-window',
      formula,
    };
  }
  if (era === 'keeps-all-but-one') {
    const formula = `${number(window - 1)} is the cut size for ${number(window)}: ${number(window)} − 1`;
    return {
      era,
      size: Math.max(0, window - 1),
      headTokens: keptHead(window, numKeep, 0),
      kind: 'cut-to-window',
      formula,
    };
  }
  const keep = keptHead(window, numKeep, addsBos ? 1 : 0);
  const size = halfLimit(window, keep);
  const formula = `${number(size)} is the cut size for ${number(window)}: ${number(window)} − ⌊(${number(window)} − ${number(keep)}) ÷ 2⌋`;
  return { era, size, headTokens: Math.min(keep, size), kind: kindOfCut(window, size), formula };
}

/** A prompt longer than this is cut. */
export function cutsAbove(era: Era, window: number): number {
  return era === 'keeps-window' ? window : window - 1;
}

/** What stays of a prompt in servers from 0.30.11 on; `keep` with the begin token counted. */
export function halfLimit(window: number, keep: number): number {
  const bounded = Math.min(keep, window - 1);
  return Math.max(0, window - Math.max(Math.floor((window - bounded) / 2), 1));
}

/** A cut that leaves all of the window but one token has not halved anything. */
export function kindOfCut(window: number, kept: number): 'halved' | 'cut-to-window' {
  return kept >= window - 1 ? 'cut-to-window' : 'halved';
}

/** null where the text is no version, and for 0.0.0, which builds from source report whatever they are. */
export function parseVersion(text: string | null): ServerVersion | null {
  const match = /^\s*v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:[-+.]|\s*$)/.exec((text ?? '').slice(0, 100));
  if (match === null) return null;
  const version = { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3] ?? 0) };
  return version.major === 0 && version.minor === 0 && version.patch === 0 ? null : version;
}

export function atLeast(version: ServerVersion, major: number, minor: number, patch: number): boolean {
  if (version.major !== major) return version.major > major;
  if (version.minor !== minor) return version.minor > minor;
  return version.patch >= patch;
}

/** null = not known: every era is possible. */
export function eraOf(serverVersion: string | null): Era | null {
  const version = parseVersion(serverVersion);
  if (version === null) return null;
  if (atLeast(version, 0, 30, 11)) return 'keeps-half';
  return atLeast(version, 0, 30, 0) ? 'keeps-all-but-one' : 'keeps-window';
}

/** Newest first. */
export function erasOf(serverVersion: string | null): readonly Era[] {
  const era = eraOf(serverVersion);
  return era === null ? ['keeps-half', 'keeps-all-but-one', 'keeps-window'] : [era];
}

/** `truncate` and `shift` are heeded from 0.12.4 on; before, the fields are ignored. */
export function heedsFlags(serverVersion: string | null): boolean {
  const version = parseVersion(serverVersion);
  return version === null || atLeast(version, 0, 12, 4);
}

/** 0.30.0 alone reports only the part of the prompt that was not cached, so a low count means nothing there. */
export function countsWholePrompt(serverVersion: string | null): boolean {
  const version = parseVersion(serverVersion);
  return version === null || !(version.major === 0 && version.minor === 30 && version.patch === 0);
}

function keptHead(window: number, numKeep: number, begin: number): number {
  const wanted = numKeep < 0 ? Number.MAX_SAFE_INTEGER : numKeep + begin;
  return Math.max(0, Math.min(wanted, window - 1));
}

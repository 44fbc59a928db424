/** Two calls beside each other as the guards see them, and why they are the same or not. */
import type { GuardComparison } from '../../contract/agents.ts';
import { type Json, canonicalText, parseJson } from './canonical.ts';
import { type Differences, differencesOf, nameOf } from './differences.ts';
import { type Sha256, callFingerprint, canonicalCall, resultValue, stateHash } from './fingerprint.ts';
import { type RawText, readRaw } from './raw-json.ts';
import { similarity } from './shingles.ts';

/** Arguments as the model wrote them; empty ones count as `{}`, as they do at the gateway. result null = none was pasted. */
export interface CallText {
  readonly tool: string;
  readonly args: string;
  readonly result: string | null;
}

export interface Comparison {
  readonly first: CallText;
  readonly second: CallText;
  readonly ignoredFields: readonly string[];
}

export function compareCalls({ first, second, ignoredFields }: Comparison, sha256: Sha256): GuardComparison {
  const ignored = [...new Set(ignoredFields)];
  const [a, b] = [readCall(first, ignored, sha256), readCall(second, ignored, sha256)];
  const isReadable = a.parsed !== null && b.parsed !== null;
  const hasResults = first.result !== null && second.result !== null;
  const sameCall = isReadable ? a.shown.fingerprint === b.shown.fingerprint : null;
  const sameState = isReadable && hasResults ? a.shown.stateHash === b.shown.stateHash : null;
  const common = first.result !== null && second.result !== null ? similarity(first.result, second.result) : null;
  const reasons = [
    ...faultLines(a.shown.fault, b.shown.fault),
    ...(first.tool === second.tool ? [] : [`${nameOf(first.tool)} and ${nameOf(second.tool)} are different tools`]),
    ...argumentLines(a.parsed, b.parsed, ignored),
    ...lossyLines(a.parsed?.raw.lossy ?? [], b.parsed?.raw.lossy ?? []),
    ...resultLines(first.result, second.result, sameCall, common),
  ];
  if (reasons.length === 0) reasons.push('the two are written in the same way');
  return { first: a.shown, second: b.shown, sameCall, sameState, similarity: common, reasons };
}

interface ReadCall {
  readonly shown: GuardComparison['first'];
  readonly parsed: { readonly text: string; readonly args: Json; readonly raw: RawText } | null;
}

function readCall({ tool, args: typed, result }: CallText, ignored: readonly string[], sha256: Sha256): ReadCall {
  const text = typed.trim() === '' ? '{}' : typed;
  const read = parseJson(text);
  if (!read.ok) {
    const fault = faultWords(text, read.fault, read.at);
    return { shown: { canonical: null, fingerprint: null, stateHash: null, lossy: false, fault }, parsed: null };
  }
  const call = { tool, args: read.value };
  return {
    shown: {
      canonical: canonicalCall(call, ignored),
      fingerprint: callFingerprint(call, ignored, sha256),
      stateHash: result === null ? null : stateHash(call, result, ignored, sha256),
      lossy: read.lossy,
      fault: null,
    },
    parsed: { text, args: read.value, raw: readRaw(text) },
  };
}

type Fault = Extract<ReturnType<typeof parseJson>, { ok: false }>['fault'];

/** `duplicate key "a" at line 1, column 8`. Lines and columns count from 1, columns in UTF-16 units. */
function faultWords(text: string, fault: Fault, at: number): string {
  // The reader stands behind a key when it has seen it twice.
  const from = fault === 'DUPLICATE_KEY' ? keyStart(text, at) : at;
  const before = text.slice(0, from);
  const line = before.split('\n').length;
  const place = `at line ${line}, column ${from - before.lastIndexOf('\n')}`;
  switch (fault) {
    case 'DUPLICATE_KEY':
      return `duplicate key ${nameOf(JSON.parse(text.slice(from, at)) as string)} ${place}`;
    case 'LONE_SURROGATE':
      return `a text with half of a character pair ${place}`;
    case 'NUMBER_NOT_FINITE':
      return `a number too large to be read ${place}`;
    case 'TOO_DEEP':
      return `nested more than 512 levels ${place}`;
    case 'NOT_JSON':
      return from >= text.length ? `no JSON: the text ends too early, ${place}` : `no JSON ${place}`;
  }
}

function keyStart(text: string, end: number): number {
  let at = end - 2;
  // A quote inside of a key stands behind an odd number of backslashes.
  while (at > 0 && (text.charAt(at) !== '"' || backslashesBefore(text, at) % 2 === 1)) at -= 1;
  return at;
}

function backslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text.charAt(at - 1 - count) === '\\') count += 1;
  return count;
}

function faultLines(first: string | null, second: string | null): string[] {
  if (first !== null && first === second) return [`both calls: ${first}: refused, it never runs`];
  const line = (which: string, fault: string | null): string[] =>
    fault === null ? [] : [`${which} call: ${fault}: refused, it never runs`];
  return [...line('first', first), ...line('second', second)];
}

function argumentLines(a: ReadCall['parsed'], b: ReadCall['parsed'], ignored: readonly string[]): string[] {
  if (a === null || b === null) return [];
  const found = differencesOf(a.raw.root, b.raw.root, { root: 'arguments', ignored });
  const lines = linesOf(found);
  if (lines.length === 0 && a.text !== b.text) return ['only space differs: no matter'];
  return lines;
}

function linesOf({ counting, writing, moreCounting, moreWriting }: Differences): string[] {
  return [
    ...counting,
    ...(moreCounting === 0 ? [] : [`and ${moreCounting} more that are different`]),
    ...writing,
    ...(moreWriting === 0 ? [] : [`and ${moreWriting} more that make no difference`]),
  ];
}

function lossyLines(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])].map((digits) => {
    const which = !second.includes(digits) ? 'first call: ' : !first.includes(digits) ? 'second call: ' : '';
    const shown = digits.length <= 60 ? digits : `${digits.slice(0, 59)}…`;
    return `${which}${shown} loses digits: may look like another, so the gateway refuses it. Send it as a text`;
  });
}

/** From here on two results say nearly the same. */
const NEAR = 0.8;

function resultLines(
  first: string | null,
  second: string | null,
  sameCall: boolean | null,
  common: number | null,
): string[] {
  if (first === null && second === null) return [];
  if (first === null || second === null)
    return [`only the ${first === null ? 'second' : 'first'} call has a result: states cannot be compared`];
  const isSame = canonicalText(resultValue(first)) === canonicalText(resultValue(second));
  if (isSame) {
    const how = first === second ? 'are the same' : 'are the same, written differently: no matter';
    return sameCall === false ? [`results ${how}: another call, so another state`] : [`results ${how}`];
  }
  const lines = [sameCall === true ? 'results differ: another state, same call' : 'results differ'];
  const [a, b] = [parseJson(first), parseJson(second)];
  if (a.ok && b.ok) {
    const found = differencesOf(readRaw(first).root, readRaw(second).root, { root: 'result', ignored: [] });
    lines.push(...found.counting.slice(0, RESULT_LINES_MAX).map((line) => `in the results, ${line}`));
    const more = found.moreCounting + Math.max(0, found.counting.length - RESULT_LINES_MAX);
    if (more > 0) lines.push(`and ${more} more in the results`);
  }
  if (common !== null && common >= NEAR)
    lines.push(`results are nearly the same, ${Math.floor(common * 100)} % of their phrases: little new text`);
  return lines;
}

const RESULT_LINES_MAX = 5;

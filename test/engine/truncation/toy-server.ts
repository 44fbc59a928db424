/**
 * The mechanism of the servers, written down a second time for tests, on texts with a made-up vocabulary: message dropping,
 * token cut by version, refusal, shift. It knows the truth that the classifier has to find from the fields.
 */
import type { TruncationInput } from '../../../shared/engine/truncation/types.ts';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';

/** How dense a vocabulary is: letters a word piece holds, digits a token holds, and so on. */
export interface Vocabulary {
  readonly pieceLetters: number;
  readonly numberDigits: number;
  readonly cjkCharacters: number;
  readonly emojiTokens: number;
  readonly templateTokens: number;
  readonly addsBos: boolean;
}

export interface ToyCall {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly route: 'chat' | 'generate';
  readonly path: 'rendered' | 'native';
  readonly version: string;
  readonly window: number;
  readonly numKeep: number | null;
  readonly numPredict: number;
  readonly truncate: boolean | null;
  readonly vocabulary: Vocabulary;
}

export interface Truth {
  readonly status: 200 | 400;
  readonly promptEvalCount: number | null;
  readonly sent: number;
  readonly dropped: number;
  readonly cut: boolean;
  /** Tokens that the cut alone took. */
  readonly cutTokens: number;
  readonly needs: number | null;
}

export function toyTokens(text: string, vocabulary: Vocabulary): number {
  let tokens = 0;
  for (const [run] of text.matchAll(
    /[A-Za-z]+|[0-9]+|\s+|[\u3040-\u9fff]+|\p{Extended_Pictographic}|[^\sA-Za-z0-9]/gu,
  )) {
    if (/^[A-Za-z]/.test(run)) tokens += Math.ceil(run.length / vocabulary.pieceLetters);
    else if (/^[0-9]/.test(run)) tokens += Math.ceil(run.length / vocabulary.numberDigits);
    else if (/^\s/.test(run)) tokens += run === ' ' ? 0 : Math.ceil(run.length / 32);
    else if (/^[\u3040-\u9fff]/.test(run)) tokens += Math.ceil(run.length / vocabulary.cjkCharacters);
    else if (/^\p{Extended_Pictographic}/u.test(run)) tokens += vocabulary.emojiTokens;
    else tokens += 1;
  }
  return tokens;
}

export function serve(call: ToyCall): Truth {
  const { vocabulary, window } = call;
  const sizes = call.messages.map((message) => toyTokens(message.content, vocabulary) + vocabulary.templateTokens);
  const begin = vocabulary.addsBos ? 1 : 0;
  const all = sum(sizes);
  const old = call.version.startsWith('0.2');
  const isNative = call.path === 'native' && call.route === 'chat' && !old;
  const padded = Math.ceil(window / 256) * 256;
  const whole = {
    status: 200,
    promptEvalCount: all + begin,
    sent: all + begin,
    dropped: 0,
    cut: false,
    cutTokens: 0,
    needs: null,
  } as const;

  if (call.truncate === false) {
    return all + begin < (old ? window + 1 : padded)
      ? whole
      : { ...whole, status: 400, promptEvalCount: null, needs: old ? null : all + begin };
  }
  let from = 0;
  const keptSizes = (): number[] =>
    sizes.filter((_, index) => index >= from || call.messages[index]?.role === 'system');
  if (call.route === 'chat' && !(isNative && sizes.length === 1))
    while (sum(keptSizes()) > window && from < sizes.length - 1) from += 1;
  const dropped = sizes.length - keptSizes().length;
  const left = sum(keptSizes()) + begin;
  const after = { ...whole, promptEvalCount: left, dropped };
  if (isNative) return left < padded ? after : { ...after, status: 400, promptEvalCount: null, needs: left };
  if (old) return left <= window ? after : { ...after, promptEvalCount: window, cut: true, cutTokens: left - window };
  if (left <= window - 1) return after;
  const keepAsked = call.numKeep ?? 4;
  const keep = keepAsked < 0 ? window - 1 : Math.min(keepAsked + begin, window - 1);
  const size = call.version === '0.30.5' ? window - 1 : window - Math.max(Math.floor((window - keep) / 2), 1);
  return { ...after, promptEvalCount: size, cut: true, cutTokens: left - size };
}

/** What a client sees of it, with as little around it as `explain` has. */
export function seen(call: ToyCall, truth: Truth, more: Partial<TruncationInput> = {}): TruncationInput {
  const estimate = estimateMessages(call.messages);
  return {
    route: call.route,
    promptPath: 'unknown',
    serverVersion: call.version,
    raw: false,
    messages: call.messages.map((message, index) => ({
      role: message.role,
      characters: message.content.length,
      estimate: estimate.messages[index] ?? estimate.total,
    })),
    estimate: estimate.total,
    hasUncountedParts: false,
    numCtxRequested: call.window,
    windowRunning: call.window,
    trainedContext: null,
    numKeep: call.numKeep,
    numPredict: call.numPredict,
    truncate: call.truncate,
    shift: null,
    addsBos: null,
    reply: {
      status: truth.status,
      ending: truth.status === 200 ? 'done' : 'refused',
      promptEvalCount: truth.promptEvalCount,
      evalCount: truth.status === 200 ? 1 : null,
      doneReason: truth.status === 200 ? 'stop' : null,
      contextLength: null,
      error: truth.status === 200 ? null : 'the input length exceeds the context length',
      needs: truth.needs,
      has: truth.needs === null ? null : call.window,
    },
    log: null,
    render: null,
    previous: null,
    ...more,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

import { readFileSync, readdirSync } from 'node:fs';
import fc from 'fast-check';
import { classifyReasoning } from '../../../shared/engine/reasoning/classify.ts';
import { classifyRecorded } from '../../../shared/engine/reasoning/from-recording.ts';
import { createReasoningReader } from '../../../shared/engine/reasoning/reader.ts';
import type {
  ReasoningEnd,
  ReasoningInput,
  ReasoningPiece,
  ReasoningSettings,
} from '../../../shared/engine/reasoning/types.ts';
import type { ReasoningVerdict } from '../../../shared/contract/verdicts.ts';

export const settings: ReasoningSettings = {
  think: null,
  numPredict: 120,
  window: 4_096,
  numCtx: null,
  shift: null,
  structured: false,
};

export const ended: ReasoningEnd = {
  status: 200,
  ending: 'done',
  doneReason: 'stop',
  promptEvalCount: 14,
  evalCount: null,
  error: null,
  needs: null,
};

export interface Reply {
  readonly thinking?: string;
  readonly content?: string;
  readonly toolCalls?: number;
  readonly settings?: Partial<ReasoningSettings>;
  readonly end?: Partial<ReasoningEnd>;
  readonly more?: Partial<ReasoningInput>;
}

export function read(reply: Reply): ReasoningVerdict {
  return classifyReasoning({
    settings: { ...settings, ...reply.settings },
    thinking: reply.thinking ?? '',
    content: reply.content ?? '',
    toolCalls: reply.toolCalls ?? 0,
    toolCharacters: 0,
    chunks: null,
    logprobs: null,
    end: { ...ended, ...reply.end },
    ...reply.more,
  });
}

/** The same reply through the reader, in these pieces. */
export function readPieces(
  pieces: readonly ReasoningPiece[],
  reply: Pick<Reply, 'settings' | 'end'>,
): ReasoningVerdict {
  const reader = createReasoningReader({ ...settings, ...reply.settings });
  for (const piece of pieces) reader.push(piece);
  return reader.finish({ ...ended, ...reply.end });
}

/** Everything that must not depend on how a stream was cut: all but the split, which may rest on chunks. */
export function readings({ split: _split, evidence, ...verdict }: ReasoningVerdict): object {
  return { ...verdict, evidence: evidence.filter((sentence) => !/^Thinking [\d,]+, answer/.test(sentence)) };
}

export interface MatrixRow {
  readonly family: string;
  readonly script: string;
  readonly think: boolean | null;
  readonly num_predict: number;
  readonly status: number;
  readonly reply: {
    readonly message?: { readonly content?: string; readonly thinking?: string };
    readonly done_reason?: string;
    readonly prompt_eval_count?: number;
    readonly eval_count?: number;
    readonly error?: string;
  };
}

const root = new URL('../../', import.meta.url);

export function fromTests<Content>(path: string): Content {
  return JSON.parse(readFileSync(new URL(path, root), 'utf8')) as Content;
}

export const matrix = fromTests<{ rows: MatrixRow[] }>('fixtures/scripted/thinking-matrix.json').rows;

export function replyOf(row: MatrixRow): Reply {
  const { message, error, done_reason, prompt_eval_count, eval_count } = row.reply;
  return {
    thinking: message?.thinking ?? '',
    content: message?.content ?? '',
    settings: { think: row.think, numPredict: row.num_predict },
    end: {
      status: row.status,
      ending: row.status >= 300 ? 'refused' : 'done',
      doneReason: done_reason ?? null,
      promptEvalCount: prompt_eval_count ?? null,
      evalCount: eval_count ?? null,
      error: error ?? null,
    },
  };
}

/** A text cut at random places; the cuts may tear tags and surrogate pairs apart. */
export function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [...new Set(places.map((place) => Math.floor(place * text.length)))].sort((one, other) => one - other);
  const pieces: string[] = [];
  let from = 0;
  for (const place of [...at, text.length]) {
    if (place > from) pieces.push(text.slice(from, place));
    from = Math.max(from, place);
  }
  return pieces;
}

export const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 40 });

export function scriptedFiles(): readonly string[] {
  return readdirSync(new URL('fixtures/scripted/', root))
    .filter((name) => name.endsWith('.json') && name !== 'thinking-matrix.json')
    .map((name) => name.slice(0, -'.json'.length))
    .sort();
}

export { classifyRecorded };

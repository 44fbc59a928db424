/**
 * What Ollama makes of a model's text, by family: which part becomes thinking, which the answer, which a tool call. The
 * families differ most where the model does something else than it was asked (see `fixtures/scripted/thinking-matrix.json`).
 * Feed each sampled piece to `push`, then call `end` once; what `end` returns belongs into the done chunk.
 */
import type { ChatMessage, ThinkSetting, ToolCall } from '../options.ts';
import { createHarmonyParser } from './harmony.ts';
import { createSpanParser } from './spans.ts';
import { createTemplateParser } from './template.ts';
import { spanFamilies } from './span-families.ts';

/** One sampled piece after the parser; all empty = nothing to show yet (a chunk with only logprobs, if those were asked). */
export interface FamilyPiece {
  readonly thinking: string;
  readonly content: string;
  /** Without ids; `function.index` counts from 0 over the whole reply. */
  readonly toolCalls: readonly ToolCall[];
  /** The reply fails here with this text. */
  readonly error?: string;
  /** Lines the server would log at WARN. */
  readonly warnings?: readonly FamilyWarning[];
}

export interface FamilyWarning {
  /** Such as `qwen3.go:117`. */
  readonly source: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface FamilyParser {
  push(piece: string): FamilyPiece[];
  end(): FamilyPiece[];
}

export interface FamilyOptions {
  readonly think: ThinkSetting;
  readonly tools: readonly unknown[];
  /** The last message of the request: an assistant turn there is continued, so the model starts in the middle of it. */
  readonly last?: Pick<ChatMessage, 'role' | 'content' | 'thinking'> | undefined;
}

export interface FamilyCapabilities {
  /** Answers to `think`; false = `think: true` is refused. */
  readonly thinking: boolean;
  readonly tools: boolean;
  /** Knows low, medium and high; other thinking families read every level as "on". */
  readonly levels: boolean;
  /** Tool calls arrive in the done chunk instead of a chunk of their own. */
  readonly toolCallsInFinalChunk: boolean;
  /** Thinks whatever `think` says. */
  readonly alwaysThinks: boolean;
}

/** Absent `think` means on for a model that can think: the caller passes undefined, the parser reads it as true. */
export function createFamilyParser(family: string, options: FamilyOptions): FamilyParser {
  const think = options.think !== false;
  const continued = options.last?.role === 'assistant' ? options.last : undefined;
  if (family === 'harmony') return createHarmonyParser(continued);
  const rules = spanFamilies[family]?.(think);
  if (rules !== undefined) {
    const startsInAnswer = (continued?.content ?? '') !== '' && rules.heedsContinuation;
    return createSpanParser(startsInAnswer ? { ...rules, start: 'content' } : rules, options.tools);
  }
  return createTemplateParser({ thinking: family === 'template' && think, tools: options.tools });
}

export function familyCapabilities(family: string): FamilyCapabilities {
  return capabilities[family] ?? { ...none, tools: true };
}

/** False where only the template or nothing reads the text: /api/generate then sends a chunk for every token, also hidden ones. */
export const hasOwnParser = (family: string): boolean => family === 'harmony' || family in spanFamilies;

/** For profiles and tests. */
export const familyNames: readonly string[] = ['plain', 'template', 'harmony', ...Object.keys(spanFamilies)];

const none: FamilyCapabilities = {
  thinking: false,
  tools: false,
  levels: false,
  toolCallsInFinalChunk: false,
  alwaysThinks: false,
};
const thinks: FamilyCapabilities = { ...none, thinking: true, tools: true };

const capabilities: Readonly<Record<string, FamilyCapabilities>> = {
  plain: { ...none, tools: true },
  template: thinks,
  'qwen3.5': thinks,
  qwen3: { ...none, tools: true },
  'qwen3-vl-thinking': { ...thinks, alwaysThinks: true },
  deepseek3: thinks,
  'glm-4.7': thinks,
  gemma4: thinks,
  lfm2: thinks,
  'olmo3-think': { ...none, thinking: true, alwaysThinks: true },
  harmony: { ...thinks, levels: true, toolCallsInFinalChunk: true, alwaysThinks: true },
};

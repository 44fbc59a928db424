/**
 * `format` on a model that thinks: the reply runs twice. Pass 1 is free and ends where the first answer text would come;
 * pass 2 starts from a prompt with the thinking as an assistant turn, under the grammar. Its counts are the ones reported.
 */
import type { FamilyPiece } from './families/index.ts';
import { goJson } from './wire.ts';
import type { ChatMessage, ModelProfile, ThinkSetting } from './options.ts';

export type FormatCheck =
  | { readonly ok: true; readonly isSet: boolean }
  | { readonly ok: false; readonly status: number; readonly error: string };

/** null and "" are no format; anything else than "json" or an object is refused by the runner's client. */
export function checkFormat(format: unknown): FormatCheck {
  if (format === undefined || format === null || format === '') return { ok: true, isSet: false };
  if (format === 'json' || (typeof format === 'object' && !Array.isArray(format))) return { ok: true, isSet: true };
  return {
    ok: false,
    status: 500,
    error: `invalid format: ${JSON.stringify(goJson(format))}; expected "json" or a valid JSON Schema object`,
  };
}

/** Only chat on the rendered path, with thinking on (or not said) on a model that can think. */
export function runsInTwoPasses(ask: {
  kind: 'chat' | 'generate';
  profile: ModelProfile;
  rendered: boolean;
  format: unknown;
  think: ThinkSetting;
}): boolean {
  const format = checkFormat(ask.format);
  return (
    ask.kind === 'chat' &&
    ask.rendered &&
    format.ok &&
    format.isSet &&
    ask.think !== false &&
    ask.profile.capabilities.includes('thinking')
  );
}

/** Watches pass 1: true = this piece is not shown any more and pass 2 begins. Without thinking before it, pass 1 is the reply. */
export function createFirstPass(): { switches(piece: FamilyPiece): boolean; thinking(): string } {
  let thinking = '';
  return {
    switches(piece) {
      thinking += piece.thinking;
      return thinking !== '' && piece.content !== '';
    },
    thinking: () => thinking,
  };
}

/** What pass 2 is rendered from. The parser goes on where it stands: in the answer. */
export function secondPassMessages(messages: readonly ChatMessage[], thinking: string): readonly ChatMessage[] {
  return [...messages, { role: 'assistant', content: '', thinking }];
}

/** gpt-oss cannot tell whether it should go on thinking, so its prompt opens the answer. */
export function secondPassSuffix(family: string): string {
  return family === 'harmony' ? '<|end|><|start|>assistant<|channel|>final<|message|>' : '';
}

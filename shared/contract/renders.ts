/** What is asked of the server beside a call: what it would keep of the messages, and how many tokens a prompt has. */
import { z } from 'zod';
import { charactersSchema, tokensSchema } from './units.ts';
import { truncationVerdictSchema } from './verdicts.ts';

/** `cut`: in the prompt, with a part of it missing. `unknown`: not to be told from the text of the prompt. */
export const keptStates = ['kept', 'dropped', 'cut', 'unknown'] as const;

export const messagePictureSchema = z.strictObject({
  index: z.int().nonnegative(),
  role: z.string(),
  characters: charactersSchema,
  kept: z.enum(keptStates),
});
export type MessagePicture = z.infer<typeof messagePictureSchema>;

/**
 * messages: in the order they were sent. note: what the picture rests on and what it cannot show. verdict: the call's, read again
 * with the two renderings; it is not stored. keptCharacters, uncutCharacters: of the two rendered prompts.
 */
export const renderPictureSchema = z.strictObject({
  messages: z.array(messagePictureSchema),
  keptCharacters: charactersSchema,
  uncutCharacters: charactersSchema,
  note: z.string(),
  verdict: truncationVerdictSchema,
});
export type RenderPicture = z.infer<typeof renderPictureSchema>;

/**
 * how: the prompt was evaluated whole, or the server refused it and said its size. costTokens: evaluated and generated for it.
 * window: the num_ctx that was asked for, or the one that ran; null = not known.
 */
export const exactCountSchema = z.strictObject({
  promptTokens: tokensSchema,
  how: z.enum(['evaluated', 'refusal']),
  costTokens: tokensSchema,
  window: tokensSchema.nullable(),
});
export type ExactCount = z.infer<typeof exactCountSchema>;

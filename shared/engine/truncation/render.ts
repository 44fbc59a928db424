/** A render of the prompt with truncation on and off shows which messages the server would drop; it shows no token cut. */
import { type PromptReading, evidence, intact, nothingKnown } from './prompt-reading.ts';
import type { Situation } from './situation.ts';
import { number } from './wording.ts';

export function readRender(situation: Situation): PromptReading | null {
  const { render, reply } = situation.input;
  if (render === null) return null;
  const gone = render.uncutCharacters - render.keptCharacters;
  if (gone > 0) {
    const text = `Rendered whole the prompt has ${number(render.uncutCharacters)} characters, as sent to the model ${number(render.keptCharacters)}: ${number(gone)} went with dropped messages.`;
    return {
      ...nothingKnown,
      kinds: ['messages-dropped'],
      confidence: 'exact',
      kept: reply.promptEvalCount,
      evidence: [evidence('exact', 'render', text)],
    };
  }
  // The token cut comes after rendering, so an equal render proves something only where no cut can follow.
  if (!situation.cutExcluded && situation.cuts.some((cut) => cut.size === reply.promptEvalCount)) return null;
  if (reply.promptEvalCount === null || situation.window === null) return null;
  return intact(
    reply.promptEvalCount,
    'exact',
    evidence('exact', 'render', 'Rendered with and without truncation the prompt is the same: no message was dropped.'),
  );
}

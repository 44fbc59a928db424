/**
 * Conversations: messages go oldest first, only while the rest is over the window. So a drop leaves the count under the window
 * by less than the message that went last; a count far below that cannot be a drop.
 */
import { suspicion, withFullness } from './signs.ts';
import { type PromptReading, cannotTell, evidence, intact, nothingKnown } from './prompt-reading.ts';
import { countsWholePrompt } from './cut-size.ts';
import { type Situation, keptTails, strangeRole } from './situation.ts';
import { number, percentOf } from './wording.ts';

export function readHistory(situation: Situation, counted: number, window: number): PromptReading {
  const { low, likely, high, input } = situation;
  // A message whose role no template knows vanishes from a prompt of any size.
  const mayVanish = strangeRole(input) !== null && countsWholePrompt(input.serverVersion);
  if (high <= window) {
    if (mayVanish) return withoutDrop(situation, counted, window);
    return intact(
      counted,
      'certain',
      evidence(
        'certain',
        'estimate',
        `What was sent needs at most ${number(high)} tokens, so nothing had to go for ${number(window)}.`,
      ),
    );
  }
  if (!countsWholePrompt(input.serverVersion)) {
    return cannotTell(
      null,
      'possible',
      evidence(
        'possible',
        'limits',
        'Server 0.30.0 leaves cached tokens out of its count, so a low count says nothing.',
      ),
    );
  }
  const drop = possibleDrop(situation, counted, window);
  if (drop === null) return withoutDrop(situation, counted, window);
  const fell = fellSince(situation, counted);
  if (counted < low)
    return dropped(counted, [
      evidence(
        'likely',
        'estimate',
        `At least ${number(low)} tokens were sent and ${number(counted)} counted: ${drop}`,
      ),
      ...(fell === null ? [] : [fell]),
      ...suspicion(situation, counted),
    ]);
  // Long English words alone come under 60 % of characters ÷ 3, so the likely count of the texts has to agree.
  const texts = input.messages.reduce((sum, message) => sum + message.estimate.likely, 0);
  const signs = texts > window && counted < 0.75 * texts ? suspicion(situation, counted) : [];
  if (signs.length > 0 || fell !== null) {
    const lead = evidence(
      'likely',
      'estimate',
      `About ${number(likely)} tokens were sent and ${number(counted)} counted: ${drop}`,
    );
    return dropped(counted, [lead, ...(fell === null ? [] : [fell]), ...signs]);
  }
  return undecided(situation, counted, window);
}

function dropped(counted: number, why: PromptReading['evidence']): PromptReading {
  return { ...nothingKnown, kinds: ['messages-dropped'], confidence: 'likely', kept: counted, evidence: why };
}

/** A sentence when some number of dropped messages leaves this count, null when none does. */
function possibleDrop(situation: Situation, counted: number, window: number): string | null {
  const { input } = situation;
  const tails = keptTails(input.messages, input.hasUncountedParts);
  for (const tail of tails) {
    const fitsTail = counted >= tail.low && counted <= tail.high;
    const wasOver = counted + tail.lastDroppedHigh > window;
    // The last tail is sent even where it is over: a native runner takes it up to its padding.
    const mayBeSent = counted <= window + 1 || tail === tails.at(-1);
    if (fitsTail && wasOver && mayBeSent)
      return `without the messages before number ${number(tail.from + 1)} it fits ${number(window)}.`;
  }
  return null;
}

/** No drop can leave this count. */
function withoutDrop(situation: Situation, counted: number, window: number): PromptReading {
  const { low, likely } = situation;
  const role = strangeRole(situation.input);
  if (counted >= low && (role === null || counted >= likely * 0.6)) {
    const text = `${number(counted)} is too far under ${number(window)} to be what is left after messages were dropped, so nothing was lost.`;
    const confidence = counted >= 0.6 * likely ? 'certain' : 'likely';
    return intact(counted, confidence, evidence(confidence, 'window-arithmetic', text));
  }
  const vanished = role === null ? '' : ` No template knows the role "${role.slice(0, 40)}".`;
  const text = `${number(counted)} tokens were counted where at least ${number(low)} were sent, and no known cut leaves that.${vanished}`;
  return cannotTell(counted, 'likely', evidence('likely', 'estimate', text));
}

/** Both readings are open: the nearer one is named only where it is clearly nearer. */
function undecided(situation: Situation, counted: number, window: number): PromptReading {
  const { likely } = situation;
  const fromWhole = Math.abs(Math.log(Math.max(1, counted) / Math.max(1, likely)));
  const fromOver = Math.max(0, Math.log(window / Math.max(1, likely)));
  if (counted < 0.95 * window && fromWhole + 0.04 < fromOver) {
    const text = `${number(counted)} tokens were counted where about ${number(likely)} were sent, under the window of ${number(window)}.`;
    return intact(counted, 'likely', evidence('likely', 'estimate', text));
  }
  const text = `About ${number(likely)} tokens were sent and ${number(counted)} counted in ${number(window)}: messages may have been dropped. The server log would tell.`;
  return withFullness(counted, window, cannotTell(counted, 'possible', evidence('possible', 'estimate', text)));
}

/** The count fell although the conversation grew. */
function fellSince(situation: Situation, counted: number): ReturnType<typeof evidence> | null {
  const { previous } = situation.input;
  if (previous === null || counted >= previous.promptEvalCount || situation.characters < previous.characters)
    return null;
  const text = `The turn before counted ${number(previous.promptEvalCount)} tokens; now it is ${percentOf(counted, previous.promptEvalCount)} of that, although the conversation grew.`;
  return evidence('likely', 'conversation', text);
}

/** Weak signs: they stand in the list of evidence and never decide alone. */
import type { Evidence } from '../../contract/verdicts.ts';
import { type PromptReading, evidence } from './prompt-reading.ts';
import type { Situation } from './situation.ts';
import { number, percentOf } from './wording.ts';

/** Ratios of the count to what was sent: to a count of the same text, to a learned estimate, to characters. */
export function suspicion(situation: Situation, counted: number): readonly Evidence[] {
  const { input, characters, likely } = situation;
  const byThree = Math.ceil(characters / 3);
  const signs: Evidence[] = [];
  if (input.estimate.source === 'counted' && likely > counted) {
    signs.push(
      evidence(
        'likely',
        'estimate',
        `An earlier call counted ${number(likely)} tokens in this text: ${perToken(characters, likely)} characters a token.`,
      ),
    );
  } else if (input.estimate.source === 'learned' && counted < 0.7 * likely) {
    signs.push(
      evidence(
        'likely',
        'estimate',
        `${number(counted)} is ${percentOf(counted, likely)} of the ${number(likely)} tokens learned for this model, under the 70 % mark.`,
      ),
    );
  }
  if (counted < 0.6 * byThree) {
    signs.push(
      evidence(
        'likely',
        'estimate',
        `${number(counted)} is ${percentOf(counted, byThree)} of characters ÷ 3 (${number(byThree)}), under the 60 % mark.`,
      ),
    );
  }
  return signs;
}

function perToken(characters: number, tokenCount: number): string {
  return tokenCount === 0 ? '–' : number(Math.round((characters / tokenCount) * 10) / 10);
}

/** A prompt that fills the window leaves no room for doubt about the next turn. */
export function withFullness(counted: number, window: number, reading: PromptReading): PromptReading {
  if (counted < 0.95 * window || counted > window) return reading;
  const text = `The prompt fills ${percentOf(counted, window)} of the window: a few tokens more are cut.`;
  return { ...reading, evidence: [...reading.evidence, evidence('possible', 'limits', text)] };
}

/** What is said about the prompt alone, before generation is looked at. */
import type { Confidence, Evidence, TruncationKind } from '../../contract/verdicts.ts';

export interface PromptReading {
  readonly kinds: readonly TruncationKind[];
  readonly confidence: Confidence;
  readonly sent: number | null;
  readonly kept: number | null;
  readonly lost: number | null;
  readonly lostAtLeast: boolean;
  readonly headKept: number | null;
  readonly tailKept: number | null;
  readonly evidence: readonly Evidence[];
}

export const nothingKnown: PromptReading = {
  kinds: ['unknown'],
  confidence: 'none',
  sent: null,
  kept: null,
  lost: null,
  lostAtLeast: false,
  headKept: null,
  tailKept: null,
  evidence: [],
};

export function evidence(confidence: Confidence, source: Evidence['source'], text: string, raw?: string): Evidence {
  return raw === undefined ? { confidence, source, text } : { confidence, source, text, raw };
}

/** Nothing of `promptTokens` was lost. */
export function intact(promptTokens: number, confidence: Confidence, why: Evidence): PromptReading {
  return {
    ...nothingKnown,
    kinds: ['intact'],
    confidence,
    sent: promptTokens,
    kept: promptTokens,
    lost: 0,
    evidence: [why],
  };
}

/** It cannot be told, or only suspected. */
export function cannotTell(promptTokens: number | null, confidence: Confidence, why: Evidence): PromptReading {
  return { ...nothingKnown, confidence, kept: promptTokens, evidence: [why] };
}

export function isLoss(kind: TruncationKind): boolean {
  return kind === 'messages-dropped' || kind === 'halved' || kind === 'cut-to-window';
}

/** The ready experiment: seven words that burn thousands of tokens. */
import {
  type ReasoningExperiment,
  type ReasoningPresetName,
  reasoningExperimentSchema,
} from '../../contract/reasoning.ts';
import type { ModelFacts } from '../../contract/server.ts';
import type { Preset, PresetAsk } from '../context-lab/presets.ts';
import { knownCapabilities, settingsName, whyNot } from './variants.ts';

export interface ReasoningPreset extends Omit<Preset, 'experiment'> {
  readonly experiment: ReasoningExperiment;
}

/** The window holds prompt and cap, so that the cap is what ends a reply; a smaller trained window is used as it is. */
export function reasoningPreset(name: ReasoningPresetName, ask: PresetAsk): ReasoningPreset {
  const { trainedContext: trained } = ask;
  const clamped = trained !== null && trained < CLASSIC_NUM_CTX;
  const experiment = reasoningExperimentSchema.parse({
    kind: 'reasoning',
    name: names[name],
    axes: { models: [ask.model], variants: CLASSIC_VARIANTS, repeats: 1 },
    prompt: CLASSIC_PROMPT,
    numCtx: clamped ? trained : CLASSIC_NUM_CTX,
    temperature: 0,
    ...(ask.seed === undefined ? {} : { seed: ask.seed }),
  });
  const warnings = clamped
    ? [
        `${ask.model} was trained with ${trained.toLocaleString('en-US')} tokens, so that is used in place of ${CLASSIC_NUM_CTX.toLocaleString('en-US')}.`,
      ]
    : [];
  return { experiment, warnings };
}

/** The same without the lanes that this model cannot run; where it can run none, all stay, and the plan says why. */
export function fittedPreset(
  name: ReasoningPresetName,
  ask: { readonly model: string; readonly facts: ModelFacts | null; readonly serverVersion: string | null },
): ReasoningPreset {
  const { model, facts, serverVersion } = ask;
  const preset = reasoningPreset(name, { model, trainedContext: facts?.trainedContext ?? null });
  const known = {
    capabilities: knownCapabilities(facts),
    embeddingOnly: facts?.embeddingOnly ?? false,
    serverVersion,
  };
  const { axes } = preset.experiment;
  const reasons = new Map(axes.variants.map((variant) => [variant, whyNot(model, variant, known)]));
  const variants = axes.variants.filter((variant) => reasons.get(variant) === null);
  if (variants.length === 0) return preset;
  const left = axes.variants.filter((variant) => !variants.includes(variant));
  return {
    experiment: { ...preset.experiment, axes: { ...axes, variants } },
    warnings: [
      ...preset.warnings,
      ...left.map((variant) => `${settingsName(variant)} is left out: ${reasons.get(variant)}`),
    ],
  };
}

export const defaultReasoning = (ask: PresetAsk): ReasoningPreset => reasoningPreset('prime', ask);

export const CLASSIC_PROMPT = 'Is 1000003 a prime number? Answer only yes or no.';
export const CLASSIC_NUM_CTX = 16_384;
export const CLASSIC_VARIANTS = [
  { think: false, numPredict: 2_000 },
  { think: true, numPredict: 8_000 },
  { think: true, numPredict: 256 },
];

const names: Readonly<Record<ReasoningPresetName, string>> = { prime: 'Is it prime' };

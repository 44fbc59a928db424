/** Ready experiments. The first is the classic one: the needle on the first line, the question last. */
import { type ContextExperiment, contextExperimentSchema, type presets } from '../../contract/experiments.ts';

export type PresetName = (typeof presets)[number];

export interface PresetAsk {
  readonly model: string;
  /** null = not known. */
  readonly trainedContext: number | null;
  readonly seed?: number;
}

/** `warnings`: what had to be changed for this model, to be said on screen. */
export interface Preset {
  readonly experiment: ContextExperiment;
  readonly warnings: readonly string[];
}

/**
 * needle-first: lost in the cut. needle-last: found beside a cut prompt, so a right answer does not prove an uncut one.
 * needle-anywhere: five depths.
 */
export function presetExperiment(name: PresetName, ask: PresetAsk): Preset {
  const large = LARGE_NUM_CTX;
  const trained = ask.trainedContext;
  const clamped = trained !== null && trained < large;
  const experiment = contextExperimentSchema.parse({
    kind: 'context',
    name: names[name],
    axes: {
      models: [ask.model],
      numCtx: ['default', clamped ? trained : large],
      sizes: CLASSIC_SIZES,
      needleDepths: depths[name],
      routes: ['chat'],
      policies: ['warn'],
      repeats: 1,
    },
    numPredict: 60,
    temperature: 0,
    ...(ask.seed === undefined ? {} : { seed: ask.seed }),
  });
  const warnings = clamped
    ? [
        `${ask.model} was trained with ${trained.toLocaleString('en-US')} tokens, so that is used in place of ${large.toLocaleString('en-US')}.`,
      ]
    : [];
  return { experiment, warnings };
}

export const defaultExperiment = (ask: PresetAsk): Preset => presetExperiment('needle-first', ask);

export const CLASSIC_SIZES = [2_000, 10_000, 40_000, 120_000];
export const LARGE_NUM_CTX = 40_960;

const names: Readonly<Record<PresetName, string>> = {
  'needle-first': 'Needle first',
  'needle-last': 'Needle last',
  'needle-anywhere': 'Needle anywhere',
};

const depths: Readonly<Record<PresetName, number[]>> = {
  'needle-first': [0],
  'needle-last': [100],
  'needle-anywhere': [0, 25, 50, 75, 100],
};

/** The lanes of an experiment: their names, and which of them a model can run at all. */
import type { Think } from '../../contract/calls.ts';
import type { ReasoningExperiment, ReasoningVariant } from '../../contract/reasoning.ts';
import type { ModelFacts } from '../../contract/server.ts';
import { atLeast, parseVersion } from '../truncation/cut-size.ts';

export interface NamedVariant extends ReasoningVariant {
  readonly name: string;
}

/** In the given order. What is asked twice is run once; two lanes with one name get a number behind it. */
export function namedVariants(experiment: Pick<ReasoningExperiment, 'axes'>): readonly NamedVariant[] {
  const seen = new Set<string>();
  const names = new Map<string, number>();
  return experiment.axes.variants.flatMap((variant) => {
    const settings = settingsName(variant);
    if (seen.has(settings)) return [];
    seen.add(settings);
    const name = variant.name ?? settings;
    const count = (names.get(name) ?? 0) + 1;
    names.set(name, count);
    return [{ ...variant, name: count === 1 ? name : `${name} (${count})` }];
  });
}

/** `off/2000`, `high/8000`, `on/8000/t500` with a thinking cap, `on/8000/t500+` where it asks again. */
export function settingsName({ think, numPredict, thinkingCap }: ReasoningVariant): string {
  const cap = thinkingCap === undefined ? '' : `/t${thinkingCap.tokensMax}${thinkingCap.then === 'stop' ? '' : '+'}`;
  return `${thinkName(think)}/${numPredict}${cap}`;
}

export function thinkName(think: Think): string {
  return think === true ? 'on' : think === false ? 'off' : think;
}

/** What is known of a model and its server before the run; null = not known, so nothing is left out for it. */
export interface LaneKnowledge {
  readonly capabilities: readonly string[] | null;
  readonly embeddingOnly: boolean;
  readonly serverVersion: string | null;
}

/** Older servers list none at all, which says nothing. */
export function knownCapabilities(facts: Pick<ModelFacts, 'capabilities'> | null): readonly string[] | null {
  return facts === null || facts.capabilities.length === 0 ? null : facts.capabilities;
}

/** Why this lane cannot work on this model, null where it can or where that is not known. */
export function whyNot(model: string, { think }: Pick<ReasoningVariant, 'think'>, known: LaneKnowledge): string | null {
  if (known.embeddingOnly) return `${model} makes embeddings and cannot answer.`;
  const asks = think !== false && think !== 'default';
  if (asks && known.capabilities !== null && !known.capabilities.includes('thinking'))
    return `${model} cannot think, so think ${thinkName(think)} would be refused.`;
  const version = parseVersion(known.serverVersion);
  if (version === null) return null;
  if (think === 'max' && !atLeast(version, 0, 22, 0))
    return `think max needs Ollama 0.22.0, and this is ${known.serverVersion}.`;
  return null;
}

/** Logprobs came with 0.12.11. null = not known. */
export function hasLogprobs(serverVersion: string | null): boolean | null {
  const version = parseVersion(serverVersion);
  return version === null ? null : atLeast(version, 0, 12, 11);
}

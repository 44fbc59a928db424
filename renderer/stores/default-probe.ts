/** The two-minute guided probe: the classic context experiment on the smallest model that can answer. */
import type { ModelSummary } from '../../shared/contract/server.ts';
import type { RequestParams } from '../../shared/contract/requests.ts';
import type { EngineClient } from './engine-store.ts';
import { go } from './screen-store.ts';

export type ExperimentInput = RequestParams<'context.start'>;

export const WIDE_NUM_CTX = 40_960;

/** Sizes of the classic experiment at the server's default window, then at 40,960 or the trained context if that is less. */
export function defaultExperiment(model: string, trainedContext: number | null): ExperimentInput {
  const wide = trainedContext === null ? WIDE_NUM_CTX : Math.min(WIDE_NUM_CTX, trainedContext);
  return {
    kind: 'context',
    axes: {
      models: [model],
      numCtx: ['default', wide],
      sizes: [2_000, 10_000, 40_000, 120_000],
      needleDepths: [0],
      routes: ['chat'],
      policies: ['warn'],
      repeats: 1,
    },
  };
}

/** The smallest local model that can answer; embedding models and remote ones are left out. */
export function smallestModel(models: readonly ModelSummary[]): ModelSummary | undefined {
  return models
    .filter((model) => !model.cloud && (model.capabilities === null || model.capabilities.includes('completion')))
    .sort((a, b) => (a.sizeBytes ?? Infinity) - (b.sizeBytes ?? Infinity))[0];
}

/** Starts it and goes to its page; a refusal becomes a notice. */
export async function startDefaultProbe(client: EngineClient): Promise<void> {
  const model = smallestModel(client.store.getState().server?.models ?? []);
  if (model === undefined) {
    client.raiseNotice({
      level: 'warning',
      text: 'There is no model to probe.',
      next: 'Pull one: ollama pull gemma3:270m',
    });
    return;
  }
  const facts = model.trainedContext === null ? await client.request('model.show', { model: model.name }) : null;
  const trained = model.trainedContext ?? (facts?.ok === true ? facts.value.trainedContext : null);
  const started = await client.request('context.start', defaultExperiment(model.name, trained));
  if (!started.ok) {
    client.raiseNotice({ level: 'error', text: started.denial.message, next: started.denial.next ?? null });
    return;
  }
  void client.request('settings.set', { firstRunDone: true });
  go('context', started.value.runId);
}

/** From what was asked to an experiment that this server can run: models are real, documents are stored. */
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { Experiment } from '../../contract/experiments.ts';
import type { ServerStatus } from '../../contract/server.ts';
import { presetExperiment } from '../../engine/context-lab/presets.ts';
import { reasoningPreset } from '../../engine/reasoning-lab/presets.ts';
import { fullName } from '../../engine/running.ts';
import { nearest } from '../experiments/nearest.ts';
import type { Ask } from './engine-client.ts';
import { FIRST_MODEL, type RunAsk, readText } from './run-options.ts';

export interface ReadyExperiment {
  readonly experiment: Experiment;
  readonly warnings: readonly string[];
}

export async function readyExperiment(asked: RunAsk, server: ServerStatus, ask: Ask): Promise<Result<ReadyExperiment>> {
  const models = await readModels(asked, server, ask);
  if (!models.ok) return models;
  const seed = asked.seed === null ? {} : { seed: asked.seed };
  if (asked.source.kind === 'preset') {
    const [first = ''] = models.value;
    const facts = await ask('model.show', { model: first });
    const { name } = asked.source;
    const told = { model: first, trainedContext: facts.ok ? facts.value.trainedContext : null, ...seed };
    const { experiment, warnings } = name === 'prime' ? reasoningPreset(name, told) : presetExperiment(name, told);
    return ok({ experiment: withModels(experiment, models.value), warnings });
  }
  const { experiment, documentFile } = asked.source;
  const ready = { ...withModels(experiment, models.value), ...seed };
  if (documentFile === null || ready.kind === 'reasoning') return ok({ experiment: ready, warnings: [] });
  const text = readText(documentFile, DOCUMENT_BYTES_MAX);
  if (!text.ok) return text;
  const stored = await ask('document.put', { name: documentFile.slice(-500), text: text.value });
  if (!stored.ok) return stored;
  return ok({ experiment: { ...ready, document: { kind: 'own', documentId: stored.value.documentId } }, warnings: [] });
}

function withModels(experiment: Experiment, models: readonly string[]): Experiment {
  return experiment.kind === 'context'
    ? { ...experiment, axes: { ...experiment.axes, models: [...models] } }
    : { ...experiment, axes: { ...experiment.axes, models: [...models] } };
}

const DOCUMENT_BYTES_MAX = 22_000_000;

async function readModels(asked: RunAsk, server: ServerStatus, ask: Ask): Promise<Result<readonly string[]>> {
  const wanted =
    asked.models.length > 0
      ? asked.models
      : asked.source.kind === 'file'
        ? asked.source.experiment.axes.models
        : [FIRST_MODEL];
  // It answers and yet gives no list: that is no reason to say that it has no models.
  if (server.models.length === 0 && server.problem !== null)
    return denied('server-error', `${serverName(server)} gave no list of its models: ${server.problem}`, {
      next: 'Check that the address is that of Ollama.',
    });
  const there = new Set(server.models.map((model) => fullName(model.name)));
  const models: string[] = [];
  for (const model of wanted) {
    if (model === FIRST_MODEL) {
      const first = await firstModel(
        server,
        ask,
        isReasoning(asked.source) ? ['completion', 'thinking'] : ['completion'],
      );
      if (!first.ok) return first;
      models.push(first.value);
    } else if (!there.has(fullName(model))) return { ok: false, denial: unknownModel(model, server) };
    else models.push(model);
  }
  return ok(models);
}

function isReasoning(source: RunAsk['source']): boolean {
  return source.kind === 'file' ? source.experiment.kind === 'reasoning' : source.name === 'prime';
}

/** The first in the server's list that can do this; where none is known to think, the first that can answer. */
async function firstModel(server: ServerStatus, ask: Ask, wanted: readonly string[]): Promise<Result<string>> {
  for (const model of server.models) {
    if (model.cloud) continue;
    const capabilities = model.capabilities ?? (await shownCapabilities(model.name, ask));
    if (wanted.every((name) => capabilities.includes(name))) return ok(model.name);
  }
  if (wanted.length > 1) return firstModel(server, ask, wanted.slice(0, 1));
  return denied('unknown-model', `${serverName(server)} has no model that can answer.`, {
    next: 'Pull one, such as `ollama pull gemma3:270m`, or add --simulate.',
  });
}

/** Servers whose list has none: what show says. Where that names none either, what makes no embeddings can answer. */
async function shownCapabilities(model: string, ask: Ask): Promise<readonly string[]> {
  const facts = await ask('model.show', { model });
  if (!facts.ok || facts.value.embeddingOnly) return [];
  return facts.value.capabilities.includes('completion')
    ? facts.value.capabilities
    : [...facts.value.capabilities, 'completion'];
}

function unknownModel(model: string, server: ServerStatus): Denial {
  const names = server.models.map((entry) => entry.name);
  const untagged = model.includes(':') ? null : new Map(names.map((name) => [name.replace(/:latest$/, ''), name]));
  const close = nearest(model, untagged === null ? names : [...untagged.keys()]);
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  const list =
    names.length === 0
      ? 'It has none.'
      : `It has ${shown}${names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ''}.`;
  return {
    code: 'unknown-model',
    message: `${serverName(server)} has no model ${model}.`,
    field: 'models',
    next: close === null ? list : `Did you mean ${close}? ${list}`,
  };
}

/** The port of the simulator says nothing to anybody. */
export const serverName = (server: ServerStatus): string =>
  server.kind === 'simulator' ? 'The simulator' : `Ollama at ${server.url}`;

const NAMES_SHOWN_MAX = 8;

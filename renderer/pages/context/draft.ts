/** The experiment that is being written. It outlives the page, and is filled from the run that is looked at. */
import { create } from 'zustand';
import type { ContextExperiment, ContextRun } from '../../../shared/contract/experiments.ts';
import { contextExperimentSchema, presets } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import { WIDE_NUM_CTX, defaultExperiment, smallestModel } from '../../stores/default-probe.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { count } from '../../format/numbers.ts';
import { formOf } from './form-text.ts';
import type { FormText, OwnDocument } from './form-text.ts';

export interface DraftState {
  readonly form: FormText | null;
  /** The run it was filled from; editing keeps it, so that the same run does not fill it again. */
  readonly filledFrom: RunId | 'default' | null;
  /** The person changed something since. */
  readonly touched: boolean;
  /** What a preset had to change for this model. */
  readonly note: string | null;
  /** Documents that were put from this screen, for their names. */
  readonly documents: readonly OwnDocument[];
}

export type PresetName = (typeof presets)[number];

export const DOCUMENTS_MAX = 20;

export const useDraft = create<DraftState>(() => ({
  form: null,
  filledFrom: null,
  touched: false,
  note: null,
  documents: [],
}));

export const draft = {
  edit: (patch: Partial<FormText>): void => {
    useDraft.setState((state) =>
      state.form === null ? state : { form: { ...state.form, name: '', ...patch }, touched: true, note: null },
    );
  },
  fillFromRun: (run: ContextRun): void => {
    if (useDraft.getState().filledFrom === run.id) return;
    useDraft.setState({
      form: formOf(run.experiment, ownDocumentOf(run.experiment)),
      filledFrom: run.id,
      touched: false,
      note: null,
    });
  },
  /** The classic experiment on the smallest model, while nothing else was written. */
  fillFromDefault: async (client: EngineClient): Promise<void> => {
    const model = smallestModel(client.store.getState().server?.models ?? []);
    if (model === undefined || useDraft.getState().form !== null) return;
    const trained = await trainedContextOf(client, model.name);
    if (useDraft.getState().form !== null) return;
    const experiment = contextExperimentSchema.parse(defaultExperiment(model.name, trained));
    useDraft.setState({
      form: formOf(experiment),
      filledFrom: 'default',
      touched: false,
      note: clampNote(model.name, trained),
    });
  },
  /** Windows, sizes and depths of a preset; models and the rest stay as they are. */
  preset: async (client: EngineClient, name: PresetName): Promise<void> => {
    const [model] = useDraft.getState().form?.models ?? [];
    if (model === undefined) return;
    const trained = await trainedContextOf(client, model);
    const classic = formOf(contextExperimentSchema.parse(defaultExperiment(model, trained)));
    draft.edit({
      windows: classic.windows,
      sizes: classic.sizes,
      sizeUnit: 'characters',
      questionPosition: 'last',
      depths: presetDepths[name],
    });
    useDraft.setState({ note: clampNote(model, trained) });
  },
  addDocument: (document: OwnDocument): void => {
    useDraft.setState((state) => ({
      documents: [...state.documents.filter(({ id }) => id !== document.id), document].slice(-DOCUMENTS_MAX),
    }));
    draft.edit({ document });
  },
};

function ownDocumentOf({ document }: ContextExperiment): OwnDocument | null {
  if (document.kind === 'generated') return null;
  return useDraft.getState().documents.find(({ id }) => id === document.documentId) ?? null;
}

const presetDepths: Readonly<Record<PresetName, string>> = {
  'needle-first': '0',
  'needle-last': '100',
  'needle-anywhere': '0, 25, 50, 75, 100',
};

/** The list of models may not carry it; then the server is asked. */
async function trainedContextOf(client: EngineClient, model: string): Promise<number | null> {
  const listed = client.store.getState().server?.models.find(({ name }) => name === model)?.trainedContext ?? null;
  if (listed !== null) return listed;
  const facts = await client.request('model.show', { model });
  return facts.ok ? facts.value.trainedContext : null;
}

function clampNote(model: string, trained: number | null): string | null {
  return trained === null || trained >= WIDE_NUM_CTX
    ? null
    : `${model} was trained with ${count(trained)} tokens, so that is used in place of ${count(WIDE_NUM_CTX)}.`;
}

/** The experiment that is being written. It outlives the page, and is filled from the run that is looked at. */
import { create } from 'zustand';
import type { ContextExperiment, RunSummary } from '../../../shared/contract/experiments.ts';
import { contextExperimentSchema } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import type { ModelSummary } from '../../../shared/contract/server.ts';
import { defaultExperiment, smallestModel } from '../../stores/default-probe.ts';
import { formOf } from './form-text.ts';
import type { FormText, OwnDocument } from './form-text.ts';

export interface DraftState {
  readonly form: FormText | null;
  /** The run it was filled from; editing keeps it, so that the same run does not fill it again. */
  readonly filledFrom: RunId | 'default' | null;
  /** The person changed something since. */
  readonly touched: boolean;
  /** Documents that were put from this screen, for their names. */
  readonly documents: readonly OwnDocument[];
}

export const DOCUMENTS_MAX = 20;

export const useDraft = create<DraftState>(() => ({ form: null, filledFrom: null, touched: false, documents: [] }));

export const draft = {
  edit: (patch: Partial<FormText>): void => {
    useDraft.setState((state) =>
      state.form === null ? state : { form: { ...state.form, name: '', ...patch }, touched: true },
    );
  },
  fillFromRun: (run: RunSummary): void => {
    if (useDraft.getState().filledFrom === run.id) return;
    useDraft.setState({ form: formOf(run.experiment, ownDocumentOf(run.experiment)), filledFrom: run.id, touched: false });
  },
  fillFromDefault: (models: readonly ModelSummary[]): void => {
    if (useDraft.getState().form !== null) return;
    const model = smallestModel(models);
    if (model === undefined) return;
    const experiment = contextExperimentSchema.parse(defaultExperiment(model.name, model.trainedContext));
    useDraft.setState({ form: formOf(experiment), filledFrom: 'default', touched: false });
  },
  addDocument: (document: OwnDocument): void => {
    useDraft.setState((state) => ({ documents: [...state.documents.filter(({ id }) => id !== document.id), document].slice(-DOCUMENTS_MAX) }));
    draft.edit({ document });
  },
};

function ownDocumentOf({ document }: ContextExperiment): OwnDocument | null {
  if (document.kind === 'generated') return null;
  return useDraft.getState().documents.find(({ id }) => id === document.documentId) ?? null;
}

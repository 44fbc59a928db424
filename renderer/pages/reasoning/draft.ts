/** The experiment that is being written. It outlives the page, and is filled from the run that is looked at. */
import { create } from 'zustand';
import type { ReasoningRun } from '../../../shared/contract/experiments.ts';
import type { RunId } from '../../../shared/contract/ids.ts';
import type { ModelSummary } from '../../../shared/contract/server.ts';
import { smallestModel } from '../../stores/default-probe.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { formOf } from './form-text.ts';
import type { FormText } from './form-text.ts';

export interface DraftState {
  readonly form: FormText | null;
  /** The run it was filled from; editing keeps it, so that the same run does not fill it again. */
  readonly filledFrom: RunId | 'preset' | null;
  /** The person changed something since. */
  readonly touched: boolean;
  /** What the preset had to leave out for this model. */
  readonly notes: readonly string[];
}

const empty: DraftState = { form: null, filledFrom: null, touched: false, notes: [] };

export const useDraft = create<DraftState>(() => empty);

export const draft = {
  reset: (): void => useDraft.setState(empty),
  edit: (patch: Partial<FormText>): void => {
    useDraft.setState((state) =>
      state.form === null ? state : { form: { ...state.form, name: '', ...patch }, touched: true, notes: [] },
    );
  },
  fillFromRun: (run: ReasoningRun): void => {
    if (useDraft.getState().filledFrom === run.id) return;
    useDraft.setState({ form: formOf(run.experiment), filledFrom: run.id, touched: false, notes: [] });
  },
  /** The ready experiment, while nothing else was written. */
  fillFromPreset: async (client: EngineClient): Promise<void> => {
    const model = likelyModel(client.store.getState().server?.models ?? []);
    if (model === undefined || useDraft.getState().form !== null) return;
    const preset = await client.request('reasoning.preset', { model: model.name });
    if (!preset.ok || useDraft.getState().form !== null) return;
    useDraft.setState({
      form: formOf(preset.value.experiment),
      filledFrom: 'preset',
      touched: false,
      notes: preset.value.warnings,
    });
  },
  /** Puts the ready experiment in place of what is written, for the model that is chosen. */
  preset: async (client: EngineClient): Promise<void> => {
    const chosen = useDraft.getState().form?.models[0];
    const model = chosen ?? likelyModel(client.store.getState().server?.models ?? [])?.name;
    if (model === undefined) return;
    const preset = await client.request('reasoning.preset', { model });
    if (!preset.ok) {
      client.raiseNotice({ level: 'error', text: preset.denial.message, next: preset.denial.next ?? null });
      return;
    }
    useDraft.setState({ form: formOf(preset.value.experiment), touched: true, notes: preset.value.warnings });
  },
};

/** The smallest model that thinks, else the smallest that answers. */
function likelyModel(models: readonly ModelSummary[]): ModelSummary | undefined {
  return (
    smallestModel(models.filter(({ capabilities }) => capabilities?.includes('thinking') === true)) ??
    smallestModel(models)
  );
}

/** The left half of Live: what is sent, and what would become of it. */
import { useCallback, useMemo } from 'react';
import type { CallRequest, Policy, Think } from '../../../shared/contract/calls.ts';
import type { ModelFacts, ModelSummary } from '../../../shared/contract/server.ts';
import { Choice, Field, NumberBox, Problem } from '../../components/field.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { smallestModel } from '../../stores/default-probe.ts';
import { useAction } from '../../frame/shortcuts.ts';
import { buildRequest, contentOf, thinkChoices } from './build-request.ts';
import type { Problems } from './build-request.ts';
import { draft, useDraft } from './draft-store.ts';
import { ModelPicker } from './model-picker.tsx';
import { PayerLine } from './payer-line.tsx';
import { PreflightGauge } from './preflight-gauge.tsx';
import { TextTabs } from './text-tabs.tsx';
import { useModelFacts, usePastCalls, usePreflight } from './use-live.ts';
import { WindowSlider } from './window-slider.tsx';

export interface ComposerProps {
  readonly running: boolean;
  readonly onSend: (request: CallRequest) => void;
  readonly onStop: () => void;
}

export function Composer({ running, onSend, onStop }: ComposerProps) {
  const models = useEngine((state) => state.server?.models ?? noModels);
  const model = useChosenModel(models);
  const facts = useModelFacts(model);
  const built = useBuiltRequest(model, facts, models);
  const state = usePreflight(built.request);
  const past = usePastCalls(model);
  const { request } = built;
  const down = useEngine((engine) =>
    engine.server?.state === 'up' ? null : (engine.server?.problem ?? 'No server answers.'),
  );
  const send = useCallback(
    (policy?: Policy) => {
      if (request !== null && !running && down === null)
        onSend(policy === undefined ? request : { ...request, policy });
    },
    [request, running, down, onSend],
  );
  useAction('start-or-stop', running ? onStop : request === null || down !== null ? null : send);
  return (
    <section aria-label="Composer" data-presents="no" className="flex min-h-0 min-w-0 flex-col overflow-auto border-r">
      <div className="flex min-h-0 flex-1 flex-col gap-2.5 px-6 pt-4 pb-2">
        <ModelPicker
          models={models}
          value={model}
          facts={facts}
          onValue={(name) => {
            draft.set({ model: name });
          }}
        />
        <CallSettings facts={facts} models={models} model={model} problems={built.problems} />
        <TextTabs preflight={state.preflight} onSend={send} />
      </div>
      <PreflightGauge
        state={state}
        request={request}
        problem={down ?? Object.values(built.problems)[0] ?? null}
        down={down !== null}
        running={running}
        payer={<PayerLine model={model} preflight={state.preflight} />}
        past={past}
        onUse={(numCtx) => {
          draft.set({ numCtx: String(numCtx) });
        }}
        onSend={send}
        onStop={onStop}
      />
    </section>
  );
}

const noModels: readonly ModelSummary[] = [];

/** The one chosen, else the smallest that can answer, so that the page works from the first second. */
function useChosenModel(models: readonly ModelSummary[]): string {
  const chosen = useDraft((state) => state.model);
  if (chosen !== '' && (models.length === 0 || models.some((model) => model.name === chosen))) return chosen;
  return smallestModel(models)?.name ?? '';
}

function useBuiltRequest(model: string, facts: ModelFacts | null, models: readonly ModelSummary[]) {
  const settings = useEngine((state) => state.settings);
  const typed = useDraft();
  const { numCtx, numPredict, temperature, seed, policy, payer, system, turns, message, files } = typed;
  const think = useThink(model, facts, models).value;
  const content = useMemo(() => contentOf(files, message), [files, message]);
  return useMemo(() => {
    if (settings === null) return { request: null, problems: {} };
    return buildRequest(
      { model, numCtx, numPredict, temperature, seed, policy, payer, system, turns, content, think },
      settings,
      think,
    );
  }, [settings, model, numCtx, numPredict, temperature, seed, policy, payer, system, turns, content, think]);
}

/** What the model takes decides; a choice that it cannot take falls back to leaving the field out. */
function useThink(
  model: string,
  facts: ModelFacts | null,
  models: readonly ModelSummary[],
): { value: Think; choices: readonly Think[] } {
  const wished = useDraft((state) => state.think);
  const listed = models.find((candidate) => candidate.name === model)?.capabilities ?? null;
  const choices = thinkChoices(facts?.capabilities ?? listed, facts?.architecture ?? null);
  return { value: choices.includes(wished) ? wished : 'default', choices };
}

const thinkWords: Record<string, string> = {
  default: 'default',
  true: 'on',
  false: 'off',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'max',
};

interface CallSettingsProps {
  readonly facts: ModelFacts | null;
  readonly models: readonly ModelSummary[];
  readonly model: string;
  readonly problems: Problems;
}

function CallSettings({ facts, models, model, problems }: CallSettingsProps) {
  const { numCtx, numPredict, temperature, seed, policy } = useDraft();
  const defaults = useEngine((state) => state.settings);
  const think = useThink(model, facts, models);
  const trained = facts?.trainedContext ?? models.find((candidate) => candidate.name === model)?.trainedContext ?? null;
  const cannotThink = think.choices.length === 0;
  return (
    <>
      <WindowSlider
        value={numCtx}
        onValue={(next) => {
          draft.set({ numCtx: next });
        }}
        trained={trained}
        problem={problems.numCtx ?? null}
      />
      <div className="grid grid-cols-5 gap-3 max-[1100px]:gap-1.5">
        <Field
          code
          label="num_predict"
          help="Most tokens of the reply. Always sent: without it a reply can run without end."
          problem={problems.numPredict ?? null}
        >
          {({ id, problemId }) => (
            <NumberBox
              id={id}
              problemId={problemId}
              problem={problems.numPredict ?? null}
              value={numPredict}
              placeholder={String(defaults?.numPredict ?? '')}
              onValue={(next) => {
                draft.set({ numPredict: next });
              }}
            />
          )}
        </Field>
        <Field code label="think" help={cannotThink ? `${model} cannot think.` : 'Default leaves the field out.'}>
          {({ id }) => (
            <Choice
              id={id}
              disabled={cannotThink}
              title={cannotThink ? `${model} cannot think` : ''}
              value={cannotThink ? 'false' : String(think.value)}
              options={(cannotThink ? [false as Think] : think.choices).map((choice) => ({
                value: String(choice),
                text: thinkWords[String(choice)] ?? String(choice),
              }))}
              onValue={(next) => {
                const choice = think.choices.find((candidate) => String(candidate) === next);
                if (choice !== undefined) draft.set({ think: choice });
              }}
            />
          )}
        </Field>
        <Field code label="temperature" problem={problems.temperature ?? null}>
          {({ id, problemId }) => (
            <NumberBox
              id={id}
              problemId={problemId}
              problem={problems.temperature ?? null}
              value={temperature}
              onValue={(next) => {
                draft.set({ temperature: next });
              }}
            />
          )}
        </Field>
        <Field code label="seed" problem={problems.seed ?? null}>
          {({ id, problemId }) => (
            <NumberBox
              id={id}
              problemId={problemId}
              problem={problems.seed ?? null}
              value={seed}
              onValue={(next) => {
                draft.set({ seed: next });
              }}
            />
          )}
        </Field>
        <Field
          label="when over"
          help="warn: say it and send. refuse: the server answers with an error and what it needs. allow: send without a word."
        >
          {({ id }) => (
            <Choice
              id={id}
              value={policy ?? defaults?.policy ?? 'warn'}
              options={[
                { value: 'warn', text: 'warn' },
                { value: 'refuse', text: 'refuse' },
                { value: 'allow', text: 'allow' },
              ]}
              onValue={(next) => {
                draft.set({ policy: next });
              }}
            />
          )}
        </Field>
      </div>
      <Problem text={models.length === 0 ? null : (problems.model ?? null)} />
    </>
  );
}

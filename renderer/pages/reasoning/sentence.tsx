/** The experiment as one sentence that is a form. */
import { ModelsEditor, ModelsWord } from '../../components/models-editor.tsx';
import { Help, ListBox, Slot, Suggestions, Together } from '../../components/slot.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { CapSearchSlot } from './cap-search.tsx';
import { draft } from './draft.ts';
import { variantsWord } from './form-text.ts';
import type { FormField, FormText } from './form-text.ts';
import { VariantsEditor } from './variants-editor.tsx';

export interface SentenceProps {
  readonly form: FormText;
  readonly problems: Readonly<Partial<Record<FormField, string>>>;
  readonly disabled: boolean;
  readonly thinkers: ReadonlyMap<string, boolean>;
  readonly leftOut: ReadonlyMap<string, string>;
}

export function Sentence({ form, problems, disabled, thinkers, leftOut }: SentenceProps) {
  const models = useEngine((state) => state.server?.models ?? noModels);
  const common = (field: FormField): { problem: string | null; disabled: boolean } => ({
    problem: problems[field] ?? null,
    disabled,
  });
  return (
    <p className="flex min-w-0 flex-wrap items-baseline gap-x-1.5 gap-y-1 text-lead leading-7">
      <span>Ask</span>
      <Slot label="Models" value={<ModelsWord models={form.models} />} wide {...common('models')}>
        <ModelsEditor
          models={models}
          value={form.models}
          onValue={(value) => {
            draft.edit({ models: value });
          }}
        />
      </Slot>
      <Slot label="Prompt" value={promptWord(form.prompt)} wide {...common('prompt')}>
        <LongBox
          label="Prompt"
          value={form.prompt}
          onValue={(prompt) => {
            draft.edit({ prompt });
          }}
        />
        <Suggestions
          items={prompts}
          onPick={(prompt) => {
            draft.edit({ prompt });
          }}
        />
        {form.messages.length === 0 ? null : <Help text={`${form.messages.length} earlier turns go with it.`} />}
      </Slot>
      <span>with</span>
      <Together>
        <Slot label="Variants" value={variantsWord(form.variants)} wide {...common('variants')}>
          <VariantsEditor
            value={form.variants}
            cannotThink={cannotThink(form.models, thinkers)}
            leftOut={leftOut}
            onValue={(variants) => {
              draft.edit({ variants });
            }}
          />
        </Slot>
        ,
      </Together>
      <Slot label="Repeats" value={form.repeats} {...common('repeats')}>
        <ListBox
          label="Repeats, each with a seed of its own"
          value={form.repeats}
          onValue={(repeats) => {
            draft.edit({ repeats });
          }}
        />
        <Suggestions
          items={[
            ['once', '1'],
            ['4', '4'],
            ['10', '10'],
          ]}
          onPick={(repeats) => {
            draft.edit({ repeats });
          }}
        />
        <Help text="How often an off switch is obeyed only shows over repeats. At temperature 0 seeds change little." />
      </Slot>
      <span>{form.repeats.trim() === '1' ? 'time' : 'times'}.</span>
    </p>
  );
}

/** What is seldom changed, in one small line. */
export function Settings({ form, problems, disabled }: Omit<SentenceProps, 'thinkers' | 'leftOut'>) {
  const common = (field: FormField): { problem: string | null; disabled: boolean; small: true } => ({
    problem: problems[field] ?? null,
    disabled,
    small: true,
  });
  return (
    <div className="contents text-table text-ink-3">
      <span>num_ctx</span>
      <Slot
        label="num_ctx"
        value={/^\s*$|default/iu.test(form.numCtx) ? 'server default' : form.numCtx}
        {...common('numCtx')}
      >
        <ListBox
          label="num_ctx, tokens of the window"
          value={form.numCtx}
          onValue={(numCtx) => {
            draft.edit({ numCtx });
          }}
        />
        <Suggestions
          items={[
            ['server default', 'default'],
            ['8,192', '8,192'],
            ['16,384', '16,384'],
            ['32,768', '32,768'],
          ]}
          onPick={(numCtx) => {
            draft.edit({ numCtx });
          }}
        />
        <Help text="Prompt, thinking and answer share the window: a cap above it never comes into play." />
      </Slot>
      <span>temperature</span>
      <Slot label="Temperature" value={form.temperature} {...common('temperature')}>
        <ListBox
          label="temperature"
          value={form.temperature}
          onValue={(temperature) => {
            draft.edit({ temperature });
          }}
        />
      </Slot>
      <span>seed</span>
      <Slot label="Seed" value={form.seed} {...common('seed')}>
        <ListBox
          label="seed of the first repeat; each further one is one higher"
          value={form.seed}
          onValue={(seed) => {
            draft.edit({ seed });
          }}
        />
      </Slot>
      <span>system</span>
      <Slot
        label="System message"
        value={form.system.trim() === '' ? 'none' : promptWord(form.system)}
        wide
        {...common('system')}
      >
        <LongBox
          label="System message"
          value={form.system}
          onValue={(system) => {
            draft.edit({ system });
          }}
        />
      </Slot>
      <Slot
        label="Split"
        value={form.logprobs ? 'split counted where it can be' : 'split estimated'}
        disabled={disabled}
        small
      >
        <Check
          text="Ask for logprobs"
          on={form.logprobs}
          onChange={(logprobs) => {
            draft.edit({ logprobs });
          }}
        />
        <Help text="With them, thinking and answer are counted token by token. Servers before 0.12.11 do not have them; the split is then an estimate and says so." />
      </Slot>
      <CapSearchSlot value={form.capSearch} problem={problems.capSearch ?? null} disabled={disabled} />
      <Slot label="Warm-up" value={form.warmUp ? 'with a warm-up' : 'no warm-up'} disabled={disabled} small>
        <Check
          text="One short call before each model"
          on={form.warmUp}
          onChange={(warmUp) => {
            draft.edit({ warmUp });
          }}
        />
        <Help text="It loads the model, so that the times after it compare. It stays out of all averages." />
      </Slot>
    </div>
  );
}

const noModels: never[] = [];
const PROMPT_CHARACTERS_MAX = 64;

const prompts: readonly (readonly [string, string])[] = [
  ['a prime', 'Is 1000003 a prime number? Answer only yes or no.'],
  ['letters', 'How many times does the letter r stand in strawberry? Answer with the number only.'],
  ['a date', 'Which day of the week was 14 November 2026? Answer with one word.'],
];

/** Why none of the chosen models can be asked to think. */
export function cannotThink(models: readonly string[], thinkers: ReadonlyMap<string, boolean>): string | null {
  if (models.length === 0 || models.some((model) => thinkers.get(model) !== false)) return null;
  const [first] = models;
  return models.length === 1
    ? `${first ?? ''} cannot think: on and the levels would be refused. default and off work.`
    : 'None of these models can think: on and the levels would be refused. default and off work.';
}

function promptWord(text: string): string {
  const line = text.trim().replace(/\s+/gu, ' ');
  if (line === '') return 'write a prompt';
  return `“${line.length > PROMPT_CHARACTERS_MAX ? `${line.slice(0, PROMPT_CHARACTERS_MAX)}…` : line}”`;
}

function LongBox({ label, value, onValue }: { label: string; value: string; onValue: (value: string) => void }) {
  return (
    <label className="flex flex-col">
      <span className="lab">{label}</span>
      <textarea
        className="field h-32! resize-y py-1.5 leading-5"
        value={value}
        maxLength={1_000_000}
        spellCheck={false}
        autoFocus
        onChange={(event) => {
          onValue(event.target.value);
        }}
      />
    </label>
  );
}

function Check({ text, on, onChange }: { text: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label className="flex items-center gap-2 text-ink">
      <input
        type="checkbox"
        className="accent-(--ink)"
        checked={on}
        onChange={(event) => {
          onChange(event.target.checked);
        }}
      />
      {text}
    </label>
  );
}

/** The experiment as one sentence that is a form. */
import { Choice, Field, TextBox } from '../../components/field.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { DocumentEditor } from './document-editor.tsx';
import { draft } from './draft.ts';
import { entriesOf } from './form-text.ts';
import type { FormField, FormText } from './form-text.ts';
import { ModelsEditor, ModelsWord } from '../../components/models-editor.tsx';
import { Checks, Help, ListBox, Slot, Suggestions, Together } from '../../components/slot.tsx';

export interface SentenceProps {
  readonly form: FormText;
  readonly problems: Readonly<Partial<Record<FormField, string>>>;
  readonly disabled: boolean;
}

export function Sentence({ form, problems, disabled }: SentenceProps) {
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
      <span>at</span>
      <Slot label="Windows" value={windowsWord(form.windows)} {...common('windows')}>
        <ListBox label="Windows, num_ctx" value={form.windows} onValue={(windows) => draft.edit({ windows })} />
        <Suggestions
          items={[
            ['default, 40,960', 'default, 40,960'],
            ['+ server default', plus(form.windows, 'default')],
            ['+ 4,096', plus(form.windows, '4,096')],
            ['+ 8,192', plus(form.windows, '8,192')],
            ['+ 16,384', plus(form.windows, '16,384')],
            ['+ 32,768', plus(form.windows, '32,768')],
            ['+ 40,960', plus(form.windows, '40,960')],
          ]}
          onPick={(windows) => draft.edit({ windows })}
        />
        <Help text="Tokens, apart by commas. default leaves num_ctx out, so that the server decides. Each window loads the model again." />
      </Slot>
      <span>with</span>
      <Slot label="Sizes" value={form.sizes} {...common('sizes')}>
        <ListBox label={`Sizes, in ${form.sizeUnit}`} value={form.sizes} onValue={(sizes) => draft.edit({ sizes })} />
        <Suggestions
          items={[
            ['2k, 10k, 40k, 120k', '2k, 10k, 40k, 120k'],
            ['doubling to 64k', '1k, 2k, 4k, 8k, 16k, 32k, 64k'],
            ['one, 40k', '40k'],
          ]}
          onPick={(sizes) => draft.edit({ sizes })}
        />
        <Choice
          label="Unit of the sizes"
          value={form.sizeUnit}
          options={[
            { value: 'characters', text: 'characters, exact' },
            { value: 'tokens', text: 'tokens, aimed at with the estimate' },
          ]}
          onValue={(sizeUnit) => draft.edit({ sizeUnit })}
        />
      </Slot>
      <span>{form.sizeUnit} of</span>
      <Together>
        <Slot label="Text" value={form.document?.name ?? 'generated text'} wide {...common('document')}>
          <DocumentEditor value={form.document} />
        </Slot>
        ,
      </Together>
      <span className="whitespace-nowrap">needle at</span>
      <Together>
        <Slot label="Needle depths" value={depthsWord(form.depths)} {...common('depths')}>
          <ListBox
            label="Depths in percent of the text"
            value={form.depths}
            onValue={(depths) => draft.edit({ depths })}
          />
          <Suggestions
            items={[
              ['first line', '0'],
              ['last line', '100'],
              ['anywhere', '0, 25, 50, 75, 100'],
              ['two in one text', '0 + 100'],
            ]}
            onPick={(depths) => draft.edit({ depths })}
          />
          <Help text="0 is the first line. A comma starts another text; + puts several needles into one." />
        </Slot>
        ,
      </Together>
      <Slot label="Repeats" value={form.repeats} {...common('repeats')}>
        <ListBox
          label="Repeats, each with a seed of its own"
          value={form.repeats}
          onValue={(repeats) => draft.edit({ repeats })}
        />
      </Slot>
      <span>{form.repeats.trim() === '1' ? 'time' : 'times'}.</span>
    </p>
  );
}

/** What is seldom changed, in one small line. */
export function Settings({ form, problems, disabled }: SentenceProps) {
  const common = (field: FormField): { problem: string | null; disabled: boolean; small: true } => ({
    problem: problems[field] ?? null,
    disabled,
    small: true,
  });
  return (
    <div className="contents text-table text-ink-3">
      <span>by</span>
      <Slot label="Routes" value={form.routes.join(' and ') || 'no route'} {...common('routes')}>
        <Checks
          label="Routes"
          options={[
            { value: 'chat', text: 'chat', note: '/api/chat' },
            { value: 'generate', text: 'generate', note: '/api/generate' },
          ]}
          value={form.routes}
          onValue={(routes) => draft.edit({ routes })}
        />
      </Slot>
      <span>over the window</span>
      <Slot label="Policies" value={form.policies.join(' and ') || 'no policy'} {...common('policies')}>
        <Checks
          label="When a text is over the window"
          options={[
            { value: 'warn', text: 'warn', note: 'send, and say what was cut' },
            { value: 'refuse', text: 'refuse', note: 'ask the server to refuse it' },
            { value: 'allow', text: 'allow', note: 'send' },
          ]}
          value={form.policies}
          onValue={(policies) => draft.edit({ policies })}
        />
      </Slot>
      <span>question</span>
      <Slot label="Question" value={form.questionPosition} wide {...common('question')}>
        <Choice
          label="Where the question stands"
          value={form.questionPosition}
          options={[
            { value: 'last', text: 'last, after the text' },
            { value: 'first', text: 'first, before the text' },
          ]}
          onValue={(questionPosition) => draft.edit({ questionPosition })}
        />
        <Field label="Question, empty for the usual one">
          {({ id }) => (
            <TextBox
              id={id}
              value={form.question}
              maxLength={2_000}
              placeholder="What is the launch code?"
              onValue={(question) => draft.edit({ question })}
            />
          )}
        </Field>
      </Slot>
      <span>num_predict</span>
      <Slot label="num_predict" value={form.numPredict} {...common('numPredict')}>
        <ListBox
          label="num_predict, tokens of an answer"
          value={form.numPredict}
          onValue={(numPredict) => draft.edit({ numPredict })}
        />
        <Help text="0 takes every bound off on most models, so at least 1." />
      </Slot>
      <span>temperature</span>
      <Slot label="Temperature" value={form.temperature} {...common('temperature')}>
        <ListBox label="temperature" value={form.temperature} onValue={(temperature) => draft.edit({ temperature })} />
      </Slot>
      <span>think</span>
      <Slot label="Think" value={String(form.think)} {...common('think')}>
        <Choice
          label="think"
          value={thinkOptions.find((option) => option === String(form.think)) ?? 'default'}
          options={thinkOptions.map((value) => ({
            value,
            text: value === 'default' ? 'default, the field is left out' : value,
          }))}
          onValue={(value) => draft.edit({ think: value === 'true' ? true : value === 'false' ? false : value })}
        />
      </Slot>
      <span>seed</span>
      <Slot label="Seed" value={form.seed} {...common('seed')}>
        <ListBox
          label="seed of the text and the first repeat"
          value={form.seed}
          onValue={(seed) => draft.edit({ seed })}
        />
      </Slot>
      <Slot label="Warm-up" value={form.warmUp ? 'with a warm-up' : 'no warm-up'} disabled={disabled} small>
        <label className="flex items-center gap-2 text-ink">
          <input
            type="checkbox"
            className="accent-(--ink)"
            checked={form.warmUp}
            onChange={(event) => draft.edit({ warmUp: event.target.checked })}
          />
          One call before each model and window
        </label>
        <Help text="It loads the model, so that the times after it compare. It stays out of all averages." />
      </Slot>
    </div>
  );
}

const noModels: never[] = [];
const thinkOptions = ['default', 'true', 'false', 'low', 'medium', 'high', 'max'] as const;

function windowsWord(text: string): string {
  return text.replace(/\b(server )?default\b/giu, 'server default');
}

function depthsWord(text: string): string {
  const words = entriesOf(text.replaceAll('%', ' ').replace(/\s*\+\s*/gu, '+')).map(
    (entry) => `${entry.split('+').join(' + ')} %`,
  );
  return words.length === 0 ? text : words.join(', ');
}

function plus(list: string, entry: string): string {
  return list.trim() === '' ? entry : `${list.trim().replace(/,$/u, '')}, ${entry}`;
}

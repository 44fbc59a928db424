/** Variants as rows: what is asked of thinking, the output cap, and where thinking is stopped from this side. */
import { Plus, X } from 'lucide-react';
import type { Think } from '../../../shared/contract/calls.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Choice, NumberBox } from '../../components/field.tsx';
import { Help } from '../../components/slot.tsx';
import { count } from '../../format/numbers.ts';
import { readCount } from '../../format/read-number.ts';
import { thinkWord } from '../../format/reasoning.ts';
import { variantWord } from './form-text.ts';
import type { FormVariant } from './form-text.ts';

export interface VariantsEditorProps {
  readonly value: readonly FormVariant[];
  readonly onValue: (variants: FormVariant[]) => void;
  /** Why thinking cannot be asked of the chosen models; null when at least one can. */
  readonly cannotThink: string | null;
  /** By the word of the variant: why the plan leaves it out. */
  readonly leftOut: ReadonlyMap<string, string>;
}

const thinks = ['default', 'off', 'on', 'low', 'medium', 'high', 'max'] as const;
type ThinkWord = (typeof thinks)[number];
const VARIANTS_MAX = 50;
const TWO_STEPS_TOKENS = 256;

export function VariantsEditor({ value, onValue, cannotThink, leftOut }: VariantsEditorProps) {
  const change = (index: number, patch: Partial<FormVariant>): void => {
    onValue(value.map((one, place) => (place === index ? { ...one, name: null, ...patch } : one)));
  };
  const add = (variants: readonly FormVariant[]): void => {
    onValue([...value, ...variants].slice(0, VARIANTS_MAX));
  };
  const lastCap = value.at(-1)?.cap ?? '2,000';
  return (
    <>
      <div
        role="group"
        aria-label="Variants"
        className="grid grid-cols-[108px_84px_92px_108px_28px] items-center gap-x-2 gap-y-1"
      >
        <span className="lab">think</span>
        <span className="lab mono text-small!">num_predict</span>
        <span className="lab">stop thinking at</span>
        <span className="lab">then</span>
        <span />
        {value.map((variant, index) => (
          <VariantRow
            key={index}
            variant={variant}
            place={index + 1}
            cannotThink={cannotThink}
            why={leftOut.get(variantWord(variant)) ?? null}
            onChange={(patch) => {
              change(index, patch);
            }}
            onRemove={() => {
              onValue(value.filter((_, place) => place !== index));
            }}
          />
        ))}
      </div>
      <div className="flex flex-wrap gap-1">
        <Button
          look="flat"
          icon={Plus}
          disabled={value.length >= VARIANTS_MAX}
          onClick={() => {
            add([plain(false, lastCap)]);
          }}
        >
          Variant
        </Button>
        <Button
          look="flat"
          disabled={cannotThink !== null}
          title={cannotThink ?? 'low, medium and high at the cap of the last row'}
          onClick={() => {
            add((['low', 'medium', 'high'] as const).map((think) => plain(think, lastCap)));
          }}
        >
          Each level
        </Button>
        <Button
          look="flat"
          disabled={cannotThink !== null}
          title={
            cannotThink ??
            `Thinks to ${count(TWO_STEPS_TOKENS)} tokens, is stopped, and is asked once more for the answer alone`
          }
          onClick={() => {
            add([{ ...plain(true, roomyCap(value)), thinkingCap: count(TWO_STEPS_TOKENS), then: 'ask-again' }]);
          }}
        >
          In two steps
        </Button>
      </div>
      {cannotThink === null ? null : <Help text={cannotThink} />}
      <Help text="The cap is num_predict: thinking and answer together. The server takes the levels low to max from every model that thinks; which of them differ is up to the model." />
    </>
  );
}

interface VariantRowProps {
  readonly variant: FormVariant;
  readonly place: number;
  readonly cannotThink: string | null;
  readonly why: string | null;
  readonly onChange: (patch: Partial<FormVariant>) => void;
  readonly onRemove: () => void;
}

function VariantRow({ variant, place, cannotThink, why, onChange, onRemove }: VariantRowProps) {
  const word = thinkWord(variant.think);
  const stops = variant.thinkingCap.trim() !== '';
  return (
    <>
      <Choice
        label={`think of variant ${place}`}
        value={thinks.find((one) => one === word) ?? 'default'}
        options={thinks.map((one) => ({
          value: one,
          text: one === 'default' ? 'default' : one,
          disabled: cannotThink !== null && one !== 'default' && one !== 'off',
        }))}
        title={cannotThink ?? ''}
        onValue={(next) => {
          onChange({ think: thinkOf(next) });
        }}
      />
      <NumberBox
        aria-label={`num_predict of variant ${place}`}
        value={variant.cap}
        onValue={(cap) => {
          onChange({ cap });
        }}
      />
      <NumberBox
        aria-label={`stop thinking of variant ${place} at`}
        value={variant.thinkingCap}
        placeholder="never"
        onValue={(thinkingCap) => {
          onChange({ thinkingCap });
        }}
      />
      <Choice
        label={`then, variant ${place}`}
        value={variant.then}
        disabled={!stops}
        title={stops ? '' : 'Give a number of tokens at which thinking is stopped.'}
        options={[
          { value: 'stop', text: 'stop' },
          { value: 'ask-again', text: 'ask again' },
        ]}
        onValue={(then) => {
          onChange({ then });
        }}
      />
      <IconButton icon={X} label={`Remove variant ${place}`} onClick={onRemove} />
      {why === null ? null : <p className="lab col-span-5 wrap-anywhere">Not run: {why}</p>}
    </>
  );
}

/** A cap above the one on thinking, which would else never stop anything. */
function roomyCap(variants: readonly FormVariant[]): string {
  const caps = variants.map(({ cap }) => readCount(cap.trim(), 1_000)).filter((cap) => cap !== null);
  return count(caps.find((cap) => cap > TWO_STEPS_TOKENS) ?? 2 * TWO_STEPS_TOKENS);
}

function plain(think: Think, cap: string): FormVariant {
  return { name: null, think, cap, thinkingCap: '', then: 'stop' };
}

function thinkOf(word: ThinkWord): Think {
  if (word === 'on') return true;
  return word === 'off' ? false : word;
}

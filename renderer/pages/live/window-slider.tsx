/** num_ctx: a slider over useful stops, and a box for any other number. Empty = the server's default. */
import { Slider } from 'radix-ui';
import { NumberBox, Problem } from '../../components/field.tsx';
import { Hint } from '../../components/hint.tsx';
import { count } from '../../format/numbers.ts';
import { parseWhole, windowStops } from './build-request.ts';

export interface WindowSliderProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly trained: number | null;
  readonly problem: string | null;
}

export function WindowSlider({ value, onValue, trained, problem }: WindowSliderProps) {
  const stops = windowStops(trained);
  const parsed = parseWhole(value);
  const tokens = 'value' in parsed ? parsed.value : null;
  const at = tokens === null ? 0 : nearest(stops, tokens) + 1;
  const last = stops.length;
  return (
    <div>
      <div className="flex items-start gap-4 max-[1100px]:gap-1">
        <Hint text="The size of the model's window in tokens. Empty leaves it to the server.">
          <span className="mono w-16 flex-none leading-7 max-[1100px]:w-13 text-ink">num_ctx</span>
        </Hint>
        <div className="@container min-w-0 flex-1 px-3">
          <Slider.Root
            min={0}
            max={last}
            step={1}
            value={[at]}
            onValueChange={([next = 0]) => {
              onValue(next === 0 ? '' : String(stops[next - 1] ?? ''));
            }}
            className="relative flex h-5 touch-none items-center select-none"
          >
            <Slider.Track className="relative h-0.5 flex-1 bg-field">
              <Slider.Range className="absolute h-full bg-ink" />
            </Slider.Track>
            <Slider.Thumb
              aria-label="num_ctx"
              aria-valuetext={at === 0 ? 'server default' : count(stops[at - 1])}
              className="block size-4 rounded-full border-2 border-ink bg-page"
            />
          </Slider.Root>
          <div className="relative h-4" aria-hidden="true">
            {['default', ...stops.map(windowWord)].map((text, index) => (
              <button
                key={text}
                type="button"
                tabIndex={-1}
                onClick={() => {
                  onValue(index === 0 ? '' : String(stops[index - 1] ?? ''));
                }}
                className={`lab absolute -translate-x-1/2 ${index === at ? 'font-semibold text-ink!' : index % 2 === 1 ? '@max-[230px]:hidden' : ''}`}
                style={{ left: `calc(8px + (100% - 16px) * ${index / last})` }}
              >
                {text}
              </button>
            ))}
          </div>
        </div>
        <div className="w-24 flex-none max-[1100px]:w-20">
          <NumberBox
            value={value}
            onValue={onValue}
            problem={problem}
            problemId="num-ctx-problem"
            aria-label="num_ctx, exact"
            placeholder="default"
            className="text-right font-semibold placeholder:font-normal"
          />
        </div>
      </div>
      <Problem id="num-ctx-problem" text={problem} />
    </div>
  );
}

/** 8k for 8,192 and 40k for 40,960: the names people use; anything else as it is. */
function windowWord(tokens: number): string {
  return tokens % 1_024 === 0 ? `${tokens / 1_024}k` : count(tokens);
}

function nearest(stops: readonly number[], tokens: number): number {
  return stops.reduce(
    (best, stop, index) =>
      Math.abs(Math.log(stop / Math.max(1, tokens))) < Math.abs(Math.log((stops[best] ?? 1) / Math.max(1, tokens)))
        ? index
        : best,
    0,
  );
}

/** How a model of each family writes thinking and answer down, before any parser sees it. */
import type { BrainAsk } from './options.ts';

/** thinking null = the model does not think; answer null = the thought stays open. */
export function writeInFamily(family: string, thinking: string | null, answer: string | null): string {
  const style = styles[family] ?? spoken;
  if (thinking === null) return style.answerHead + (answer ?? '');
  const open = `${style.open}${thinking}`;
  return answer === null ? open : `${open}${style.close}${answer}`;
}

/** A short deliberation about the questions that were asked; longer on higher levels. */
export function thinkingText(ask: Pick<BrainAsk, 'thinkSetting'>, subjects: readonly string[]): string {
  const asked = subjects.length === 0 ? 'something short' : subjects.map((subject) => `the ${subject}`).join(' and ');
  const steps = [
    `The user asks for ${asked}.`,
    ' I look for a sentence that states it.',
    ' I compare what I find with the question.',
    ' Other codes in the text belong to other things.',
    ' I read the passage once more to be sure.',
    ' Nothing else in the text speaks about it.',
  ];
  const count = ask.thinkSetting === 'low' ? 1 : ask.thinkSetting === 'high' || ask.thinkSetting === 'max' ? 6 : 3;
  return steps.slice(0, count).join('');
}

interface Style {
  readonly open: string;
  readonly close: string;
  readonly answerHead: string;
}

const spoken: Style = { open: '', close: '', answerHead: '' };
/** The model writes both tags. */
const tagged: Style = { open: '<think>\n', close: '\n</think>\n\n', answerHead: '' };
/** The prompt has opened the thought already: only the closing tag is written. */
const opened: Style = { open: '', close: '\n</think>\n\n', answerHead: '' };

const styles: Readonly<Record<string, Style>> = {
  template: tagged,
  lfm2: tagged,
  'qwen3.5': opened,
  deepseek3: opened,
  'glm-4.7': opened,
  'olmo3-think': opened,
  'qwen3-vl-thinking': opened,
  gemma4: { open: '<|channel>thought\n', close: '\n<channel|>', answerHead: '' },
  harmony: {
    open: '<|channel|>analysis<|message|>',
    close: '<|end|><|start|>assistant<|channel|>final<|message|>',
    answerHead: '<|channel|>final<|message|>',
  },
};

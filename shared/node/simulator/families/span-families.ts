/** The families that read spans, as tables: what each expects, drops, eats and hides. Names are Ollama's parser names. */
import type { SpanRules } from './spans.ts';
import {
  deepseekTools,
  gemmaTools,
  glmTools,
  pythonTools,
  qwenJsonTools,
  qwenVlTools,
  qwenXmlTools,
} from './tool-calls.ts';

export const spanFamilies: Readonly<Record<string, (think: boolean) => SpanRules>> = {
  'qwen3.5': (think) => ({
    ...base,
    start: think ? 'thinking' : 'content',
    dropsLeadingOpen: true,
    holdsContentTail: true,
    tools: qwenXmlTools,
  }),
  /** The parser without thinking: tags are text. */
  qwen3: () => ({ ...base, start: 'content', holdsContentTail: true, tools: qwenJsonTools }),
  /** Does not ask whether thinking was wanted. */
  'qwen3-vl-thinking': () => ({ ...base, start: 'thinking', holdsContentTail: true, tools: qwenVlTools }),
  deepseek3: (think) => ({
    ...base,
    start: think ? 'thinking' : 'content',
    afterClose: 'trim-piece',
    tools: deepseekTools,
  }),
  /** With thinking off it still looks for an opened thought. */
  'glm-4.7': (think) => ({
    ...base,
    start: think ? 'thinking' : 'seek',
    heedsContinuation: false,
    holdsContentTail: true,
    tools: glmTools,
  }),
  /** Recognises the channel either way; off means thrown away. */
  gemma4: (think) => ({
    ...base,
    openTag: '<|channel>',
    closeTag: '<channel|>',
    start: 'content',
    afterClose: 'trim-piece',
    reopens: true,
    channelName: 'thought\n',
    hidesThinking: !think,
    flushes: true,
    tools: gemmaTools,
  }),
  /** Thinks only in some turns: the first words decide. */
  lfm2: (think) => ({ ...base, start: think ? 'seek' : 'content', trimsDirectAnswer: true, tools: pythonTools }),
  /** The prompt always opens the thought. */
  'olmo3-think': () => ({ ...base, start: 'thinking', afterClose: 'trim-piece', tools: null }),
};

const base: SpanRules = {
  openTag: '<think>',
  closeTag: '</think>',
  start: 'content',
  heedsContinuation: true,
  trimsDirectAnswer: false,
  dropsLeadingOpen: false,
  afterClose: 'eat',
  holdsContentTail: false,
  reopens: false,
  channelName: '',
  hidesThinking: false,
  flushes: false,
  tools: null,
};

/** The models of the recordings as profiles, and how a real tokenizer counts where the simulator's differs. */
import { readFileSync } from 'node:fs';
import { profileOf, type ModelProfile } from '../../shared/node/simulator/index.ts';
import type { ChatMessage } from '../../shared/node/simulator/options.ts';
import { renderChat } from '../../shared/node/simulator/templates.ts';
import { createTokenizer } from '../../shared/node/simulator/tokenizer.ts';
import { promptTokensOf } from './recorded-scripts.ts';
import type { Recording } from './recordings.ts';

const gemma: Partial<ModelProfile> = {
  architecture: 'gemma3',
  slidingWindow: 512,
  trainedContext: 32_768,
  embeddingLength: 640,
  parameterSize: '268.10M',
  parameterCount: 268_098_176,
  sizeBytes: 253_113_709,
  capabilities: ['completion'],
  weights: 'gemma3-270m',
};

export const probeModels: readonly ModelProfile[] = [
  profileOf({
    ...gemma,
    name: 'probe-native:latest',
    mode: 'native',
    template: 'chatml',
    generateTemplate: 'prompt-only',
    templateText: '{{ .Prompt }}',
    modifiedAt: '2026-11-29T19:41:50.100236632Z',
  }),
  profileOf({
    ...gemma,
    name: 'probe-rendered:latest',
    templateText: recordedTemplate(),
    parameters: { temperature: 0, stop: '<end_of_turn>' },
    modifiedAt: '2026-11-29T19:41:49.357127205Z',
  }),
];

const tokenizer = createTokenizer();

/**
 * Tokens as Gemma 3 counts them, where the simulator's own tokenizer says otherwise: `<|im_start|>` is no token of its own but
 * six, one of them shared with a stop or a space before it; some words (cut ones among them) are two. Old runners do not join
 * two line feeds.
 */
export function countAsGemma(text: string, version: string): number {
  const occurrences = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  const tags = occurrences(/<\|im_(?:start|end)\|>/g) * 5 - occurrences(/[.? ]<\|im_/g);
  const words = occurrences(/Noted|\bmeetin\b|\bSectio\b/g);
  const feeds = version.startsWith('0.24') ? occurrences(/\n\n/g) : 0;
  return tokenizer.count(text) + tags + words + feeds;
}

/**
 * Pinned counts for one recording: its own count for the prompt it ended with (cut or not), Gemma's for every other text that
 * is tried on the way there. Without BOS.
 */
export function pinsOf(recording: Recording, version: string): (text: string) => number {
  const counted = promptTokensOf(recording);
  if (counted === null) return (text) => countAsGemma(text, version);
  const final = finalPrompt(recording, version);
  return (text) => (final === null || text === final ? counted - 1 : countAsGemma(text, version));
}

/** The prompt left after message dropping, rebuilt from what the log says was kept; null = nothing was dropped. */
function finalPrompt(recording: Recording, version: string): string | null {
  const line = recording.log.find((entry) => entry.includes('messages which exceed context length'));
  const messages = (recording.request.body as { messages?: ChatMessage[] } | null)?.messages;
  if (line === undefined || messages === undefined) return null;
  const told = Number(/truncated=(\d+)/.exec(line)?.[1]);
  const isNative = line.includes('native');
  const from = isNative ? told : messages.length - told;
  const kept = [...messages.slice(0, from).filter((message) => message.role === 'system'), ...messages.slice(from)];
  const isLegacy = version.startsWith('0.24') && JSON.stringify(recording.request.body).includes('probe-native');
  return renderChat(isNative ? 'chatml' : isLegacy ? 'prompt-only' : 'turns', kept);
}

/** The TEMPLATE layer of the recorded model, as /api/show gave it. */
function recordedTemplate(): string {
  const recording = JSON.parse(
    readFileSync(new URL('../fixtures/real/show-rendered.json', import.meta.url), 'utf8'),
  ) as { response: { body: string } };
  return (JSON.parse(recording.response.body) as { template: string }).template;
}

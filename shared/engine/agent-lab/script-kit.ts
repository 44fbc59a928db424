/** What a scripted model sees of a run: its task and what came of its calls, from the transcript alone. It has no memory of its own. */
import type { AgentModel, TranscriptEntry, TurnAsk } from '../agent/model.ts';
import type { ToolAsk } from '../gateway/gateway.ts';
import { type Sleep, think } from './lab-tool.ts';

export interface PastCall {
  readonly name: string;
  readonly argumentsText: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the gateway gave back. */
  readonly text: string;
  /** false: it was refused or not run. */
  readonly ran: boolean;
}

export interface Seen {
  readonly task: string;
  /** Every call so far, in order. */
  readonly calls: readonly PastCall[];
  readonly last: PastCall | null;
  /** The last one that ran: what is known. */
  readonly lastRan: PastCall | null;
  readonly canDelegate: boolean;
}

/** Calls, or the text of an answer. */
export type Decide = (seen: Seen) => readonly ToolAsk[] | string;

const TURN_MS = 1_000;

export function scriptedModel(decide: Decide, sleep: Sleep): AgentModel {
  return {
    async turn(ask) {
      await think(sleep, TURN_MS, ask.signal);
      const seen = seenIn(ask);
      const next = ask.closing ? closingText(seen) : decide(seen);
      const isText = typeof next === 'string';
      return {
        text: isText ? next : '',
        toolCalls: isText ? [] : next,
        promptTokens: null,
        outputTokens: 0,
        callId: null,
        failed: null,
      };
    },
  };
}

export const call = (name: string, args: Readonly<Record<string, unknown>>): ToolAsk => ({
  id: '',
  name,
  argumentsText: JSON.stringify(args),
});

/** The first whole numbers of a task, such as the numbers of orders. */
export function numbersIn(task: string, missing: readonly number[]): number[] {
  const found = [...task.matchAll(/(?<![\d.])\d{1,9}(?![\d.]\d)/g)].map(([digits]) => Number(digits));
  return [...found, ...missing.slice(found.length)];
}

/** A list after the last colon of a task: `Start these jobs: one, two.` */
export function listIn(task: string): string[] {
  const at = task.lastIndexOf(':');
  if (at < 0) return [];
  const items = task.slice(at + 1).split(/[,.\n]/);
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

function closingText({ calls }: Seen): string {
  const ran = calls.filter((one) => one.ran).length;
  return `Stopped before the task was done. Of ${calls.length} calls ${ran} ran.`;
}

function seenIn({ transcript, tools }: TurnAsk): Seen {
  const asked = new Map<string, ToolAsk>();
  const calls: PastCall[] = [];
  let task: string | null = null;
  for (const entry of transcript) {
    if (entry.role === 'user') task ??= entry.content;
    if (entry.role === 'assistant') for (const one of entry.toolCalls) asked.set(one.id, one);
    if (entry.role === 'tool') calls.push(pastCall(entry, asked.get(entry.toolCallId)));
  }
  return {
    task: task ?? '',
    calls,
    last: calls.at(-1) ?? null,
    lastRan: calls.findLast(({ ran }) => ran) ?? null,
    canDelegate: tools.some(({ name }) => name === 'delegate'),
  };
}

function pastCall(entry: Extract<TranscriptEntry, { role: 'tool' }>, ask: ToolAsk | undefined): PastCall {
  const argumentsText = ask?.argumentsText ?? '{}';
  return { name: entry.toolName, argumentsText, args: argsOf(argumentsText), text: entry.content, ran: entry.ran };
}

/** Its own arguments; what it wrote wrongly has none. */
function argsOf(argumentsText: string): PastCall['args'] {
  try {
    const args: unknown = JSON.parse(argumentsText);
    return typeof args === 'object' && args !== null ? (args as PastCall['args']) : {};
  } catch {
    return {};
  }
}

/** How an admitted call runs: one retry layer, and a time limit that holds also for a tool that does not listen. */
import type { BudgetTree, HoldId } from '../budget-tree/tree.ts';
import { createCancel } from '../cancel.ts';
import type { Json } from '../guards/canonical.ts';
import type { CancelSignal } from '../ports.ts';
import { utf8Bytes } from '../utf8.ts';
import type { Breakers } from './breaker.ts';
import { type Tool, type ToolAnswer, textOf } from './tool.ts';

export interface AttemptPorts {
  nowMs(): number;
  after(delayMs: number, then: () => void): () => void;
  readonly tree: BudgetTree;
  readonly breakers: Breakers;
  /** Something goes on after the call; also from an answer that came too late. */
  onLease(lease: NonNullable<ToolAnswer['lease']>): void;
}

export interface AttemptAsk {
  readonly nodeId: string;
  readonly tool: Tool;
  readonly args: Json;
  readonly signal: CancelSignal;
}

export interface Ran {
  readonly answer: ToolAnswer;
  readonly attempts: number;
  readonly ending: Ending;
  /** All attempts together; the first is settled with the call's own hold. */
  readonly nanoDollars: number;
  readonly firstNanoDollars: number;
}

/** `out-of-time`: the time of the agent was over, which says nothing about the tool. */
export type Ending = 'answered' | 'timeout' | 'out-of-time' | 'cancelled';

/** Every attempt is paid: the first by the call's hold, each further one by a hold of its own. */
export async function runAttempts(ask: AttemptAsk, ports: AttemptPorts): Promise<Ran> {
  const { nodeId, tool, signal } = ask;
  const { spec } = tool;
  let total = 0;
  let first = 0;
  let hold: HoldId | null = null;
  for (let attempt = 1; ; attempt += 1) {
    const { answer, ending } = await invoke(ask, attempt, ports);
    const cost = answer.nanoDollars ?? spec.nanoDollarsWorst;
    total += cost;
    if (hold === null) first = cost;
    else ports.tree.settle(hold, { calls: 1, tokens: 0, nanoDollars: cost });
    if (ending === 'answered' || ending === 'timeout') {
      ports.breakers.report(spec.upstream, answer.failed && answer.retryable, ports.nowMs());
    } else ports.breakers.drop(spec.upstream);
    if (answer.lease !== null) ports.onLease(answer.lease);
    const result: Ran = { answer, attempts: attempt, ending, nanoDollars: total, firstNanoDollars: first };
    if (!answer.failed || !answer.retryable || attempt >= spec.attemptsMax || signal.aborted) return result;
    if (ports.breakers.admit(spec.upstream, ports.nowMs()) !== null) return result;
    const held = ports.tree.hold(nodeId, { calls: 1, tokens: 0, nanoDollars: spec.nanoDollarsWorst }, ports.nowMs());
    if (!held.ok) {
      ports.breakers.drop(spec.upstream);
      return result;
    }
    hold = held.value;
  }
}

async function invoke(
  { nodeId, tool, args, signal }: AttemptAsk,
  attempt: number,
  ports: AttemptPorts,
): Promise<{ readonly answer: ToolAnswer; readonly ending: Ending }> {
  const { spec } = tool;
  const own = createCancel();
  const treeMs = ports.tree.timeLeftMs(nodeId, ports.nowMs()) ?? Infinity;
  const limitMs = Math.max(1, Math.min(spec.timeoutMs, treeMs));
  let ending: Ending = 'answered';
  let isOver = false;
  let release = (): void => undefined;
  let takeBack = (): void => undefined;
  const stopped = new Promise<ToolAnswer>((resolve) => {
    const stop = (why: Ending, words: string): void => {
      if (isOver || ending !== 'answered') return;
      ending = why;
      own.cancel(why === 'cancelled' ? (signal.reason ?? 'person') : 'timeout');
      resolve(failed(words, why === 'timeout'));
    };
    takeBack = ports.after(limitMs, () =>
      stop(treeMs < spec.timeoutMs ? 'out-of-time' : 'timeout', `${spec.name} did not answer within ${limitMs} ms`),
    );
    release = signal.onAbort(() => stop('cancelled', `${spec.name} was stopped`));
  });
  // A tool that throws at once throws like one that throws later.
  const asked = (async () => checked(await tool.invoke(args, { signal: own.signal, attempt, nodeId })))().catch(
    (error: unknown) => failed(`${spec.name} failed: ${error instanceof Error ? error.message : String(error)}`, true),
  );
  const answer = await Promise.race([asked, stopped]);
  isOver = true;
  takeBack();
  release();
  if (ending === 'answered') return { answer, ending };
  // What comes after the end is not read; what it started is still to be ended.
  void asked.then((late) => {
    if (late !== answer && late.lease !== null) ports.onLease(late.lease);
  });
  return { answer: { ...answer, failed: true, retryable: ending === 'timeout' }, ending };
}

/** Figures that a tool gives of itself: none is below what its text has, and none is a price that cannot be. */
function checked(answer: ToolAnswer): ToolAnswer {
  const { text, nanoDollars } = answer;
  const isPrice = nanoDollars !== null && Number.isSafeInteger(nanoDollars) && nanoDollars >= 0;
  return {
    ...answer,
    nanoDollars: isPrice ? nanoDollars + 0 : null,
    text: {
      ...text,
      head: text.head.toWellFormed(),
      tail: text.tail.toWellFormed(),
      bytes: Math.max(Number.isSafeInteger(text.bytes) ? text.bytes : 0, utf8Bytes(text.head)),
    },
  };
}

function failed(words: string, retryable: boolean): ToolAnswer {
  return { text: textOf(words), nanoDollars: null, failed: true, retryable, lease: null };
}

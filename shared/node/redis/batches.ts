/**
 * Operations that are asked for in one turn of the event loop go to Redis together, those of one tenant in one call of the script:
 * what a call costs by itself is paid once. In the order in which they were asked, a bounded number at a time, so that no call
 * keeps Redis from others for long.
 */
import type { Denial, Result } from '../../contract/denials.ts';
import { type Reply, listOf, textOf } from './codec.ts';
import type { TenantKeys } from './keys.ts';

export interface Operation {
  readonly tenant: TenantKeys;
  /** Keys that it reaches, as far as they are known beforehand, besides the tenant's own. */
  readonly keys: readonly string[];
  /** Its name, the time in ms, and what else the script expects of it. */
  readonly args: readonly string[];
  /** It may take long, so it shares its call with none. */
  readonly alone?: boolean;
}

/** Rejects where the operation broke a rule of the script, which is a bug. */
export type Run = (operation: Operation) => Promise<Result<readonly Reply[]>>;

export function inBatches({
  script,
  failed,
}: {
  readonly script: (keys: readonly string[], args: readonly string[]) => Promise<Result<readonly Reply[]>>;
  /** What it means that one operation of a call failed; throws where it is a bug. */
  readonly failed: (error: Error) => Denial;
}): Run {
  let collected = new Map<string, Batch>();

  async function send({ base, named, args, waiting }: Batch): Promise<void> {
    try {
      const answered = await script([...base, ...named], args);
      for (const [index, one] of waiting.entries()) settle(one, answered, index);
    } catch (error) {
      for (const one of waiting) one.reject(error);
    }
  }

  function settle(one: Waiting, answered: Result<readonly Reply[]>, index: number): void {
    if (!answered.ok) return one.resolve(answered);
    try {
      const answer = listOf(answered.value[index]);
      if (answer[0] !== 'failed') return one.resolve({ ok: true, value: answer });
      one.resolve({ ok: false, denial: failed(new Error(textOf(answer[1]))) });
    } catch (error) {
      one.reject(error);
    }
  }

  function sendAll(): void {
    const batches = collected;
    collected = new Map();
    for (const batch of batches.values()) void send(batch);
  }

  function flush(prefix: string): void {
    const batch = collected.get(prefix);
    collected.delete(prefix);
    if (batch !== undefined) void send(batch);
  }

  return ({ tenant, keys, args, alone = false }) =>
    new Promise((resolve, reject) => {
      const { prefix, base } = tenant;
      if (alone) flush(prefix);
      let batch = collected.get(prefix);
      if (batch === undefined) {
        if (collected.size === 0) setImmediate(sendAll);
        batch = { base, named: new Set(), args: [prefix], waiting: [] };
        collected.set(prefix, batch);
      }
      for (const key of keys) batch.named.add(key);
      batch.args.push(String(args.length), ...args);
      batch.waiting.push({ resolve, reject });
      if (alone || batch.waiting.length >= OPERATIONS_MAX || batch.args.length >= ARGUMENTS_MAX) flush(prefix);
    });
}

/** About a millisecond of Redis. */
const OPERATIONS_MAX = 32;
const ARGUMENTS_MAX = 1_500;

interface Waiting {
  readonly resolve: (answer: Result<readonly Reply[]>) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly base: readonly string[];
  readonly named: Set<string>;
  readonly args: string[];
  readonly waiting: Waiting[];
}

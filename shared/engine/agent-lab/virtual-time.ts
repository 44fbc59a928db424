/**
 * Time that passes only where somebody waits for it: a scripted run of 93 seconds takes as long as its work, or as long as a
 * person wants to watch. When all work waits, the clock goes to the next moment that anybody waits for.
 */
export interface VirtualTime {
  nowMs(): number;
  sleep(durationMs: number): Promise<void>;
  /** Calls back once unless taken back. */
  after(delayMs: number, then: () => void): () => void;
  /** Real work, such as a file or a person's answer: the clock stands until it is done. */
  hold<Value>(work: Promise<Value>): Promise<Value>;
  /** Runs `work` to its end, moving the clock. */
  run<Value>(work: Promise<Value>): Promise<Value>;
}

interface Waiting {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** idle: resolves when everything that can run has run. pause: lets real time pass for so much virtual time. */
export function createVirtualTime(ports: {
  idle(): Promise<void>;
  pause?(virtualMs: number): Promise<void>;
  /** Where the clock stands at first; default 0. */
  readonly startMs?: number;
}): VirtualTime {
  let nowMs = ports.startMs ?? 0;
  let order = 0;
  const waiting = new Set<Waiting>();
  let held = 0;
  let freed: (() => void) | null = null;

  function wait(delayMs: number, wake: () => void): () => void {
    order += 1;
    const entry: Waiting = { atMs: nowMs + Math.max(0, delayMs), order, wake };
    waiting.add(entry);
    return () => waiting.delete(entry);
  }

  return {
    nowMs: () => nowMs,
    sleep: (durationMs) => new Promise((resolve) => void wait(durationMs, resolve)),
    after: wait,
    hold(work) {
      held += 1;
      return work.finally(() => {
        held -= 1;
        if (held > 0) return;
        freed?.();
        freed = null;
      });
    },
    async run(work) {
      let isOver = false;
      const over = work.finally(() => {
        isOver = true;
      });
      // Whoever waits for `work` gets its rejection; this branch only looks when it ends.
      const ended = over.then(nothing, nothing);
      while (!isOver) {
        await ports.idle();
        if (isOver) break;
        if (held > 0) {
          const free = new Promise<void>((resolve) => (freed = resolve));
          await Promise.race([free, ended]);
          continue;
        }
        const next = [...waiting].sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];
        // Nobody waits for time: the work waits for something real.
        if (next === undefined) continue;
        // Nobody watches a run that has ended.
        if (next.atMs > nowMs) await Promise.race([ports.pause?.(next.atMs - nowMs), ended]);
        if (held > 0 || !waiting.has(next)) continue;
        nowMs = Math.max(nowMs, next.atMs);
        waiting.delete(next);
        next.wake();
      }
      return over;
    },
  };
}

const nothing = (): void => undefined;

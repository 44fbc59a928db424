/**
 * Time that passes only where somebody waits for it: a scripted run of 93 seconds takes as long as its work, or as long as a
 * person wants to watch. When all work waits, the clock goes to the next moment that anybody waits for.
 */
export interface VirtualTime {
  nowMs(): number;
  sleep(durationMs: number): Promise<void>;
  /** Calls back once unless taken back. */
  after(delayMs: number, then: () => void): () => void;
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
}): VirtualTime {
  let nowMs = 0;
  let order = 0;
  const waiting = new Set<Waiting>();

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
    async run(work) {
      let isOver = false;
      const over = work.finally(() => {
        isOver = true;
      });
      // Whoever waits for `work` gets its rejection; this branch only looks when it ends.
      over.catch(() => undefined);
      while (!isOver) {
        await ports.idle();
        if (isOver) break;
        const next = [...waiting].sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];
        // Nobody waits for time: the work waits for something real.
        if (next === undefined) continue;
        if (next.atMs > nowMs) await ports.pause?.(next.atMs - nowMs);
        if (!waiting.has(next)) continue;
        nowMs = Math.max(nowMs, next.atMs);
        waiting.delete(next);
        next.wake();
      }
      return over;
    },
  };
}

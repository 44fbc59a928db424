/** What was started and outlives its call. Everything is ended with its run, or the run says that it could not. */
import type { Lease } from '../../contract/agents.ts';
import type { Milliseconds } from '../../contract/units.ts';
import type { ToolAnswer } from './tool.ts';

export interface Leases {
  /** release null = nobody knows how to end it: it stays open. */
  keep(of: {
    readonly nodeId: string;
    readonly tool: string;
    readonly callId: string;
    readonly what: string;
    readonly release: NonNullable<ToolAnswer['lease']>['release'] | null;
  }): void;
  /** Ends all of them, each within a time limit; answers how many are still open. What comes later is ended at once. */
  releaseAll(): Promise<number>;
  all(): Lease[];
}

const RELEASE_MS = 30_000;
const WHAT_MAX = 500;

export function createLeases(ports: {
  now(): Milliseconds;
  after(delayMs: number, then: () => void): () => void;
  onLease(lease: Lease): void;
}): Leases {
  const entries = new Map<string, { lease: Lease; readonly release: (() => Promise<void>) | null }>();
  let isOver = false;

  async function end(id: string): Promise<void> {
    const entry = entries.get(id);
    if (entry === undefined || entry.lease.state !== 'open' || entry.release === null) return;
    const state = await within(ports.after, RELEASE_MS, entry.release);
    entry.lease = { ...entry.lease, state };
    ports.onLease(entry.lease);
  }

  return {
    keep({ nodeId, tool, callId, what, release }) {
      const first = `${callId}/lease`;
      const known = entries.get(first);
      // What nobody knew how to end is known now.
      const isFirst = known === undefined || (known.release === null && release !== null);
      const id = isFirst ? first : `${first}/${entries.size}`;
      const lease: Lease = {
        id,
        nodeId,
        tool,
        what: what.slice(0, WHAT_MAX).toWellFormed(),
        openedMs: ports.now(),
        state: 'open',
      };
      entries.set(id, { lease, release });
      ports.onLease(lease);
      if (isOver) void end(id);
    },
    async releaseAll() {
      isOver = true;
      for (const id of entries.keys()) await end(id);
      return [...entries.values()].filter(({ lease }) => lease.state !== 'released').length;
    },
    all: () => [...entries.values()].map(({ lease }) => lease),
  };
}

/** A release that throws, rejects or hangs has failed. */
function within(
  after: (delayMs: number, then: () => void) => () => void,
  limitMs: number,
  release: () => Promise<void>,
): Promise<'released' | 'failed'> {
  return new Promise((resolve) => {
    const takeBack = after(limitMs, () => resolve('failed'));
    const answer = (state: 'released' | 'failed'): void => {
      takeBack();
      resolve(state);
    };
    void (async () => release())().then(
      () => answer('released'),
      () => answer('failed'),
    );
  });
}

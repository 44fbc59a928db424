/** One side of a storm as it changes: what became of each call, and the tokens that are held and spent. */
import type { StormSide, stormCallStates } from '../../contract/ledger.ts';
import { must } from '../must.ts';

export type StormCallState = (typeof stormCallStates)[number];

export interface Side {
  admit(index: number): void;
  refuse(index: number, code: string, retryAfterSeconds: number | null): void;
  /** It left. Says nothing of calls that have ended. */
  send(index: number): void;
  end(index: number, state: 'done' | 'failed'): void;
  hold(tokens: number): void;
  /** Gives a hold back and posts what was charged instead. */
  settle(heldTokens: number, chargedTokens: number): void;
  view(): StormSide;
}

export function createSide(callCount: number): Side {
  const calls = Array.from({ length: callCount }, (): StormCallState => 'waiting');
  const refusals = new Map<string, { count: number; retryAfterSeconds: number | null }>();
  let admitted = 0;
  let spentTokens = 0;
  let heldTokens = 0;
  let heldTokensMax = 0;
  const change = (index: number, state: StormCallState): void => {
    must(index >= 0 && index < callCount, 'a storm knows its calls');
    calls[index] = state;
  };
  return {
    admit(index) {
      must(calls[index] === 'waiting', 'a call is admitted once');
      admitted += 1;
    },
    refuse(index, code, retryAfterSeconds) {
      const before = refusals.get(code);
      // How long the first was told to wait: the others were told so much or less.
      refusals.set(code, { retryAfterSeconds, ...before, count: (before?.count ?? 0) + 1 });
      change(index, 'refused');
    },
    send(index) {
      if (calls[index] === 'waiting') change(index, 'running');
    },
    end: change,
    hold(tokens) {
      heldTokens += tokens;
      heldTokensMax = Math.max(heldTokensMax, heldTokens);
    },
    settle(held, charged) {
      must(held <= heldTokens, 'nothing is given back that was not held');
      heldTokens -= held;
      spentTokens += charged;
    },
    view() {
      const [most] = [...refusals].sort(([, a], [, b]) => b.count - a.count);
      return {
        admitted,
        refused: calls.filter((state) => state === 'refused').length,
        spentTokens,
        heldTokens,
        heldTokensMax,
        calls: [...calls],
        refusedCode: most?.[0] ?? null,
        retryAfterSeconds: most?.[1].retryAfterSeconds ?? null,
      };
    },
  };
}

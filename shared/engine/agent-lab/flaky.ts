/** Upstreams that fail: one that works after a while, and one that never does. Every attempt at them is paid, also inside a tool. */
import { seedFor } from '../context-lab/random.ts';
import { type Tool, type ToolAnswer, TOOL_DEFAULTS } from '../gateway/tool.ts';
import { type Sleep, done, failed, takes, textOfField } from './lab-tool.ts';

/** Of one attempt at an upstream, in nano-dollars: what was paid tells how many there were. */
export const ATTEMPT_PRICE = 1_000_000;
export const ATTEMPTS_MAX = 3;
const ATTEMPT_MS = 300;
/** Failures before a path works: at least one, and fewer than the attempts of one call. */
const FAILURES_MAX = 2;
const PATHS_MAX = 1_000;

/** clientAttempts: what the tool's own client tries before it gives up; 1 = it leaves retries to the gateway. */
export function flakyTools(
  seed: number,
  sleep: Sleep,
  { clientAttempts = 1 }: { readonly clientAttempts?: number } = {},
): Tool[] {
  const tries = new Map<string, number>();

  function attempt(path: string): ToolAnswer {
    if (path.startsWith('missing')) return failed('404: there is no such page.');
    const before = tries.get(path) ?? 0;
    if (tries.size < PATHS_MAX) tries.set(path, before + 1);
    if (before < failuresOf(seed, path)) return failed('503: busy, try again.', { retryable: true });
    return done(`${path}: all is well.`);
  }

  const tool = (name: string, description: string, upstream: string, once: (path: string) => ToolAnswer): Tool => ({
    spec: {
      ...TOOL_DEFAULTS,
      name,
      description,
      ...takes({ path: 'text' }),
      nanoDollarsWorst: ATTEMPT_PRICE * clientAttempts,
      latencyMsUsual: ATTEMPT_MS,
      outputBytesUsual: 60,
      attemptsMax: ATTEMPTS_MAX,
      upstream,
    },
    async invoke(args, { signal }) {
      for (let tried = 1; ; tried += 1) {
        await sleep(ATTEMPT_MS);
        const answer = once(textOfField(args, 'path'));
        if (!answer.retryable || tried >= clientAttempts || signal.aborted) {
          return { ...answer, nanoDollars: tried * ATTEMPT_PRICE };
        }
      }
    },
  });
  return [
    tool('fetch_flaky', 'Fetches a page from a server that is busy at times.', 'flaky.example', attempt),
    tool('fetch_down', 'Fetches a page from a server that is down.', 'down.example', () =>
      failed('503: the server is down.', { retryable: true }),
    ),
  ];
}

export function failuresOf(seed: number, path: string): number {
  return 1 + (seedFor(seed, path) % FAILURES_MAX);
}

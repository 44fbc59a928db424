/**
 * One way to Redis, a server or a cluster: commands of one turn go in one packet, nothing waits without a bound, a lost
 * connection comes back by itself. The time is Redis's, so that all who share a budget agree on the period.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import { type Run, inBatches } from './batches.ts';
import type { Reply } from './codec.ts';
import { ledgerScript, ledgerScriptSha } from './script.ts';
import type { RedisPlace } from './url.ts';

export interface RedisState {
  readonly state: 'ready' | 'lost';
  readonly problem: string | null;
  readonly next: string | null;
}

export interface Connection {
  nowMs(): number;
  /** An operation of the script. */
  readonly run: Run;
  /** A plain command; its first argument is a key. */
  command(name: string, key: string, ...args: readonly string[]): Promise<Result<Reply>>;
  state(): RedisState;
  onState(listener: (state: RedisState) => void): () => void;
  close(): Promise<void>;
}

/** Waits for the connection, `timeoutMs` at most: where there is none yet, the state says lost and it goes on trying. */
export async function connect(
  place: RedisPlace,
  { timeoutMs, localNowMs }: { readonly timeoutMs: number; readonly localNowMs: () => number },
): Promise<Connection> {
  const client = clientOf(place, timeoutMs);
  const listeners = new Set<(state: RedisState) => void>();
  let state: RedisState = lostState(place, 'does not answer');
  let offsetMs = 0;
  let closed = false;
  let lastProblem: string | null = null;

  function become(next: RedisState): void {
    if (next.state === state.state && next.problem === state.problem) return;
    state = next;
    for (const listener of [...listeners]) listener(state);
  }

  /** Denials are told by the state as well; a reply of the script that is no refusal of Redis is thrown. */
  function failed(error: unknown): Denial {
    const denial = denialOf(error, place, lastProblem);
    if (denial === null) throw error;
    if (denial.code === 'ledger-unavailable') {
      become({ state: 'lost', problem: denial.message, next: denial.next ?? null });
      probeSoon(PROBE_LOST_MS);
    }
    return denial;
  }

  const waiting = new Set<{ readonly sinceMs: number; readonly giveUp: () => void }>();
  /** One timer for all commands: a timer each costs more than the command. */
  const watch = setInterval(
    () => {
      const beforeMs = performance.now() - timeoutMs;
      for (const one of waiting) {
        if (one.sinceMs > beforeMs) break;
        one.giveUp();
      }
    },
    Math.max(20, Math.floor(timeoutMs / 8)),
  );
  watch.unref();

  function bounded<Value>(promise: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const one = { sinceMs: performance.now(), giveUp: () => finish(() => reject(new Error(NO_ANSWER))) };
      const finish = (how: () => void): void => {
        waiting.delete(one);
        how();
      };
      waiting.add(one);
      promise.then(
        (value) => finish(() => resolve(value)),
        (error: unknown) => finish(() => reject(error)),
      );
    });
  }

  let loading: Promise<unknown> | null = null;
  function load(): Promise<unknown> {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    loading ??= Promise.all(nodes.map((node) => node.script('LOAD', ledgerScript))).finally(() => {
      loading = null;
    });
    return loading;
  }

  const evalsha = (keys: readonly string[], args: readonly string[]): Promise<unknown> =>
    client.evalsha(ledgerScriptSha, keys.length, ...keys, ...args);

  /** The scripts were flushed, or this node is new: nothing was done, so it can be asked again. */
  async function runAgain(keys: readonly string[], args: readonly string[]): Promise<unknown> {
    await load();
    try {
      return await evalsha(keys, args);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return client.eval(ledgerScript, keys.length, ...keys, ...args);
    }
  }

  async function script(keys: readonly string[], args: readonly string[]): Promise<Result<readonly Reply[]>> {
    try {
      const reply = await bounded(evalsha(keys, args)).catch((error: unknown) =>
        isMissing(error) ? bounded(runAgain(keys, args)) : Promise.reject(error as Error),
      );
      return ok(reply as readonly Reply[]);
    } catch (error) {
      return { ok: false, denial: failed(error) };
    }
  }

  async function sample(): Promise<void> {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    if (nodes.length === 0) throw new Error(NOT_CONNECTED);
    if (client instanceof Cluster) {
      const info = String(await bounded(client.cluster('INFO')));
      if (!info.includes('cluster_state:ok')) throw new Error('CLUSTERDOWN');
    }
    const beganMs = localNowMs();
    const times = await bounded(Promise.all(nodes.map((node) => node.time())));
    const endedMs = localNowMs();
    // Nodes of a cluster keep each their own clock; where the tenant's differs, its script answers with its time.
    const [seconds = 0, microseconds = 0] = (times[0] ?? []).map(Number);
    offsetMs = Math.round(seconds * 1_000 + microseconds / 1_000 - (beganMs + endedMs) / 2);
  }

  let probe: NodeJS.Timeout | null = null;
  let probing: Promise<void> | null = null;
  function probeSoon(afterMs: number): void {
    if (closed) return;
    if (probe !== null) clearTimeout(probe);
    probe = setTimeout(() => void probeNow(), afterMs);
    probe.unref();
  }
  function probeNow(): Promise<void> {
    probing ??= sample()
      .then(
        () => {
          lastProblem = null;
          become({ state: 'ready', problem: null, next: null });
          probeSoon(PROBE_READY_MS);
        },
        (error: unknown) => void failed(error),
      )
      .finally(() => {
        probing = null;
      });
    return probing;
  }

  client.on('ready', () => void probeNow());
  client.on('error', (error: Error) => {
    lastProblem = wordOf(error) ?? lastProblem;
    if (!closed) failed(new Error(NOT_CONNECTED));
  });
  client.on('close', () => {
    if (!closed) failed(new Error(NOT_CONNECTED));
  });

  await Promise.race([
    new Promise<void>((resolve) => {
      listeners.add(function first(next) {
        if (next.state !== 'ready') return;
        listeners.delete(first);
        resolve();
      });
    }),
    new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref()),
  ]);

  return {
    nowMs: () => localNowMs() + offsetMs,
    run: inBatches({ script, failed }),
    async command(name, key, ...args) {
      try {
        return ok((await bounded(client.call(name, key, ...args))) as Reply);
      } catch (error) {
        return { ok: false, denial: failed(error) };
      }
    },
    state: () => state,
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      closed = true;
      clearInterval(watch);
      if (probe !== null) clearTimeout(probe);
      for (const one of [...waiting]) one.giveUp();
      listeners.clear();
      client.disconnect();
      await Promise.resolve();
    },
  };
}

const PROBE_READY_MS = 30_000;
const PROBE_LOST_MS = 250;
const RECONNECT_MS_MAX = 2_000;
const NO_ANSWER = 'no answer in time';
const NOT_CONNECTED = 'not connected';

function clientOf(place: RedisPlace, timeoutMs: number): Redis | Cluster {
  const backoff = (times: number): number => Math.min(50 * 2 ** Math.min(times - 1, 10), RECONNECT_MS_MAX);
  const shared = {
    // Answers are the same in both protocols; the older one is known to every server and proxy.
    protocol: 2 as const,
    connectTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableAutoPipelining: true,
    // Calls of the script are collected here already.
    autoPipeliningIgnoredCommands: ['evalsha'],
    ...(place.username === null ? {} : { username: place.username }),
    ...(place.password === null ? {} : { password: place.password }),
    ...(place.tls ? { tls: {} } : {}),
  } satisfies RedisOptions;
  if (place.kind === 'cluster') {
    return new Cluster([...place.nodes], {
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      autoPipeliningIgnoredCommands: ['evalsha'],
      // What was sent is never sent again by the client: the caller decides, and its key makes that safe.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshTimeout: timeoutMs,
      clusterRetryStrategy: backoff,
      redisOptions: shared,
    });
  }
  return new Redis({
    ...shared,
    ...(place.socketPath === null
      ? { host: place.nodes[0]?.host ?? '', port: place.nodes[0]?.port ?? 0 }
      : { path: place.socketPath }),
    db: place.database,
    enableOfflineQueue: false,
    retryStrategy: backoff,
  });
}

function lostState(place: RedisPlace, what: string): RedisState {
  return { state: 'lost', problem: `Redis at ${place.name} ${what}.`, next: START_IT };
}

const START_IT = 'Start it, or correct redisUrl; the connection comes back by itself.';

/** null = not Redis's doing: a broken rule of the script. */
function denialOf(error: unknown, place: RedisPlace, lastProblem: string | null): Denial | null {
  const text = error instanceof Error ? error.message : String(error);
  const gone = (what: string, next = START_IT): Denial =>
    denied('ledger-unavailable', `Redis at ${place.name} ${what}.`, { next }).denial;
  const word = wordOf(error);
  if (word !== null) return gone(word, NEXT_STEPS[word] ?? START_IT);
  if (/^OOM /.test(text)) {
    return denied('storage-full', `Redis at ${place.name} has no memory left.`, {
      next: 'Give it more memory, and the policy noeviction.',
    }).denial;
  }
  if (/Broken rule|user_script|Error running script|ERR |WRONGTYPE|must be/.test(text)) return null;
  if (lastProblem !== null) return gone(lastProblem, NEXT_STEPS[lastProblem] ?? START_IT);
  return gone(text === NO_ANSWER ? 'did not answer in time' : 'is not connected');
}

/** What Redis itself says about why it cannot be used; never its own words, which may hold what was sent. */
function wordOf(error: unknown): string | null {
  const { message, lastNodeError } = error as { message?: unknown; lastNodeError?: { message?: unknown } };
  // A cluster that cannot be reached at all tells what its last node said.
  const text = `${String(message)}\n${String(lastNodeError?.message ?? '')}`;
  const found = REASONS.find(([pattern]) => pattern.test(text));
  return found === undefined ? null : found[1];
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/WRONGPASS|NOAUTH|invalid password|AUTH .* called without/i, 'wants another user or password'],
  [/^NOPERM/m, 'does not let this user run the ledger'],
  [/^LOADING/m, 'is still loading its data'],
  [/^READONLY|^MASTERDOWN/m, 'is a replica that takes no writes'],
  [/CLUSTERDOWN/, 'is a cluster with nodes missing'],
  [/cluster support disabled/i, 'is no cluster'],
  [/^MOVED|^CROSSSLOT/m, 'is a cluster'],
  [/^BUSY /m, 'is busy with a long script'],
  [/^MISCONF/m, 'cannot write its data to disk'],
  [/^NOREPLICAS/m, 'has too few replicas'],
];

const NEXT_STEPS: Readonly<Record<string, string>> = {
  'wants another user or password': 'Correct the user and password in redisUrl.',
  'does not let this user run the ledger': 'Let the user run scripts and all commands on spillway:* keys.',
  'is a cluster': 'Use redis-cluster:// in redisUrl.',
  'is no cluster': 'Use redis:// in redisUrl.',
  'is a replica that takes no writes': 'Name the primary server in redisUrl.',
  'cannot write its data to disk': 'Make room on its disk.',
};

const isMissing = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

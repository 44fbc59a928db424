/**
 * One console of several that share a budget: fires its users' calls at once, half of them when it is told to go and half at the
 * second word. Answers one line of JSON: how each was decided.
 */
import { createInterface } from 'node:readline';
import { Cluster, Redis } from 'ioredis';
import { openRedisStore } from '../../../shared/node/redis/store.ts';
import { goldenLines, reserveOf } from '../ledger/asks.ts';

const [url = '', how = 'reserve-first', first = '0', count = '10'] = process.argv.slice(2);
const users = Array.from({ length: Number(count) }, (_, index) => `user-${Number(first) + index}`);
const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

if (how === 'reserve-first') await reserveFirst();
else await checkAfter();

async function reserveFirst(): Promise<void> {
  const opened = await openRedisStore({ url });
  if (!opened.ok) throw new Error(opened.denial.message);
  const store = opened.value;
  const outcomes: string[] = [];
  const reserve = async (user: string): Promise<void> => {
    for (;;) {
      const atMs = store.nowMs();
      const answer = await store.reserve(
        reserveOf(goldenLines(user), { id: `id-${user}`, key: user, book: 'real', atMs, clockMoved: false }),
      );
      if (answer.ok && answer.value.outcome === 'clock-moved') continue;
      outcomes.push(answer.ok ? answer.value.outcome : answer.denial.code);
      return;
    }
  };
  say('ready');
  await words.next();
  await Promise.all(users.slice(0, users.length / 2).map(reserve));
  say('half');
  await words.next();
  await Promise.all(users.slice(users.length / 2).map(reserve));
  say(JSON.stringify(outcomes));
  await store.close();
}

/** What many do: look at what was spent, call, add what the call used. */
async function checkAfter(): Promise<void> {
  const client = url.startsWith('redis-cluster://')
    ? new Cluster(
        url
          .slice('redis-cluster://'.length)
          .split(',')
          .map((node) => ({ host: '127.0.0.1', port: Number(node.split(':')[1]) })),
      )
    : new Redis(url.replace('unix://', ''));
  await client.ping();
  say('ready');
  await words.next();
  const spent = await Promise.all(users.map(async () => Number((await client.get('naive')) ?? 0)));
  const admitted = spent.filter((tokens) => tokens + 2_434 <= 9_000);
  say('half');
  await words.next();
  await Promise.all(admitted.map(() => client.incrby('naive', 1_969)));
  say(JSON.stringify(admitted.map(() => 'reserved')));
  client.disconnect();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

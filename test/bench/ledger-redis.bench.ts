/**
 * Pairs (reserve and settle, on a user's day and a tenant's month) a second over Redis, pipelined, beside raw EVALSHA in the same run:
 * a script of the same keys, arguments and answers that keeps the same things after one comparison, without any law.
 */
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { tenantKeys } from '../../shared/node/redis/keys.ts';
import { openRedisStore } from '../../shared/node/redis/store.ts';
import { settleOf } from '../node/ledger/asks.ts';
import { value } from '../node/storage/records.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';
import { benchAsk, pairsPerSecond } from './ledger.bench.ts';

const LANES = 500;
const ROUNDS = 5;
const PAIRS = 10_000;

export async function benchRedisLedger(): Promise<Figure[]> {
  const server = await startRedis();
  try {
    const raw: number[] = [];
    const ledger: number[] = [];
    const alone: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await server.client.flushall();
      raw.push(await rawPairsPerSecond(server, PAIRS));
      await server.client.flushall();
      ledger.push(await ledgerPairsPerSecond(server, PAIRS, LANES));
      await server.client.flushall();
      alone.push(await ledgerPairsPerSecond(server, PAIRS / 10, 1));
    }
    const rawMedian = median(raw);
    const beside = `raw EVALSHA, ${LANES} at once: ${Math.round(rawMedian)} pairs/s`;
    return [
      {
        name: `Ledger in Redis, ${LANES} at once`,
        value: median(ledger),
        unit: 'pairs/s',
        limit: null,
        beside,
      },
      {
        name: `Ledger in Redis, ${LANES} at once, against raw`,
        value: rawMedian / median(ledger),
        unit: 'x the time',
        limit: 1 / 0.8,
        beside: `${(median(ledger) / rawMedian).toFixed(2)} x the pairs of raw`,
      },
      { name: 'Ledger in Redis, one at a time', value: median(alone), unit: 'pairs/s', limit: null, beside },
    ];
  } finally {
    await server.close();
  }
}

async function ledgerPairsPerSecond(server: RedisServer, pairs: number, lanes: number): Promise<number> {
  const store = value(await openRedisStore({ url: server.url, timeoutMs: 10_000 }));
  try {
    await pairsPerSecond(store, lanes, lanes);
    return await pairsPerSecond(store, pairs, lanes);
  } finally {
    await store.close();
  }
}

const rawScript = `
local reserve = ARGV[1] == 'reserve'
local time = redis.call('TIME')
local answer = {}
if reserve then
  for index = 9, #KEYS do
    local found = redis.call('HMGET', KEYS[index], 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z')
    if (tonumber(found[1]) or 0) + (tonumber(found[2]) or 0) + tonumber(ARGV[10]) > tonumber(ARGV[11]) then return 0 end
    answer[#answer + 1] = found
  end
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', 100000, '*', 'o', 'reserve', 'a', ARGV[3], 'b', ARGV[7], 'h', '', 'c', '', 'q', time[1])
  for index = 9, #KEYS do
    redis.call('HINCRBY', KEYS[index], 'h', ARGV[10])
    redis.call('HSET', KEYS[index], 's', '0', 'l', ARGV[11], 'm', ARGV[11], 't', time[1], 'p', ARGV[15], 'e', ARGV[14], 'z', 'UTC')
  end
  redis.call('ZADD', KEYS[5], time[1], KEYS[9], time[1], KEYS[10])
  redis.call('SET', KEYS[8], ARGV[6], 'PX', 3000000000)
  redis.call('HSET', KEYS[7], 'b', ARGV[7], 'a', ARGV[3], 'x', ARGV[5], 's', '', 'q', time[1], 'l', ARGV[8], 'k', '3000000000')
  redis.call('PEXPIRE', KEYS[7], 3000000000)
  redis.call('ZADD', KEYS[3], ARGV[5], ARGV[6] .. ARGV[8])
  redis.call('PEXPIRE', KEYS[3], 3000000000)
else
  local found = redis.call('HMGET', KEYS[7], 'b', 'a', 's', 'q', 'l', 'k')
  answer[1] = found
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', 100000, '*', 'o', 'settle', 'a', ARGV[3], 'b', found[1], 'h', ARGV[6], 'c', ARGV[7], 'q', time[1])
  for index = 8, #KEYS do
    redis.call('HINCRBY', KEYS[index], 'h', -2434)
    redis.call('HINCRBY', KEYS[index], 's', ARGV[7])
    redis.call('HSET', KEYS[index], 't', time[1])
    answer[#answer + 1] = redis.call('HMGET', KEYS[index], 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z')
  end
  redis.call('ZADD', KEYS[5], time[1], KEYS[8], time[1], KEYS[9])
  redis.call('HSET', KEYS[7], 's', 'settle', 'c', ARGV[3], 'h', ARGV[6], 'v', '0', 'z', time[1])
  redis.call('PEXPIRE', KEYS[7], 3000000000)
  redis.call('ZREM', KEYS[3], ARGV[4] .. ARGV[8])
  redis.call('LPUSH', KEYS[4], ARGV[4])
  redis.call('LTRIM', KEYS[4], 0, 999)
end
redis.call('HSET', KEYS[1], 'seq', time[1], 'count', time[2], 'day', '1')
return { 'reserved', time[1], ARGV[3], answer, {} }
`;

/** Keys and arguments as long as those of the store, made before the clock runs. */
async function rawPairsPerSecond(server: RedisServer, pairs: number): Promise<number> {
  const client = new Redis({ path: server.url.replace('unix://', ''), protocol: 2, enableAutoPipelining: true });
  const sha = createHash('sha1').update(rawScript).digest('hex');
  await client.script('LOAD', rawScript);
  const { prefix, base } = tenantKeys('simulated', 'acme');
  const calls = Array.from({ length: pairs }, (_, index) => {
    const ask = benchAsk(index);
    const rests = ask.lines.map((line) => line.key.split(':').slice(2).join(':'));
    const accounts = rests.map((rest) => `${prefix}a:${rest}`);
    const { user, tenant, plan, model, inputTokens, outputTokens } = ask.detail;
    const detail = [user, tenant, plan, model, null, inputTokens, outputTokens, null, 0];
    const lines = ask.lines.map((line, at) => [rests[at], line.amount, line.endsAtMs]);
    const blob = JSON.stringify([ask.id, ask.key, ask.owner, ask.expiresAtMs, detail, lines]);
    const perLine = ask.lines.flatMap((line, at) => [
      rests[at] ?? '',
      line.account.unit,
      String(line.amount),
      String(line.limit),
      '0',
      String(line.startsAtMs),
      String(line.endsAtMs),
      '80',
      'UTC',
    ]);
    const hold = `${prefix}r:${ask.id}`;
    const { inputTokens: input, outputTokens: output, source, reason } = settleOf(ask, 1_969);
    const how = JSON.stringify([input, output, source, reason, 0]);
    const at = String(ask.atMs);
    return {
      reserve: [
        ...[...base, hold, `${prefix}k:${ask.key}`, ...accounts],
        ...['reserve', prefix, at, '1', String(ask.expiresAtMs), ask.id, blob, ...perLine],
      ],
      resolve: [
        ...[...base, hold, ...accounts],
        ...['resolve', prefix, at, ask.id, 'settle', how, '1969', perLine[0] ?? '', '0'],
      ],
      reserveKeys: 8 + accounts.length,
      resolveKeys: 7 + accounts.length,
    };
  });
  const beganMs = performance.now();
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let index = lane; index < pairs; index += LANES) {
        const call = calls[index];
        if (call === undefined) return;
        if ((await client.evalsha(sha, call.reserveKeys, ...call.reserve)) === 0) throw new Error('it did not fit');
        await client.evalsha(sha, call.resolveKeys, ...call.resolve);
      }
    }),
  );
  const rate = (pairs / (performance.now() - beganMs)) * 1_000;
  client.disconnect();
  return rate;
}

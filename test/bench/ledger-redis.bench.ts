/**
 * Pairs (reserve and settle, on a user's day and a tenant's month) a second over Redis, pipelined, beside raw EVALSHA in the same run:
 * a script of the same keys that reads and keeps the same things after one comparison, without any law. Raw is no straw man: it has
 * its arguments ready, parses none and reads none of the answers. One thing it does not do: it calls its script for each operation,
 * while the store calls it once for the operations of a turn; so both are told one at a time as well, where that saves nothing.
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
/** Short rounds by turns, so that whatever else the machine does hits all of them alike. */
const ROUNDS = 9;
const PAIRS = 5_000;

export async function benchRedisLedger(): Promise<Figure[]> {
  const server = await startRedis();
  try {
    const raw: number[] = [];
    const ledger: number[] = [];
    const rawAlone: number[] = [];
    const alone: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await server.client.flushall();
      raw.push(await rawPairsPerSecond(server, PAIRS, LANES));
      await server.client.flushall();
      ledger.push(await ledgerPairsPerSecond(server, PAIRS, LANES));
      await server.client.flushall();
      rawAlone.push(await rawPairsPerSecond(server, PAIRS / 10, 1));
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
      {
        name: 'Ledger in Redis, one at a time',
        value: median(alone),
        unit: 'pairs/s',
        limit: null,
        beside: `raw EVALSHA, one at a time: ${Math.round(median(rawAlone))} pairs/s`,
      },
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

/**
 * The commands of the store's script and answers as long, one operation a call. KEYS as the store names them.
 * reserve: 2 time, 3 expiry, 4 id, 5 reservation, 6 lines of the hold, 7 its name among the open ones, 8 amount, 9 limit, 10 end.
 * resolve: 2 time, 3 id, 4 how, 5 charges, 6 charge, 7 what was held.
 */
const rawScript = `
local call, format = redis.call, string.format
local micros = call('TIME')
local time = micros[1] .. micros[2]
local answer = {}
if ARGV[1] == 'reserve' then
  local held, fields = {}, { 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z' }
  for index = 9, #KEYS do
    local found = call('HMGET', KEYS[index], unpack(fields))
    local h = (tonumber(found[2]) or 0) + tonumber(ARGV[8])
    if (tonumber(found[1]) or 0) + h > tonumber(ARGV[9]) then return 0 end
    held[index], answer[index - 8] = format('%d', h), found[1] and table.concat(found, ' ') or ''
  end
  call('XADD', KEYS[2], 'MAXLEN', '~', '100000', '*', 'o', 'reserve', 'a', ARGV[2], 'b', ARGV[5], 'h', '', 'c', '', 'q', time)
  for index = 9, #KEYS do
    if answer[index - 8] ~= '' then call('HSET', KEYS[index], 'h', held[index])
    else
      call('HSET', KEYS[index], 'h', held[index], 'l', ARGV[9], 'm', ARGV[9], 'p', '80', 'e', ARGV[10], 'z', 'UTC', 's', '0', 'o', '0', 'g', '0', 'r', '', 'f', time)
    end
  end
  call('ZADD', KEYS[5], time, KEYS[9], time, KEYS[10])
  call('SET', KEYS[8], ARGV[4], 'PX', '3000000000')
  call('HSET', KEYS[7], 'b', ARGV[5], 'a', ARGV[2], 'q', time, 'l', ARGV[6], 'n', ARGV[7], 'k', '3000000000')
  call('PEXPIRE', KEYS[7], '60000000000')
  call('ZADD', KEYS[3], ARGV[3], ARGV[7])
  call('PEXPIRE', KEYS[3], '60000000000')
else
  local hold = call('HMGET', KEYS[7], 'b', 'a', 'q', 'l', 'n', 'k', 'z')
  call('XADD', KEYS[2], 'MAXLEN', '~', '100000', '*', 'o', 'settle', 'a', ARGV[2], 'b', hold[1], 'h', ARGV[4], 'c', ARGV[5], 'q', hold[3])
  for index = 8, #KEYS do
    local found = call('HMGET', KEYS[index], 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z')
    found[1], found[2] = format('%d', found[1] + ARGV[6]), format('%d', found[2] - ARGV[7])
    call('HSET', KEYS[index], 's', found[1], 'h', found[2])
    answer[index - 7] = table.concat(found, ' ')
  end
  call('ZADD', KEYS[5], time, KEYS[8], time, KEYS[9])
  local ended = 'settle ' .. ARGV[2] .. ' 0 ' .. time .. ' ' .. ARGV[4]
  call('HSET', KEYS[7], 'z', ended)
  call('PEXPIRE', KEYS[7], hold[6])
  call('ZREM', KEYS[3], hold[5])
  if call('LPUSH', KEYS[4], ARGV[3]) >= 1100 then call('LTRIM', KEYS[4], '0', '999') end
  answer = { 0, hold[1], hold[2], ended, answer }
end
call('HMGET', KEYS[1], 'seq', 'count', 'day')
call('HSET', KEYS[1], 'seq', time, 'count', micros[2])
return { 'done', '', ARGV[2], answer, {} }
`;

/** Keys and arguments about as long as those of the store, made before the clock runs. */
async function rawPairsPerSecond(server: RedisServer, pairs: number, lanes: number): Promise<number> {
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
    const [first] = ask.lines;
    const held = ask.lines.map((line, at) => `${rests[at]} ${line.account.unit} ${line.amount} 0\n`).join('');
    const member = `${ask.id}\n${rests.join('\n')}\n`;
    const amounts = [String(first?.amount), String(first?.limit), String(first?.endsAtMs)];
    const hold = `${prefix}r:${ask.id}`;
    const { inputTokens: input, outputTokens: output, source, reason } = settleOf(ask, 1_969);
    const how = JSON.stringify([input, output, source, reason, 0]);
    const at = String(ask.atMs);
    return {
      reserve: [
        ...[...base, hold, `${prefix}k:${ask.key}`, ...accounts],
        ...['reserve', at, String(ask.expiresAtMs), ask.id, blob, held, member, ...amounts],
      ],
      resolve: [
        ...[...base, hold, ...accounts],
        ...['resolve', at, ask.id, how, '1969 0 1969 0', '1969', String(first?.amount)],
      ],
      reserveKeys: 8 + accounts.length,
      resolveKeys: 7 + accounts.length,
    };
  });
  const beganMs = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let index = lane; index < pairs; index += lanes) {
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

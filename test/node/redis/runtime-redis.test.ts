/** A console on a shared ledger: its state is told, calls are refused while it is away, and the address is checked where it is typed. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RequestName, RequestParams } from '../../../shared/contract/requests.ts';
import { createRuntime } from '../../../shared/node/runtime.ts';
import { startRedis } from '../../support/redis.ts';

async function consoleOn(redisUrl: string) {
  const home = mkdtempSync(join(tmpdir(), 'spillway-redis-'));
  const runtime = await createRuntime({
    host: 'test',
    home,
    simulate: true,
    simulatorTimeScale: 0,
    environment: { SPILLWAY_REDIS_URL: redisUrl },
  });
  if (!runtime.ok) return runtime;
  await runtime.value.ready;
  const ask = async <Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<unknown> =>
    runtime.value.handle(name, params as never, { signal: new AbortController().signal } as never);
  return { ok: true as const, value: { ask, stop: () => runtime.value.stop() } };
}

async function opened(redisUrl: string) {
  const started = await consoleOn(redisUrl);
  if (!started.ok) throw new Error(started.denial.message);
  return started.value;
}

test('a console uses the Redis of its environment and says so; its audit is sound', async () => {
  const redis = await startRedis();
  const { ask, stop } = await opened(redis.url);
  expect(await ask('ledger.get', {})).toMatchObject({ ok: true, value: { state: { store: 'redis', state: 'ready' } } });
  expect(await ask('ledger.audit', {})).toMatchObject({ ok: true, value: { sound: true } });
  await stop();
  await redis.close();
});

test('an address that is none ends the start with its field; typed in the settings it is refused and nothing is saved', async () => {
  expect(await consoleOn('http://nowhere')).toMatchObject({
    ok: false,
    denial: { code: 'bad-input', field: 'redisUrl' },
  });
  const redis = await startRedis();
  const { ask, stop } = await opened(redis.url);
  expect(await ask('settings.set', { redisUrl: 'ftp://x' })).toMatchObject({
    ok: false,
    denial: { field: 'redisUrl' },
  });
  expect(await ask('settings.set', { redisUrl: '' })).toMatchObject({ ok: true, value: { redisUrl: '' } });
  await stop();
  await redis.close();
});

test('a Redis that is gone refuses with a code of its own, or leaves a share, as it was set', async () => {
  const redis = await startRedis();
  const { ask, stop } = await opened(redis.url);
  await redis.close();
  await expect
    .poll(async () => ((await ask('ledger.get', {})) as { denial?: { code: string } }).denial?.code ?? 'ok')
    .toBe('ledger-unavailable');
  await ask('settings.set', { redisLoss: 'local-share' });
  expect(await ask('ledger.get', {})).toMatchObject({ ok: true, value: { state: { state: 'local-share' } } });
  await stop();
});

/** kill -9 in the middle of a call that has a hold: what the next start makes of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Balance, Reservation } from '../../shared/contract/ledger.ts';
import type { RequestParams } from '../../shared/contract/requests.ts';
import { type WebConsole, startConsole } from './web-console.ts';

const payer = { tenant: 'acme', user: 'ada' };
/** Thinks without end, at the pace of a small model: it is under way for minutes. */
const slow: RequestParams<'call.start'> = {
  model: 'sim-overthink',
  route: 'chat',
  messages: [{ role: 'user', content: 'Is 1000003 a prime number?' }],
  numCtx: 4_096,
  numPredict: 2_000,
  think: true,
  temperature: 0,
  seed: 7,
  policy: 'warn',
  payer,
};

async function until<Value>(look: () => Promise<Value | null | undefined>): Promise<Value> {
  for (let turn = 0; turn < 3_000; turn += 1) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it did not happen');
}

const holdOf = async (web: WebConsole, callId: string): Promise<Reservation | undefined> =>
  (await web.ask('ledger.get', {})).reservations.find(({ detail }) => detail.callId === callId);
const balanceOf = async (web: WebConsole, scope: string): Promise<Balance | undefined> =>
  (await web.ask('ledger.get', {})).balances.find(
    ({ account }) => account.scope === scope && account.tenant === 'acme',
  );

test('the hold is forfeited by rule, told at the next start, listed, and charged once', async () => {
  const home = mkdtempSync(join(tmpdir(), 'spillway-killed-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const first = await startConsole(home);
  await until(async () => ((await first.ask('snapshot.get', {})).server.state === 'up' ? true : null));
  const { directory, revision } = await first.ask('directory.get', {});
  const budgets = (['user', 'tenant'] as const).map((scope) => ({
    scope,
    window: scope === 'user' ? ('day' as const) : ('month' as const),
    unit: 'tokens' as const,
    limit: 5_000,
  }));
  const plans = directory.plans.map((plan) => (plan.name === 'assistant' ? { name: 'assistant', budgets } : plan));
  await first.ask('directory.set', { directory: { ...directory, plans }, revision });
  const { callId } = await first.ask('call.start', slow);
  await until(async () => {
    const { openCalls } = await first.ask('snapshot.get', {});
    return openCalls.find((call) => call.id === callId && call.phase === 'streaming');
  });
  const open = await holdOf(first, callId);
  expect(open).toMatchObject({ state: 'open', charge: null });
  const reserved = (open?.detail.inputTokens ?? 0) + 2_000;
  expect(await balanceOf(first, 'user')).toMatchObject({ spent: 0, held: reserved, free: 5_000 - reserved });
  await first.kill();

  const second = await startConsole(home);
  const notice = await until(async () =>
    (await second.ask('snapshot.get', {})).notices.find(({ text }) => text.includes('open when Spillway ended')),
  );
  expect(notice).toMatchObject({
    level: 'warning',
    text: `One call was open when Spillway ended (ada). ${reserved.toLocaleString('en-US')} reserved tokens stay charged, since the work may have been done.`,
    next: 'The Ledger page lists them as forfeited.',
  });
  await until(async () => ((await second.ask('snapshot.get', {})).server.state === 'up' ? true : null));
  expect(await holdOf(second, callId)).toMatchObject({
    id: open?.id,
    state: 'forfeited',
    charge: { source: 'reserved', outputTokens: 2_000, reason: 'the console ended before the call did' },
  });
  for (const scope of ['user', 'tenant']) {
    expect(await balanceOf(second, scope)).toMatchObject({
      limit: 5_000,
      spent: reserved,
      held: 0,
      overrun: 0,
      free: 5_000 - reserved,
    });
  }
  expect(await second.ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0, faults: [] });

  // What is left is what the next calls can have: one more of these fits, and a third does not.
  await second.ask('call.start', slow);
  const { callId: third } = await second.ask('call.start', slow);
  const record = await until(() => second.ask('call.get', { callId: third }).catch(() => null));
  expect(record).toMatchObject({
    budget: null,
    denial: { code: 'user-day-limit-held' },
    reply: { ending: 'not-sent' },
  });
  await second.kill();

  // Killed again: the first is not charged again, the second is, and the third never was.
  const last = await startConsole(home);
  await until(async () => ((await last.ask('snapshot.get', {})).server.state === 'up' ? true : null));
  expect(
    await until(async () => ((await balanceOf(last, 'user'))?.held === 0 ? balanceOf(last, 'user') : null)),
  ).toMatchObject({
    spent: 2 * reserved,
    held: 0,
  });
  const { entries } = await last.ask('ledger.journal', {
    operations: ['reserve', 'forfeit', 'settle', 'void', 'expire'],
  });
  expect(entries.map(({ operation }) => operation)).toEqual(['forfeit', 'reserve', 'forfeit', 'reserve']);
  expect(await last.ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0 });
});

/** Every request about the ledger, plans and storms, once, with real results. */
import { expect } from 'vitest';
import type { Denial } from '../../shared/contract/denials.ts';
import type { RequestName, RequestParams, RequestResult } from '../../shared/contract/requests.ts';

export interface Asking {
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  refused<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Denial>;
  call(request: {
    readonly payer: { readonly tenant: string; readonly user: string };
  }): Promise<{ readonly id: string }>;
}

const payer = { tenant: 'acme', user: 'ada' };

export async function askLedger({ ask, refused, call }: Asking): Promise<void> {
  const { id } = await call({ payer });
  const { state, balances, reservations } = await ask('ledger.get', {});
  expect(state).toMatchObject({ store: 'sqlite', state: 'ready', problem: null, book: 'simulated', clockOffsetMs: 0 });
  const own = reservations.find(({ detail }) => detail.callId === id);
  expect(own).toMatchObject({
    state: 'settled',
    detail: { ...payer, plan: 'assistant' },
    charge: { source: 'reported' },
  });
  const spent = (own?.charge?.inputTokens ?? 0) + (own?.charge?.outputTokens ?? 0);
  expect(spent).toBeGreaterThan(0);
  expect(balances.find(({ account }) => account.scope === 'user' && account.name === 'ada')).toMatchObject({
    limit: 6_000,
    spent,
    held: 0,
    free: 6_000 - spent,
  });
  expect((await ask('ledger.get', { book: 'real' })).reservations).toEqual([]);
  const searched = await ask('ledger.get', { search: 'ADA acme' });
  expect(searched.balances.length).toBeGreaterThan(0);
  expect(searched.balances.map(({ account }) => [account.tenant, account.name])).toEqual(
    searched.balances.map(() => ['acme', 'ada']),
  );
  expect((await ask('ledger.get', { search: 'nobody' })).balances).toEqual([]);

  const journal = await ask('ledger.journal', { tenant: 'acme', limit: 1 });
  expect(journal).toMatchObject({ entries: [{ operation: 'settle', reservationId: own?.id }], hasMore: true });
  const grant = { tenant: 'acme', scope: 'user', name: 'ada', window: 'day', unit: 'tokens', amount: 500 } as const;
  expect(await ask('ledger.grant', grant)).toMatchObject({ limit: 6_500, granted: 500, free: 6_500 - spent });
  expect(await ask('ledger.audit', {})).toMatchObject({ sound: true, openHolds: 0, faults: [] });

  const { exportId } = await ask('ledger.export', { what: 'journal', options: { format: 'csv' } });
  expect((await ask('export.read', { exportId })).chunk).toContain(own?.id ?? 'no id');

  const dayMs = 24 * 3_600_000;
  expect(await ask('ledger.clock', { byMs: dayMs })).toMatchObject({ book: 'simulated', clockOffsetMs: dayMs });
  expect((await ask('ledger.get', {})).balances.find(({ account }) => account.name === 'ada')).toMatchObject({
    spent: 0,
  });
  expect(await ask('ledger.clock', { reset: true })).toMatchObject({ clockOffsetMs: 0 });
  await askDirectory({ ask, refused });
  await askStorm(ask);
}

async function askDirectory({ ask, refused }: Pick<Asking, 'ask' | 'refused'>): Promise<void> {
  const { directory, revision, timeZones } = await ask('directory.get', {});
  expect(timeZones).toContain('Asia/Tokyo');
  const plans = [...directory.plans, { name: 'tiny', limits: { outputTokensMax: 10 } }];
  const next = await ask('directory.set', { directory: { ...directory, plans }, revision });
  expect(next.revision).toBeGreaterThan(revision);
  expect(await refused('directory.set', { directory, revision })).toMatchObject({ field: 'revision' });
  const table = 'tenant,user,plan\nacme,mary,tiny\nacme,ada,tiny\n';
  expect(await ask('directory.import', { text: table })).toMatchObject({ added: 1, changed: 1 });
  expect((await ask('directory.export', { format: 'csv' })).text).toContain('acme,mary,tiny');
}

async function askStorm(ask: Asking['ask']): Promise<void> {
  expect(await ask('storm.get', {})).toEqual({ storm: null });
  const { id } = await ask('storm.start', { calls: 20 });
  for (let turn = 0; (await ask('storm.get', {})).storm?.state === 'running'; turn += 1) {
    expect(turn).toBeLessThan(6_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect((await ask('storm.get', {})).storm).toMatchObject({
    id,
    state: 'done',
    checkAfter: { admitted: 20 },
    reserveFirst: { admitted: 3, refused: 17, heldTokens: 0 },
  });
}

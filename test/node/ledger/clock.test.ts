/** The clock of the simulated book, as far as it can be moved. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ledgerStateSchema, ledgerViewSchema } from '../../../shared/contract/ledger.ts';
import { DEFAULT_DIRECTORY } from '../../../shared/contract/plans.ts';
import { createMemoryStore } from '../../../shared/engine/ledger/memory-store.ts';
import { createLedgerService } from '../../../shared/node/ledger/ledger-service.ts';
import type { LedgerService } from '../../../shared/node/ledger/ledger-service.ts';
import { value } from '../storage/records.ts';

const NOW_MS = Date.parse('2026-11-14T22:44:02.000Z');
const CENTURY_MS = 3_200_000_000_000;

function service(): LedgerService {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-clock-'));
  const made = createLedgerService({
    store: createMemoryStore({ nowMs: () => NOW_MS }),
    home: { folder },
    directory: () => DEFAULT_DIRECTORY,
    prices: () => null,
    isSimulated: () => true,
    emit: () => undefined,
  });
  onTestFinished(async () => {
    await made.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return made;
}

test.each([
  ['to an instant', [{ to: '2028-02-29T23:59:59Z' }], '2028-02-29T23:59:59.000Z'],
  ['by a time, twice', [{ byMs: 86_400_000 }, { byMs: -1_000 }], '2026-11-15T22:44:01.000Z'],
  ['and back', [{ byMs: 86_400_000 }, null], '2026-11-14T22:44:02.000Z'],
  ['to the last instant that can be written', [{ to: '9999-12-31T23:59:59.999Z' }], '9990-01-01T00:00:00.000Z'],
  ['to the first', [{ to: '0000-01-01T00:00:00Z' }], '1971-01-01T00:00:00.000Z'],
  ['ever further', Array.from({ length: 100 }, () => ({ byMs: CENTURY_MS })), '9990-01-01T00:00:00.000Z'],
] as const)('%s', async (_what, moves, now) => {
  const { moveClock, state, ledger } = service();
  for (const move of moves) expect(ledgerStateSchema.parse(moveClock(move)).book).toBe('simulated');
  expect(state('simulated').now).toBe(now);
  expect(state('real')).toMatchObject({ now: '2026-11-14T22:44:02.000Z', clockOffsetMs: 0 });
  // A call there is held and shown as anywhere else.
  const held = await ledger.reserve({
    key: 'k',
    book: 'simulated',
    payer: { tenant: 'acme', user: 'ada' },
    model: 'probe',
    experiment: null,
    callId: null,
    inputTokens: 2_034,
    outputTokens: 400,
    sentTokensEstimated: null,
    wallClockMs: 30_000,
    strict: false,
  });
  expect(held.ok).toBe(true);
  const view = value(await ledger.view('simulated'));
  expect(ledgerViewSchema.omit({ state: true }).parse(view).balances[0]).toMatchObject({ held: 2_434 });
});

/** Whole, valid storms; each test says only what it is about. */
import { stormSchema, stormSideSchema } from '../../../shared/contract/ledger.ts';
import type { Storm, StormSide } from '../../../shared/contract/ledger.ts';

export function makeSide(patch: Partial<StormSide> = {}): StormSide {
  return stormSideSchema.parse({
    admitted: 0,
    refused: 0,
    spentTokens: 0,
    heldTokens: 0,
    heldTokensMax: 0,
    calls: Array.from({ length: 20 }, () => 'waiting'),
    refusedCode: null,
    retryAfterSeconds: null,
    ...patch,
  });
}

export function makeStorm(patch: Record<string, unknown> = {}): Storm {
  return stormSchema.parse({
    id: 'storm_1',
    ask: {},
    state: 'running',
    problem: null,
    reservedTokensEach: 2_434,
    checkAfter: makeSide(),
    reserveFirst: makeSide(),
    startedAt: '2026-11-30T00:00:00.000Z',
    endedAt: null,
    ...patch,
  });
}

/** As the golden file has it. */
export const goldenStorm = (): Storm =>
  makeStorm({
    state: 'done',
    endedAt: '2026-11-30T00:00:04.000Z',
    checkAfter: makeSide({
      admitted: 20,
      spentTokens: 39_380,
      calls: Array.from({ length: 20 }, () => 'done' as const),
    }),
    reserveFirst: makeSide({
      admitted: 3,
      refused: 17,
      spentTokens: 5_907,
      heldTokensMax: 7_302,
      calls: [
        ...Array.from({ length: 3 }, () => 'done' as const),
        ...Array.from({ length: 17 }, () => 'refused' as const),
      ],
      refusedCode: 'tenant-month-limit-held',
      retryAfterSeconds: 180,
    }),
  });

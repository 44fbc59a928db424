/** What a preflight says of the ledger is what the call then does. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelFactsSchema } from '../../../shared/contract/server.ts';
import { end } from '../../support/scripted-model.ts';
import { bench, request } from './bench.ts';

const foreseen = async (b: ReturnType<typeof bench>, change: Partial<typeof request>) => {
  const answer = await b.engine.preflight({ ...request, ...change });
  if (!answer.ok) throw new Error(answer.denial.message);
  return answer.value.admission;
};

const facts = modelFactsSchema.parse({
  name: 'probe',
  digest: null,
  architecture: 'llama',
  trainedContext: 32_768,
  capabilities: ['completion'],
  addsBos: true,
  promptPath: 'rendered',
  slidingWindow: null,
  modelfileNumCtx: null,
  embeddingOnly: false,
  ownTextBytes: 100,
  keepsWindow: true,
});

describe('before a call is sent', () => {
  test('what it would hold is what it then holds, to the token', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, maxLength: 400, unit: 'binary' }).filter((text) => text.isWellFormed()),
        fc.integer({ min: 1, max: 4_000 }),
        fc.constantFrom('mark' as const, 'strict' as const),
        fc.constantFrom(null, facts),
        async (content, numPredict, overrun, known) => {
          const b = bench({ plan: { overrun }, scripts: [[end()]], subject: { facts: known } });
          const change = { messages: [{ role: 'user' as const, content }], numPredict };
          const admission = await foreseen(b, change);
          const { record, denial } = await b.call(change);
          expect(denial).toEqual(admission?.denial);
          expect(denial?.code ?? null).toBe(overrun === 'strict' && known === null ? 'bound-unknown' : null);
          if (denial !== null) return;
          expect(admission).toEqual({
            inputTokens: record.budget?.reservedInputTokens,
            outputTokens: record.budget?.reservedOutputTokens,
            denial: null,
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  test('a limit of a call that would refuse it is told, and nothing is held or counted', async () => {
    const b = bench({ plan: { limits: { outputTokensMax: 50 } } });
    const admission = await foreseen(b, {});
    expect(admission?.denial?.code).toBe('output-over-cap');
    expect(await b.holds()).toEqual([]);
    expect(await b.refusals()).toEqual([]);
    expect((await b.call()).denial).toEqual(admission?.denial);
  });
});

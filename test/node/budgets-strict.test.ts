/** Strict plans over real HTTP: whatever the text and the model, the server never counts more than was reserved. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallRecord, CallRequest, Message } from '../../shared/contract/calls.ts';
import { never } from '../../shared/engine/cancel.ts';
import type { Engine } from '../../shared/engine/engine.ts';
import { type OllamaDoor, createOllamaDoor } from '../../shared/node/ollama/door.ts';
import { systemClock } from '../../shared/node/runtime.ts';
import { type Simulator, startSimulator } from '../../shared/node/simulator/index.ts';
import { defaultProfiles } from '../../shared/node/simulator/profiles.ts';
import { request } from '../engine/budgets/bench.ts';
import { type BudgetedEngine, budgetedEngine, callOn, userDay } from './budgeted-engine.ts';

const SYSTEM = 'You are a keeper of harbours, and you never speak of anything but the sea and its ships. '.repeat(20);
const USER_LIMIT = 1_000_000_000;

let simulator: Simulator;
let door: OllamaDoor;
let models: readonly string[];
beforeAll(async () => {
  const [first] = defaultProfiles;
  if (first === undefined) throw new Error('there is no profile');
  const profiles = [...defaultProfiles, { ...first, name: 'long-system:latest', system: SYSTEM }];
  simulator = await startSimulator({ port: 0, timeScale: 0, profiles, numParallel: 4, maxLoadedModels: 50 });
  door = createOllamaDoor({ url: simulator.url, clock: systemClock });
  const tags = await door.tags(never);
  if (!tags.ok) throw new Error(tags.denial.message);
  models = tags.value.map(({ name }) => name).filter((name) => !name.includes('embed') && !name.includes('cloud'));
});
afterAll(() => simulator.stop());

const started = (knows = true): BudgetedEngine =>
  budgetedEngine({ door, simulator, knows, plan: { overrun: 'strict', budgets: [userDay(USER_LIMIT)] } });

const call = (engine: Engine, change: Partial<CallRequest>): Promise<CallRecord> =>
  callOn(engine, { ...request, numPredict: 3, ...change });

/** ASCII, CJK, emoji, lone surrogates, code, marks of templates, and much of one of them. */
const text = fc.oneof(
  fc.string({ maxLength: 400 }),
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: fc.constantFrom('\u4e2d', '\u3042', '\ud55c', '\u0e01'), maxLength: 400 }),
  fc.string({ unit: fc.constantFrom('\ud83d\ude00', '\ud83d', '\ude00', '\u200d', '\ufe0f'), maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('{', '}', '=>', '();', '\n  ', '\t', '0x', '&&', '<|im_end|>'), maxLength: 300 }),
  fc.tuple(fc.string({ minLength: 1, maxLength: 3 }), fc.nat(3_000)).map(([piece, times]) => piece.repeat(times)),
);
const conversation = fc.array(
  fc.record<Message>({ role: fc.constantFrom('user', 'assistant', 'system', 'tool'), content: text }),
  { minLength: 1, maxLength: 6 },
);

describe('a strict plan', () => {
  test('reserves what any prompt can be: every model, every kind of text, small windows and none', async () => {
    const { engine, store } = started();
    expect(models.length).toBeGreaterThan(5);
    let counted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...models),
        conversation,
        fc.constantFrom(null, 1, 4, 64, 100, 300, 512, 2_048, 8_192),
        fc.constantFrom('warn' as const, 'refuse' as const),
        fc.constantFrom('default' as const, false, true),
        fc.boolean(),
        async (model, messages, numCtx, policy, think, isGenerate) => {
          const last = messages.at(-1);
          const change = isGenerate
            ? { route: 'generate' as const, messages: [{ role: 'user' as const, content: last?.content ?? '' }] }
            : { messages };
          const { budget, reply } = await call(engine, { model, numCtx, policy, think, ...change });
          if (reply.promptEvalCount !== null) counted += 1;
          expect(budget?.reservedInputTokens).toBeGreaterThanOrEqual(reply.promptEvalCount ?? 0);
          expect(budget?.overrunTokens).toBe(0);
        },
      ),
      { numRuns: 250 },
    );
    // Not all of them were refused by the server.
    expect(counted).toBeGreaterThan(100);
    const audit = await store.audit(Date.now());
    expect(audit).toMatchObject({ ok: true, value: { sound: true, openHolds: 0 } });
  });

  test('the system text of the model itself is part of the prompt, and of what is reserved', async () => {
    const { engine } = started();
    const { budget, reply } = await call(engine, { model: 'long-system', numCtx: null });
    expect(reply.promptEvalCount).toBeGreaterThan(300);
    expect(budget).toMatchObject({ resolution: 'settled', overrunTokens: 0 });
    expect(budget?.reservedInputTokens).toBeGreaterThanOrEqual(reply.promptEvalCount ?? Infinity);
  });

  test('a window that only happens to be loaded is no bound', async () => {
    const { engine } = started();
    const model = models[0] ?? '';
    await call(engine, { model, numCtx: 256 });
    const { budget, reply } = await call(engine, {
      model,
      numCtx: null,
      messages: [{ role: 'user', content: 'A ship came in. '.repeat(300) }],
    });
    expect(reply.promptEvalCount).toBeGreaterThan(256);
    expect(budget?.overrunTokens).toBe(0);
  });

  test('a window that was asked for is one, padded as the server pads it', async () => {
    const { engine } = started();
    const messages = [{ role: 'user' as const, content: 'A ship came in. '.repeat(300) }];
    const { budget } = await call(engine, { model: models[0] ?? '', numCtx: 600, messages });
    expect(budget).toMatchObject({ reservedInputTokens: 768 });
  });

  test('one engine takes prompts beyond the window whole: there the bytes are reserved', async () => {
    const { engine } = started();
    const messages = [{ role: 'user' as const, content: 'A ship came in. '.repeat(300) }];
    const { budget, reply } = await call(engine, { model: 'sim-mlx', numCtx: 600, messages });
    expect(reply.promptEvalCount).toBeGreaterThan(768);
    expect(budget?.reservedInputTokens).toBeGreaterThan(4_800);
  });

  test('of a model that the server says nothing of, nothing leaves', async () => {
    const { engine } = started(false);
    const model = models[0] ?? '';
    expect((await call(engine, { model, numCtx: 600 })).denial).toMatchObject({
      code: 'bound-unknown',
      field: 'model',
    });
    expect(await engine.preflight({ ...request, model, numCtx: null })).toMatchObject({
      ok: true,
      value: { admission: { denial: { code: 'bound-unknown' } } },
    });
  });
});

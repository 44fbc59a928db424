/** Random calls to the simulator: what the fields alone say may be less than what its log says, and never something else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TruncationVerdict } from '../../../shared/contract/verdicts.ts';
import { type Random, createRandom } from '../../../shared/engine/context-lab/random.ts';
import { explain } from '../../../shared/engine/explain/explain.ts';
import { type Simulator, startSimulator } from '../../../shared/node/simulator/index.ts';

const CALLS = 150;
const LOSSES = ['messages-dropped', 'halved', 'cut-to-window', 'shifted', 'refused'];

describe.each(['0.33.0-rc2', '0.30.5', '0.24.0'])('a server of version %s', (version) => {
  let simulator: Simulator;
  let models: readonly string[] = [];
  beforeAll(async () => {
    simulator = await startSimulator({ port: 0, timeScale: 0, debug: true, version });
    const tags = (await (await fetch(`${simulator.url}/api/tags`)).json()) as { models: { name: string }[] };
    models = tags.models.map((model) => model.name).filter((name) => !name.includes('embed'));
  });
  afterAll(() => simulator.stop());

  test(`${CALLS} calls, seed 1837`, async () => {
    const random = createRandom(1_837);
    const wrong: string[] = [];
    for (let call = 0; call < CALLS; call += 1) {
      const { path, body } = drawCall(random, models);
      const before = simulator.logLines().length;
      const response = await fetch(`${simulator.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
      const reply = await response.text();
      const log = simulator.logLines().slice(before);
      const ps = (await (await fetch(`${simulator.url}/api/ps`)).json()) as { models: unknown[] };
      const recording = {
        server: { version },
        request: { path, body },
        response: { status: response.status, body: reply },
        running_after: ps.models,
      };
      const [truth, guess] = [verdictOf({ ...recording, log }), verdictOf(recording)];
      const claims = guess.kinds.filter((kind) => LOSSES.includes(kind) && !truth.kinds.includes(kind));
      const isMissed =
        guess.kinds.includes('intact') &&
        guess.confidence === 'certain' &&
        truth.kinds.some((kind) => LOSSES.includes(kind));
      const isOtherLoss = truth.lost !== null && guess.lost !== null && Math.abs(truth.lost - guess.lost) > 8;
      if (claims.length > 0 || isMissed || isOtherLoss)
        wrong.push(
          `${path} ${JSON.stringify(body).slice(0, 300)}: ${guess.kinds.join('+')} ${guess.lost}, log: ${truth.kinds.join('+')} ${truth.lost}`,
        );
    }
    expect(wrong).toEqual([]);
  });
});

function verdictOf(recording: unknown): TruncationVerdict {
  const result = explain({ text: JSON.stringify(recording) });
  if (!result.ok) throw new Error(result.denial.message);
  return result.value.truncation;
}

const pieces = [
  'Section 1: requests about parking go to desk 100 and are answered within 1 days. ',
  'for (let i = 0; i < n; i++) { total += items[i].price; }\n',
  '今日は天気がいいので、公園を散歩しました。',
  '🙂🚀',
  'international responsibility documentation ',
  'word          \n\n',
  '1712, 2026; 3.14 ',
  '{"id": 12, "ok": true},\n',
];

function drawCall(random: Random, models: readonly string[]): { path: string; body: Record<string, unknown> } {
  const pick = <Value>(list: readonly Value[]): Value => random.pick(list);
  const text = (lengthMax: number): string => {
    const length = 1 + random.below(lengthMax);
    let drawn = '';
    while (drawn.length < length) drawn += pick(pieces);
    return drawn.slice(0, length);
  };
  const options = {
    num_ctx: pick([64, 128, 200, 300, 512, 777, 1_024]),
    num_predict: pick([1, 4, 20, 60, 300]),
    ...(random.below(5) === 0 ? { num_keep: pick([0, 24, 40, -1, 1_000]) } : {}),
  };
  const flags = {
    ...(random.below(8) === 0 ? { truncate: false } : {}),
    ...(random.below(8) === 0 ? { shift: false } : {}),
  };
  const common = { model: pick(models), stream: random.below(2) === 0, options, ...flags };
  if (random.below(4) === 0) return { path: '/api/generate', body: { ...common, prompt: text(4_000) } };
  const turns = pick([1, 1, 2, 4, 7]);
  const messages = Array.from({ length: turns }, (_, turn) => ({
    role: (turns - turn) % 2 === 1 ? 'user' : 'assistant',
    content: text(turn === turns - 1 ? 2_500 : 800),
  }));
  const system = random.below(3) === 0 ? [{ role: 'system', content: text(300) }] : [];
  return { path: '/api/chat', body: { ...common, messages: [...system, ...messages] } };
}

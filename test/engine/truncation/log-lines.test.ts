import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { parseLogfmt, readLog } from '../../../shared/engine/truncation/log-lines.ts';

const cut = (prompt: number, kept: number): string =>
  `time=2026-11-29T19:46:42.513Z level=WARN source=llama_server.go:317 msg="truncating input prompt" limit=${kept} prompt=${prompt} keep=5 new=${kept}`;
const started = (task: number, tokens: number, slot = 0): string =>
  `slot   operator(): id  ${slot} | task ${task} | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = ${tokens}`;
const shifted = (task: number, slot = 0): string =>
  `slot   operator(): id  ${slot} | task ${task} | slot context shift, n_keep = 5, n_left = 250, n_discard = 125`;
const access = (status = 200): string =>
  `[GIN] 2026/11/29 - 19:46:43 | ${status} |  1.93315147s |       127.0.0.1 | POST     "/api/chat"`;

describe('the log of many calls', () => {
  const log = [
    cut(1_421, 259),
    started(0, 259),
    access(),
    started(4, 18),
    access(),
    started(9, 40),
    shifted(9),
    shifted(9),
    access(),
  ];

  test.each([
    [259, { prompt: 1_421, shifts: 0 }],
    [18, { prompt: null, shifts: 0 }],
    [40, { prompt: null, shifts: 2 }],
  ])('a count of %i finds its own lines', (promptEvalCount, expected) => {
    const facts = readLog(log, { promptEvalCount, needs: null });
    expect({ prompt: facts?.cut?.prompt ?? null, shifts: facts?.shifts?.count ?? 0 }).toEqual(expected);
  });

  test('a count that none of them has finds nothing', () =>
    expect(readLog(log, { promptEvalCount: 77, needs: null })).toBeNull());

  test('the only call of a log is not taken when its numbers differ', () =>
    expect(readLog([cut(1_421, 259), started(0, 259)], { promptEvalCount: 300, needs: null })).toBeNull());

  test('of two calls with the same count the later one is meant', () => {
    const facts = readLog([cut(1_000, 259), started(0, 259), access(), cut(2_000, 259), started(1, 259), access()], {
      promptEvalCount: 259,
      needs: null,
    });
    expect(facts?.cut?.prompt).toBe(2_000);
  });

  test('two slots at work at once keep their shifts apart', () => {
    const facts = readLog([started(1, 30, 0), started(2, 50, 1), shifted(1, 0), shifted(2, 1), shifted(1, 0)], {
      promptEvalCount: 30,
      needs: null,
    });
    expect(facts?.shifts?.count).toBe(2);
  });

  test('older servers write no slot lines: the access line ends the call', () => {
    const facts = readLog([cut(1_414, 512), access(), cut(6_862, 4_096), access()], {
      promptEvalCount: 512,
      needs: null,
    });
    expect(facts?.cut?.prompt).toBe(1_414);
  });

  test('a refusal is found by its need', () => {
    const overflow = (needs: number): string =>
      `srv    send_error: task id = 0, error: request (${needs} tokens) exceeds the available context size (512 tokens), try increasing it`;
    const facts = readLog([started(0, 513), overflow(513), access(400), started(1, 700), overflow(700), access(400)], {
      promptEvalCount: null,
      needs: 513,
    });
    expect(facts?.overflow).toMatchObject({ needs: 513, has: 512 });
  });
});

test('a journal prefix does no harm', () => {
  const facts = readLog(
    [`Nov 29 19:46:42 host ollama[812]: ${cut(1_421, 259)}`, `Nov 29 19:46:42 host ollama[812]: ${started(0, 259)}`],
    { promptEvalCount: 259, needs: null },
  );
  expect(facts).toMatchObject({ cut: { prompt: 1_421, kept: 259, keep: 5 }, promptTokens: 259 });
});

test('values come as Go quotes them', () => {
  expect([...parseLogfmt('time=x msg="say \\"hi\\" now" empty= n=-4')]).toEqual([
    ['time', 'x'],
    ['msg', 'say "hi" now'],
    ['empty', ''],
    ['n', '-4'],
  ]);
});

test('no text breaks it, and none takes long', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string({ maxLength: 300 }),
          fc.constantFrom(
            cut(9, 5),
            started(1, 5),
            shifted(1),
            access(),
            'slot x: id 0 | task',
            'msg="',
            'a='.repeat(3_000),
          ),
        ),
        { maxLength: 40 },
      ),
      (lines) => {
        expect(() => readLog(lines, { promptEvalCount: 5, needs: null })).not.toThrow();
      },
    ),
  );
});

test('a hostile log ends soon: the work grows with its length, not with its square', () => {
  const tasks = Array.from({ length: 20_000 }, (_, task) => started(task, 5));
  const strangers = Array.from({ length: 100_000 }, () => shifted(999_999));
  const spaces = Array.from({ length: 500 }, () => `slot${' '.repeat(4_000)}`);
  const quotes = Array.from({ length: 500 }, () => `msg="truncating ${'a="'.repeat(1_300)}`);
  expect(readLog([...tasks, ...spaces, ...quotes, ...strangers], { promptEvalCount: 5, needs: null })).not.toBeNull();
}, 10_000);

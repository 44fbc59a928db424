/** The reasoning experiment as a person or a script runs it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder, rowsOf, spillway } from './spillway.ts';

const shown = (row: Record<string, string>, ...names: string[]): (string | undefined)[] =>
  names.map((name) => row[name]);

function file(text: string): string {
  const path = join(freshFolder(), 'reasoning.yaml');
  writeFileSync(path, text);
  return path;
}

describe('the three classic rows on a model that thinks for ever', () => {
  test('off leaks to its cap, on starves at 8,000, and at 256 in a fraction of the time', async () => {
    const args = ['run', '--default', 'reasoning', '--simulate', '--time-scale', '0.01', '--csv', '-'];
    const { code, stdout, stderr } = await spillway([...args, '--fail-on', 'starved']);
    expect(code).toBe(3);
    expect(stderr).toContain('--fail-on: starved occurred.');
    const rows = rowsOf(stdout).filter((row) => row['warm_up'] === 'false');
    expect(
      rows.map((row) =>
        shown(
          row,
          'variant',
          'outcome',
          'outcome_cause',
          'thinking_place',
          'obedience',
          'eval_tokens',
          'answer_tokens',
          'split_source',
        ),
      ),
    ).toEqual([
      ['off/2000', 'starved', 'cap', 'answer-tagged', 'not-obeyed', '2000', '0', 'counted'],
      ['on/8000', 'starved', 'cap', 'field', 'not-asked', '8000', '0', 'counted'],
      ['on/256', 'starved', 'cap', 'field', 'not-asked', '256', '0', 'counted'],
    ]);
    expect(rows[0]?.['answer']).toContain('<think>');
    for (const row of rows) {
      expect(row).toMatchObject({
        simulated: 'true',
        done_reason: 'length',
        ended_by: 'cap',
        num_ctx_running: '16384',
      });
      // Thinking, answer, hidden and the rest are all tokens there are.
      const parts = ['thinking_tokens', 'answer_tokens', 'hidden_tokens', 'other_tokens'].map((name) =>
        Number(row[name]),
      );
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(Number(row['eval_tokens']));
      expect(Number(row['thinking_tokens'])).toBeGreaterThan(Number(row['eval_tokens']) - 8);
    }
    const [, long, short] = rows.map((row) => Number(row['eval_duration_ms']));
    expect(short).toBeLessThan((long ?? 0) / 20);
  });

  test('one done_reason, three readings: the fields decide', async () => {
    const asked = file(
      [
        'kind: reasoning',
        'model: sim-overthink',
        'num_ctx: 4096',
        'warm_up: false',
        'variants: [on/8000, on/256, {think: off, num_predict: 4000, name: leaks}]',
      ].join('\n'),
    );
    const { code, stdout, stderr } = await spillway(['run', asked, '--simulate', '--json']);
    expect(code).toBe(0);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      rows.map((row) => [row['variant'], row['done_reason'], row['outcome'], row['outcome_cause'], row['ended_by']]),
    ).toEqual([
      ['on/8000', 'length', 'starved', 'shift', 'shift'],
      ['on/256', 'length', 'starved', 'cap', 'cap'],
      ['leaks', 'length', 'starved', 'cap', 'cap'],
    ]);
    expect(stderr).toContain('Note: on/8000 can fill the window of 4,096 before the cap');
  });
});

test('a model that answers: on and off, obeyed, and the rate over repeats in the rows', async () => {
  const asked = file(
    'kind: reasoning\nmodels: [sim-think]\nrepeats: 3\ntemperature: 0.5\nwarm_up: false\nvariants: [off/200, on/400]\n',
  );
  const { code, stdout } = await spillway(['run', asked, '--simulate', '--csv', '-']);
  expect(code).toBe(0);
  const rows = rowsOf(stdout);
  expect(rows.map((row) => shown(row, 'variant', 'repeat', 'seed', 'outcome', 'obedience', 'thinking_place'))).toEqual([
    ['off/200', '0', '7', 'answered', 'obeyed', 'none'],
    ['on/400', '0', '7', 'answered', 'not-asked', 'field'],
    ['off/200', '1', '8', 'answered', 'obeyed', 'none'],
    ['on/400', '1', '8', 'answered', 'not-asked', 'field'],
    ['off/200', '2', '9', 'answered', 'obeyed', 'none'],
    ['on/400', '2', '9', 'answered', 'not-asked', 'field'],
  ]);
});

test('a thinking cap that asks again: the row is the answer, and it names the first call', async () => {
  const asked = file(
    'kind: reasoning\nmodel: sim-think\nwarm_up: false\nvariants: [on/400/t5+, {think: on, num_predict: 400, thinking_cap: 5}]\n',
  );
  const { code, stdout } = await spillway(['run', asked, '--simulate', '--csv', '-']);
  expect(code).toBe(0);
  const [again, stopped] = rowsOf(stdout);
  expect(again).toMatchObject({
    variant: 'on/400/t5+',
    outcome: 'answered',
    think: 'false',
    thinking_cap_tokens: '5',
    thinking_cap_then: 'ask-again',
    asked_after_thinking_tokens: '5',
  });
  expect(again?.['asked_after_call_id']).toMatch(/^call_/u);
  expect(stopped).toMatchObject({
    variant: 'on/400/t5',
    outcome: 'cut',
    thinking_tokens: '5',
    cell_state: 'done',
    ending: 'aborted',
  });
});

test('what a model cannot do is left out and said; with nothing left it ends with 2', async () => {
  const args = ['run', '--default', 'reasoning', '--simulate', '--csv', '-', '--model'];
  const plain = await spillway([...args, 'sim-reader']);
  expect(plain.code).toBe(0);
  expect(rowsOf(plain.stdout).map((row) => row['variant'])).toEqual(['warm-up', 'off/2000']);
  expect(plain.stderr).toContain('Note: on/8000 is left out on sim-reader: sim-reader cannot think');
  const none = await spillway(['run', file('kind: reasoning\nmodel: sim-reader\nvariants: on/100\n'), '--simulate']);
  expect(none).toMatchObject({ code: 2, stdout: '' });
  expect(none.stderr).toContain('sim-reader cannot think, so think on would be refused.');
});

test('--fail-on takes the readings of a reply', async () => {
  const off = file('kind: reasoning\nmodel: sim-qwen3.5\nwarm_up: false\nvariants: [off/300]\n');
  const args = ['run', off, '--simulate', '--fail-on'];
  const [leaks, starves, unknown] = await Promise.all([
    spillway([...args, 'not-obeyed,lost']),
    spillway([...args, 'starved']),
    spillway([...args, 'starvd']),
  ]);
  expect([leaks.code, starves.code, unknown.code]).toEqual([3, 0, 2]);
  expect(leaks.stderr).toContain('--fail-on: not-obeyed occurred.');
  expect(unknown.stderr).toContain('Did you mean starved?');
});

test('repeats and a cap search are summed up at the end', async () => {
  const asked = file(
    'kind: reasoning\nmodel: sim-think\nwarm_up: false\nrepeats: 2\ntemperature: 1\nvariants: [off/200]\nfind_cap: {cap_max: 300, in_a_row: 1, within: 300}\n',
  );
  const { code, stderr } = await spillway(['run', asked, '--simulate']);
  expect(code).toBe(0);
  expect(stderr).toContain('sim-think off/200: answered 2 of 2, starved 0, off obeyed 2 of 2.');
  expect(stderr).toMatch(/sim-think, think on: 300 tokens answered, 16 did not\./u);
});

import { describe, expect, test } from 'vitest';
import type { ContextCell, RunSummary } from '../../shared/contract/experiments.ts';
import { summaryOf } from '../../shared/engine/summary.ts';
import { plainText } from '../../shared/node/bin/plain-text.ts';
import { createProgress } from '../../shared/node/bin/progress.ts';
import { samplePlan, sampleRecord, sampleRun } from '../node/storage/samples.ts';

function terminal(isTTY: boolean): { stream: NodeJS.WriteStream; written: string[] } {
  const written: string[] = [];
  const stream = {
    isTTY,
    columns: 60,
    write: (text: string) => written.push(text) > 0,
  } as unknown as NodeJS.WriteStream;
  return { stream, written };
}

const run = sampleRun({ cellsTotal: 12, cellsDone: 3, etaMs: 4_200 }) as RunSummary;
const cell = (change: Parameters<typeof sampleRecord>[0] = {}, state: ContextCell['state'] = 'done'): ContextCell => ({
  plan: samplePlan(0, { depths: [0, 33.3333] }),
  state,
  documentCharacters: 40_000,
  call: summaryOf(
    sampleRecord({
      truncation: { kinds: ['halved'] },
      needle: 'lost',
      reply: { promptEvalCount: 2_051, wallMs: 1_234 },
      ...change,
    }),
  ),
});

test('one line a cell, no bar where there is no terminal', () => {
  const { stream, written } = terminal(false);
  const progress = createProgress(stream);
  progress.run(run);
  progress.cell(cell(), run);
  progress.end();
  expect(written).toEqual([
    ' 3/12  llama3.2:3b  window 4,096  40,000 characters  needle at 0 %, 33.3 %  halved (certain)  2,051 of about 5 tokens evaluated  needle lost  1.2 s\n',
  ]);
});

test('a bar below the lines on a terminal, taken away at the end', () => {
  const { stream, written } = terminal(true);
  const progress = createProgress(stream);
  progress.cell(cell(), run);
  const bar = '[######..................] 3 of 12, about 4.2 s left';
  expect(written.at(-1)).toBe(bar);
  progress.end();
  expect(written.at(-1)).toBe(`\r${' '.repeat(bar.length)}\r`);
});

describe('hostile names and errors', () => {
  test('reach the terminal as plain text', () => {
    const { stream, written } = terminal(false);
    createProgress(stream).cell(
      cell({ reply: { error: 'no\u001b[2J\nmodel \u202efound', ending: 'refused', status: 404 } }, 'failed'),
      run,
    );
    expect(written.join('')).toContain('failed  no [2J model found\n');
    expect(written.join('').split('\n')).toHaveLength(2);
  });

  test('are cut', () => {
    expect(plainText('x'.repeat(1_000))).toHaveLength(301);
    expect(plainText('\u001b]0;title\u0007name')).toBe(']0;title name');
  });
});

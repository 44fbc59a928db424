/** Following a log through everything that is done to log files, with real files. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LINE_BYTES_MAX } from '../../../shared/node/server-log/line-assembler.ts';
import type { LogSource } from '../../../shared/node/server-log/source.ts';
import { BACKLOG_BYTES_MAX, tailFile } from '../../../shared/node/server-log/tail.ts';

const texts = [
  'time=2026-11-29T20:22:01.906Z level=WARN source=llama_server.go:317 msg="truncating input prompt" limit=259 prompt=1421 keep=5 new=259',
  'slot   operator(): id  1 | task 0 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = 259',
  'time=2026-11-29T20:22:02.100Z level=INFO msg="Grüße, 世界 🦓" n=1',
  '[GIN] 2026/11/29 - 20:22:02 | 200 |  2.029789433s |       127.0.0.1 | POST     "/api/chat"',
];
const content = texts.map((line) => `${line}\n`).join('');
const bytes = Buffer.from(content);

interface Followed {
  readonly path: string;
  readonly source: LogSource;
  readonly lines: string[];
  readonly places: number[];
  gaps(): number;
}

function follow(before: string | Buffer | null = ''): Followed {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-tail-'));
  const path = join(folder, 'server.log');
  if (before !== null) writeFileSync(path, before);
  const lines: string[] = [];
  const places: number[] = [];
  let gaps = 0;
  const source = tailFile(path, {
    line: (text, at) => (lines.push(text), places.push(at)),
    gap: () => (gaps += 1),
  });
  onTestFinished(async () => {
    await source.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { path, source, lines, places, gaps: () => gaps };
}

const rises = (places: readonly number[]): boolean => places.every((place, at) => at === 0 || place > places[at - 1]!);

describe('what is there', () => {
  test('begins at the end: what stands there is older, also the line that has begun', () => {
    const { path, source, lines } = follow('old line\nhalf of an old ');
    appendFileSync(path, `line\n${content}`);
    source.poll();
    expect(lines).toEqual(texts);
  });

  test('a file that is not there yet is read from its beginning', () => {
    const { path, source, lines } = follow(null);
    source.poll();
    expect(source.state()).toEqual({
      state: 'not-found',
      problem: `${path} is not there. It is read as soon as it is.`,
    });
    writeFileSync(path, content);
    source.poll();
    expect(source.state()).toEqual({ state: 'open', problem: null });
    expect(lines).toEqual(texts);
  });

  test('a folder is no log', () => {
    const { path, source } = follow(null);
    mkdirSync(path);
    source.poll();
    expect(source.state()).toMatchObject({
      state: 'not-readable',
      problem: expect.stringContaining('is no file') as string,
    });
  });

  test('a mark stands behind all that was written before it and before all that comes', () => {
    const { path, source, places } = follow();
    appendFileSync(path, content);
    source.poll();
    const mark = source.mark();
    expect(Math.max(...places)).toBeLessThan(mark);
    appendFileSync(path, content);
    source.poll();
    expect(places.slice(texts.length).every((place) => place >= mark)).toBe(true);
  });
});

test('written in any pieces, letters torn, the lines are whole', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 }), (cuts) => {
      const { path, source, lines, gaps } = follow();
      const places = [0, ...[...new Set(cuts)].sort((a, b) => a - b), bytes.length];
      for (const [index, from] of places.slice(0, -1).entries()) {
        appendFileSync(path, bytes.subarray(from, places[index + 1]));
        source.poll();
      }
      expect(lines).toEqual(texts);
      expect(gaps()).toBe(0);
    }),
    { numRuns: 60, seed: 1837 },
  );
});

describe('rotation at every byte', () => {
  const every = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  const isBoundary = (at: number): boolean => at === 0 || bytes[at - 1] === 10;
  /** The lines that a cut there leaves whole. */
  const whole = (at: number): string[] => {
    const first = bytes.subarray(0, at).toString('utf8').split('\n').slice(0, -1);
    return isBoundary(at) ? texts : [...first, ...texts.slice(first.length + 1)];
  };

  test('renamed and made anew: nothing is lost, a line that was split is whole', () => {
    for (const at of every) {
      const { path, source, lines, places } = follow();
      appendFileSync(path, bytes.subarray(0, at));
      if (at % 2 === 0) source.poll();
      renameSync(path, `${path}.1`);
      if (at % 3 === 0) source.poll();
      writeFileSync(path, bytes.subarray(at));
      source.poll();
      source.poll();
      expect(lines, `at ${at}`).toEqual(texts);
      expect(rises(places)).toBe(true);
    }
  });

  test('renamed while the writer still finishes its line in the old file', () => {
    for (const at of every.filter((each) => !isBoundary(each))) {
      const { path, source, lines } = follow();
      const end = bytes.indexOf(10, at) + 1;
      appendFileSync(path, bytes.subarray(0, at));
      source.poll();
      renameSync(path, `${path}.1`);
      writeFileSync(path, '');
      source.poll();
      appendFileSync(`${path}.1`, bytes.subarray(at, end));
      appendFileSync(path, bytes.subarray(end));
      source.poll();
      expect([...lines].sort(), `at ${at}`).toEqual([...texts].sort());
    }
  });

  test('cut to nothing: the half line before it is no line, and the loss is told', () => {
    for (const at of every) {
      const { path, source, lines, gaps, places } = follow();
      appendFileSync(path, bytes.subarray(0, at));
      source.poll();
      truncateSync(path, 0);
      if (at % 2 === 0) source.poll();
      appendFileSync(path, bytes.subarray(at));
      source.poll();
      source.poll();
      // The rest of a split line stands alone; nobody takes it for a line of the server.
      const rest = isBoundary(at) ? [] : [bytes.subarray(at, bytes.indexOf(10, at)).toString('utf8')];
      expect(
        lines.filter((line) => !rest.includes(line)),
        `at ${at}`,
      ).toEqual(whole(at).filter((line) => !rest.includes(line)));
      if (at > 0) expect(gaps(), `at ${at}`).toBeGreaterThan(0);
      expect(rises(places)).toBe(true);
    }
  });

  test('removed and made anew', () => {
    for (const at of every) {
      const { path, source, lines } = follow();
      appendFileSync(path, bytes.subarray(0, at));
      source.poll();
      unlinkSync(path);
      source.poll();
      expect(existsSync(path)).toBe(false);
      writeFileSync(path, bytes.subarray(at));
      source.poll();
      expect(lines, `at ${at}`).toEqual(texts);
    }
  });

  test('a half line at the end of the old file and a new line at the start of the new one are not glued', () => {
    for (const at of every.filter((each) => !isBoundary(each))) {
      const { path, source, lines, gaps } = follow();
      appendFileSync(path, bytes.subarray(0, at));
      source.poll();
      renameSync(path, `${path}.1`);
      writeFileSync(path, `${texts[0] ?? ''}\n`);
      for (let poll = 0; poll < 8; poll += 1) source.poll();
      const before = bytes.subarray(0, at).toString('utf8').split('\n').slice(0, -1);
      expect(lines, `at ${at}`).toEqual([...before, texts[0]]);
      expect(gaps()).toBe(1);
    }
  });
});

describe('other faults', () => {
  test('written over with more than before: noticed by what stands there', () => {
    const { path, source, lines, gaps } = follow();
    appendFileSync(path, content);
    source.poll();
    truncateSync(path, 0);
    appendFileSync(path, `${content.replaceAll('2026', '2027')}${content}`);
    source.poll();
    expect(lines).toEqual([...texts, ...texts.map((line) => line.replaceAll('2026', '2027')), ...texts]);
    expect(gaps()).toBe(1);
  });

  test('a writer that goes on at its old place leaves a hole of zeros', () => {
    const { path, source, lines } = follow();
    appendFileSync(path, content);
    source.poll();
    truncateSync(path, 0);
    source.poll();
    truncateSync(path, 200_000);
    appendFileSync(path, content);
    source.poll();
    expect(lines).toEqual([...texts, ...texts]);
  });

  test('a line over the bound is dropped whole, the next one is there', () => {
    const { path, source, lines } = follow();
    appendFileSync(path, `${'x'.repeat(LINE_BYTES_MAX + 1)}\n${content}${'y'.repeat(3 * LINE_BYTES_MAX)}`);
    source.poll();
    appendFileSync(path, `\n${content}`);
    source.poll();
    expect(lines).toEqual([...texts, ...texts]);
  });

  test('a day of backlog is left out but for its end, and that is told', () => {
    const { path, source, lines, gaps } = follow();
    const line = `${'z'.repeat(999)}\n`;
    writeFileSync(path, line.repeat(Math.ceil(BACKLOG_BYTES_MAX / 1_000) + 2_000), { flag: 'a' });
    appendFileSync(path, content);
    source.poll();
    expect(lines.length).toBeLessThan(1_100);
    expect(lines.slice(-texts.length)).toEqual(texts);
    expect(gaps()).toBe(1);
  });

  test('a writer that stays with the renamed file is followed there while the new one is empty', () => {
    const { path, source, lines } = follow();
    renameSync(path, `${path}.1`);
    writeFileSync(path, '');
    for (let poll = 0; poll < 10; poll += 1) source.poll();
    appendFileSync(`${path}.1`, content);
    source.poll();
    expect(lines).toEqual(texts);
  });

  test('line ends of Windows are no part of the line', () => {
    const { path, source, lines } = follow();
    appendFileSync(path, content.replaceAll('\n', '\r\n'));
    source.poll();
    expect(lines).toEqual(texts);
  });
});

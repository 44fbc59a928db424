import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DiagnosticEntry } from '../../../shared/node/telemetry/diagnostic-log.ts';
import { diagnosticFile, noDiagnosticLog, openDiagnosticLog } from '../../../shared/node/telemetry/diagnostic-log.ts';

const clock = { now: () => '2026-11-14T09:30:00.000Z' };

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function written(
  entries: readonly DiagnosticEntry[],
): Promise<{ text: string; lines: Record<string, unknown>[] }> {
  const folder = join(freshFolder(), 'logs');
  const log = openDiagnosticLog({ folder, clock });
  for (const entry of entries) log.write(entry);
  await log.close();
  await log.close();
  const text = readFileSync(join(folder, diagnosticFile), 'utf8');
  const lines = text.split('\n').slice(0, -1);
  return { text, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const common = { pid: process.pid, time: '2026-11-14T09:30:00.000Z' };

describe('one line for each', () => {
  test('ending that was not well, with its kind', async () => {
    const end = (ending: string, abortedBy: string | null = null): DiagnosticEntry => ({
      event: 'call-ended',
      path: '/api/chat',
      ending,
      abortedBy,
      status: 200,
      afterMs: 12,
    });
    const { lines } = await written([
      end('done'),
      end('cut'),
      end('unreachable'),
      end('aborted', 'timeout'),
      end('aborted', 'person'),
      end('aborted'),
      end('no-server'),
      end('no-server', 'timeout'),
      end('cancelled', 'person'),
      end('error-line'),
      end('refused'),
    ]);
    expect(lines.map((line) => [line['kind'], line['level']])).toEqual([
      ['disconnect', 'warn'],
      ['disconnect', 'warn'],
      ['timeout', 'warn'],
      ['cancel', 'info'],
      ['disconnect', 'warn'],
      ['disconnect', 'warn'],
      ['timeout', 'warn'],
      ['cancel', 'info'],
      ['error', 'error'],
      ['error', 'error'],
    ]);
    expect(lines[0]).toEqual({
      ...common,
      level: 'warn',
      kind: 'disconnect',
      event: 'call-ended',
      path: '/api/chat',
      ending: 'cut',
      status: 200,
      afterMs: 12,
    });
  });

  test('limit, with what it allows and what was used', async () => {
    const entry = {
      event: 'limit-reached',
      kind: 'limit',
      limit: 'lineBytes',
      allowed: 10,
      used: 0,
      code: 'busy',
    } as const;
    expect((await written([entry])).lines).toEqual([{ ...common, level: 'warn', ...entry }]);
  });
});

describe('never a secret', () => {
  test('fields that are not on the list are left out', async () => {
    const hostile = {
      event: 'call-ended',
      ending: 'cut',
      body: 'SECRET',
      prompt: 'SECRET',
      answer: 'SECRET',
      headers: { authorization: 'Bearer SECRET' },
      key: 'SECRET',
      message: 'SECRET',
      msg: 'SECRET',
    };
    const { text, lines } = await written([hostile]);
    expect(lines).toHaveLength(1);
    expect(text).not.toContain('SECRET');
  });

  test('addresses keep scheme, host and port; paths lose their query', async () => {
    const { text, lines } = await written([
      {
        event: 'a',
        server: 'http://me:SECRET@127.0.0.1:11434/SECRET?key=SECRET#SECRET',
        path: '/api/chat?token=SECRET',
      },
      { event: 'b', server: 'SECRET' },
      { event: 'c', server: '127.0.0.1:11434' },
      { event: 'd', server: '[::1]:11434' },
      { event: 'e', server: 'me:SECRET@127.0.0.1:11434' },
    ]);
    expect(lines).toMatchObject([
      { server: 'http://127.0.0.1:11434', path: '/api/chat' },
      { server: '(not an address)' },
      { server: '127.0.0.1:11434' },
      { server: '[::1]:11434' },
      { server: '(not an address)' },
    ]);
    expect(text).not.toContain('SECRET');
  });

  test('errors give name, code and places, also of their cause, and no message', async () => {
    const cause = Object.assign(new Error('SECRET\n    at SECRET (SECRET.ts:1:1)'), { code: 'ECONNRESET' });
    const error = new TypeError('SECRET in a prompt\n    at SECRET (SECRET.ts:2:2)', { cause });
    const { text, lines } = await written([
      { event: 'request-failed', kind: 'error', error },
      { event: 'x', error: 'SECRET' },
    ]);
    expect(lines[0]).toMatchObject({ errorName: 'TypeError', cause: { errorName: 'Error', errorCode: 'ECONNRESET' } });
    expect((lines[0]?.['at'] as string[])[0]).toMatch(/^diagnostic-log\.test\.ts:\d+:\d+$/);
    expect(lines[1]).toMatchObject({ errorName: 'string' });
    expect(text).not.toContain('SECRET');
  });

  test('an error whose name or message was changed later gives nothing away either', async () => {
    const renamed = Object.assign(new Error('one\n    at SECRET (SECRET.ts:1:1)'), { name: 'Renamed' });
    const reworded = new Error('one\n    at SECRET (SECRET.ts:1:1)');
    // Reading it fixes the text of the stack.
    expect(reworded.stack).toContain('SECRET');
    reworded.message = 'two';
    const { text, lines } = await written([
      { event: 'x', error: renamed },
      { event: 'y', error: reworded },
    ]);
    expect(lines).toMatchObject([{ errorName: 'Renamed' }, { errorName: 'Error', at: [] }]);
    expect(text).not.toContain('SECRET');
  });

  test('whatever the values, a line stays one short line of plain characters', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom('\n{"level":"fake"}', '\u001b[31m', '\u202e\u2028'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(hostile, hostile, fc.double()), { minLength: 1, maxLength: 8 }),
        async (values) => {
          const entries = values.map(([first, second, number]) => ({
            event: first,
            text: second,
            model: first.repeat(50),
            path: second,
            callId: first,
            server: second,
            limit: second,
            used: number,
            error: Object.assign(new Error(first), { code: second, name: second }),
          }));
          const { text, lines } = await written(entries);
          expect(lines).toHaveLength(entries.length);
          expect(text).not.toMatch(/[\p{Cf}\u2028\u2029\u0000-\u0009\u000b-\u001f]/u);
          for (const line of text.split('\n')) expect(line.length).toBeLessThan(4_000);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('bounds', () => {
  test('files rotate and only so many are kept', async () => {
    const folder = freshFolder();
    const log = openDiagnosticLog({ folder, clock, fileBytesMax: 2_000, filesMax: 2 });
    for (let round = 0; round < 40; round += 1) {
      for (let line = 0; line < 5; line += 1)
        log.write({ event: 'limit-reached', kind: 'limit', text: `${round}/${line}` });
      // Lets the stream rotate between bursts, as in life.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await log.close();
    const files = readdirSync(folder).sort();
    expect(files).toEqual(['diagnostic.1.jsonl', 'diagnostic.2.jsonl', 'diagnostic.jsonl']);
    for (const file of files) expect(statSync(join(folder, file)).size).toBeLessThan(60_000);
    if (process.platform !== 'win32') expect(statSync(join(folder, diagnosticFile)).mode & 0o777).toBe(0o600);
  });

  test('a flood is cut off and counted, not kept in memory', async () => {
    const log = openDiagnosticLog({ folder: freshFolder(), clock });
    for (let line = 0; line < 20_000; line += 1)
      log.write({ event: 'limit-reached', kind: 'limit', text: 'x'.repeat(200) });
    expect(log.dropped()).toBeGreaterThan(0);
    await log.close();
  });

  test('a folder that cannot be made drops and counts', async () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    const log = openDiagnosticLog({ folder: join(file, 'logs'), clock });
    log.write({ event: 'limit-reached', kind: 'limit' });
    expect(log.dropped()).toBe(1);
    await log.close();
  });

  test('after its end it drops, and the null log does nothing', async () => {
    const log = openDiagnosticLog({ folder: freshFolder(), clock });
    await log.close();
    log.write({ event: 'late', kind: 'error' });
    expect(log.dropped()).toBe(1);
    noDiagnosticLog.write({ event: 'x' });
    await noDiagnosticLog.close();
    expect(noDiagnosticLog.dropped()).toBe(0);
  });
});

import { expect, test } from 'vitest';
import type { EngineEvent } from '../../../shared/contract/events.ts';
import { serverStatusSchema } from '../../../shared/contract/server.ts';
import { summaryOf } from '../../../shared/engine/summary.ts';
import type { DiagnosticEntry } from '../../../shared/node/telemetry/diagnostic-log.ts';
import { eventDiagnostics } from '../../../shared/node/telemetry/event-diagnostics.ts';
import { sampleRecord, sampleRun } from '../storage/records.ts';

const server = (state: string, url = 'http://127.0.0.1:11434'): EngineEvent => ({
  type: 'server-changed',
  status: serverStatusSchema.parse({
    state,
    kind: 'ollama',
    url,
    urlSource: 'default',
    version: null,
    problem: null,
    looks: [],
    looksCount: 0,
    lastLookAt: null,
    models: [],
    running: [],
    ollamaInstalled: null,
  }),
});

function lines(...events: EngineEvent[]): DiagnosticEntry[] {
  const written: DiagnosticEntry[] = [];
  const listen = eventDiagnostics({ write: (entry) => void written.push(entry) });
  for (const event of events) listen(event);
  return written;
}

test('a server that goes and comes back gives one line each time, however often it is looked at', () => {
  const url = 'http://127.0.0.1:11434';
  const down = { event: 'server-down', kind: 'disconnect', server: url };
  expect(lines(server('looking'), server('up'), server('up'))).toEqual([]);
  expect(
    lines(
      server('looking'),
      server('down'),
      server('down'),
      server('up'),
      server('down'),
      server('looking'),
      server('down'),
    ),
  ).toEqual([down, { event: 'server-back', kind: 'info', server: url }, down]);
  expect(lines(server('down'), server('up', 'http://127.0.0.1:1'))).toEqual([down]);
});

test('calls that were refused here, runs that failed and notices give a line; what went well gives none', () => {
  const closed = (ending: string): EngineEvent => ({
    type: 'call-closed',
    call: summaryOf(sampleRecord({ reply: { ending } })),
  });
  const run = (state: string): EngineEvent => ({ type: 'run-changed', run: sampleRun({ state }) });
  const notice = (level: 'info' | 'warning' | 'error'): EngineEvent => ({
    type: 'notice-raised',
    level,
    text: 'SECRET',
    next: 'SECRET',
  });
  const written = lines(
    closed('done'),
    closed('cut'),
    closed('not-sent'),
    run('running'),
    run('failed'),
    run('failed'),
    run('done'),
    run('interrupted'),
    notice('info'),
    notice('warning'),
    notice('error'),
  );
  expect(written).toEqual([
    { event: 'call-not-sent', kind: 'limit', callId: 'call-1', runId: null, model: 'llama3.2:3b', ending: 'not-sent' },
    { event: 'run-failed', kind: 'error', runId: 'run-1' },
    { event: 'run-interrupted', kind: 'error', runId: 'run-1' },
    { event: 'notice-raised', kind: 'limit' },
    { event: 'notice-raised', kind: 'error' },
  ]);
});

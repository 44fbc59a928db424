import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listIn, numbersIn, scriptedModel } from '../../../shared/engine/agent-lab/script-kit.ts';
import { scripts } from '../../../shared/engine/agent-lab/scripts.ts';
import { createCancel, never } from '../../../shared/engine/cancel.ts';
import type { TranscriptEntry, TurnAsk } from '../../../shared/engine/agent/model.ts';

const turnOf = (transcript: readonly TranscriptEntry[], change: Partial<TurnAsk> = {}): TurnAsk => ({
  nodeId: 'agent',
  depth: 0,
  turn: 1,
  transcript,
  tools: [{ name: 'delegate', description: '', parameters: {} }],
  closing: false,
  callsLeft: 60,
  timeLeftMs: null,
  contextTokens: 100,
  signal: never,
  ...change,
});

test('numbers and lists of a task', () => {
  expect(numbersIn('Where are orders 1042 and 1043?', [1, 2])).toEqual([1_042, 1_043]);
  expect(numbersIn('Where is it?', [1, 2])).toEqual([1, 2]);
  expect(numbersIn('Only 7 here.', [1, 2])).toEqual([7, 2]);
  expect(listIn('Start these jobs: backup, index,\n mail.')).toEqual(['backup', 'index', 'mail']);
  expect(listIn('Start the jobs')).toEqual([]);
});

test('a script decides from the transcript alone: asked twice with the same, it says the same', async () => {
  const texts = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'Call get_shipment_status again.',
      '503: busy',
      '{"job":"job-1","state":"running"}',
      '"src/a.ts" 3 lines\n"src/b.ts" 4 lines',
      "x\n[truncated: 9 bytes in all; read more with read_blob(handle='h', offset=3)]",
      'It is 09:00:07.',
    ),
  );
  const entry = fc.record({
    name: fc.constantFrom('start_job', 'job_status', 'list_files', 'read_file', 'fetch_page', 'delegate', 'get_time'),
    argumentsText: fc.oneof(fc.json(), fc.constantFrom('{"path":"src/a.ts","from":11}', '{"', '')),
    text: texts,
    ran: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(scripts)),
      fc.string(),
      fc.array(entry),
      async (script, task, calls) => {
        const transcript: TranscriptEntry[] = [
          { role: 'system', content: 'limits' },
          { role: 'user', content: task },
          ...calls.flatMap(({ name, argumentsText, text, ran }, at): TranscriptEntry[] => [
            { role: 'assistant', content: '', toolCalls: [{ id: String(at), name, argumentsText }] },
            { role: 'tool', content: text, toolCallId: String(at), toolName: name, ran },
          ]),
        ];
        const model = (): ReturnType<typeof scriptedModel> => scriptedModel(script.decide, async () => undefined);
        const one = model();
        const first = await one.turn(turnOf(transcript));
        await one.turn(turnOf(transcript.slice(0, 2)));
        expect(await one.turn(turnOf(transcript))).toEqual(first);
        expect(await model().turn(turnOf(transcript))).toEqual(first);
        expect(first.failed).toBeNull();
        expect(first.text === '' ? first.toolCalls.length : 0).toBeLessThanOrEqual(500);
        const closing = await one.turn(turnOf(transcript, { closing: true }));
        expect(closing.toolCalls).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});

test('a model that is stopped does not think to its end', async () => {
  const cancel = createCancel();
  const model = scriptedModel(
    () => 'done',
    () => new Promise(() => undefined),
  );
  const turn = model.turn(turnOf([{ role: 'user', content: 'x' }], { signal: cancel.signal }));
  cancel.cancel('person');
  expect((await turn).text).toBe('done');
});

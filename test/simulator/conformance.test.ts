/**
 * Every recorded call of a real server (0.33.0-rc2 and 0.24.0), sent to the simulator over a raw socket in the order in which
 * it was recorded, so that loads, reloads and the prompt cache are judged too.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../shared/node/simulator/index.ts';
import { differences, logDifferences } from './compare.ts';
import { meantDifferences } from './meant-differences.ts';
import { pinsOf, probeModels } from './probe-models.ts';
import { piecesOf } from './recorded-scripts.ts';
import { readRecordings, sendRaw, type Recording } from './recordings.ts';

const used = new Set<string>();

describe.each([
  { folder: 'real', version: '0.33.0-rc2' },
  { folder: 'old', version: '0.24.0' },
])('$folder ($version)', ({ folder, version }) => {
  let simulator: Simulator;
  let pieces: readonly string[] = [];
  let pin: (text: string) => number = () => 1;

  beforeAll(async () => {
    simulator = await startSimulator({
      port: 0,
      timeScale: 0,
      debug: true,
      version,
      profiles: probeModels,
      // The text a model wrote is the one thing a simulator cannot know; what becomes of it is judged.
      brain: () => ({ pieces }),
      pinTokens: (text) => pin(text),
    });
  });
  afterAll(() => simulator.stop());

  for (const recording of readRecordings(folder)) {
    test(`${recording.name}: ${recording.about}`, async () => {
      await prepare(simulator, recording);
      pieces = piecesOf(recording);
      pin = pinsOf(recording, version);
      const logged = simulator.logLines().length;
      const leaveAfter = recording.response.client_left ? recording.response.chunk_sizes.length : undefined;
      const reply = await sendRaw(simulator.port, recording.request, leaveAfter);
      await expect.poll(() => hasAccessLine(simulator, logged)).toBe(true);
      const found = [
        ...differences(recording.response, reply),
        ...logDifferences(recording.log, simulator.logLines().slice(logged)),
      ];
      expect(found.filter((difference) => !isMeant(`${folder}/${recording.name}`, difference))).toEqual([]);
      if (!recording.response.client_left) expect(windowOf(simulator, recording)).toEqual(recordedWindow(recording));
      await tidy(simulator, recording);
    });
  }
});

test('no meant difference is out of date', () => {
  const entries = meantDifferences.map((entry) => `${entry.recording} ${entry.difference.source}`);
  expect(entries.filter((entry) => !used.has(entry))).toEqual([]);
});

function isMeant(recording: string, difference: string): boolean {
  const entry = meantDifferences.find((meant) => meant.recording === recording && meant.difference.test(difference));
  if (entry !== undefined) used.add(`${entry.recording} ${entry.difference.source}`);
  return entry !== undefined;
}

/** ps-empty was recorded with a model loaded by a call before the first. */
async function prepare(simulator: Simulator, recording: Recording): Promise<void> {
  if (recording.name === 'ps-empty') await post(simulator, '/api/generate', { model: 'probe-rendered' });
}

async function tidy(simulator: Simulator, recording: Recording): Promise<void> {
  if (recording.name === 'ps-empty') await post(simulator, '/api/generate', { model: 'probe-rendered', keep_alive: 0 });
}

async function post(simulator: Simulator, path: string, body: unknown): Promise<void> {
  await (await fetch(simulator.url + path, { method: 'POST', body: JSON.stringify(body) })).text();
}

function hasAccessLine(simulator: Simulator, from: number): boolean {
  return simulator
    .logLines()
    .slice(from)
    .some((line) => line.startsWith('[GIN]'));
}

/** The running window after the call, where the recording used one of its models. */
function windowOf(simulator: Simulator, recording: Recording): number[] | null {
  return recordedWindow(recording) === null ? null : simulator.state.scheduler.running().map((runner) => runner.numCtx);
}

function recordedWindow(recording: Recording): number[] | null {
  const calls =
    recording.request.method === 'POST' && recording.log.some((line) => /n_ctx_slot|truncating|starting/.test(line));
  return calls ? recording.running_after.map((runner) => runner.context_length) : null;
}

/**
 * Recorded replies of real servers to known model text, to the compatibility routes and to the embedding routes, beside the
 * simulator's. The model's text and its token counts come from the recording; everything around them must come out by itself.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { ModelProfile, Simulator, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';
import { rawRequest } from './raw-http.ts';
import {
  comparableOfRecording,
  comparableOfReply,
  recordingsOf,
  tellingLines,
  type Recording,
} from './recorded-compare.ts';
import { piecesOf, promptTokensOf } from './recorded-scripts.ts';
import { scriptBrain, scriptProfiles } from './scripted-models.ts';

const gemma: Partial<ModelProfile> = {
  architecture: 'gemma3',
  slidingWindow: 512,
  trainedContext: 32_768,
  capabilities: ['completion'],
  parameterSize: '268.10M',
  weights: 'gemma-270m',
};
const probes: readonly ModelProfile[] = [
  profileOf({ name: 'probe-native:latest', mode: 'native', template: 'chatml', ...gemma }),
  profileOf({ name: 'probe-rendered:latest', ...gemma }),
];
const minilm = profileOf({
  name: 'minilm:latest',
  architecture: 'bert',
  template: 'prompt-only',
  trainedContext: 512,
  embeddingLength: 384,
  addBos: false,
  capabilities: ['embedding'],
});

/** Brings the simulator to where the real server stood before the recording. */
type Prepare = (simulator: Simulator, recording: Recording) => Promise<unknown> | void;

const unloadAll: Prepare = (simulator) =>
  simulator.state.profiles.forEach((profile) => simulator.state.scheduler.unload(profile));

/** A simulator that plays whichever recording is current. */
function player(
  options: SimulatorOptions,
  prepare: Prepare,
): {
  play(recording: Recording): Promise<{ reply: ReturnType<typeof comparableOfReply>; log: string[]; running: unknown }>;
} {
  let simulator: Simulator;
  let current: Recording | null = null;
  beforeAll(async () => {
    simulator = await startSimulator({
      port: 0,
      timeScale: 0,
      debug: true,
      brain: () => ({ pieces: current === null ? [] : piecesOf(current) }),
      pinTokens: () => {
        const counted = current === null ? null : promptTokensOf(current);
        return counted === null ? null : counted - 1;
      },
      ...options,
    });
  });
  afterAll(() => simulator.stop());
  return {
    async play(recording) {
      current = recording;
      await prepare(simulator, recording);
      const before = simulator.logLines().length;
      const reply = await rawRequest(simulator.url, recording.request);
      const running = JSON.parse((await rawRequest(simulator.url, { method: 'GET', path: '/api/ps' })).body) as {
        models: { model: string; context_length: number }[];
      };
      return {
        reply: comparableOfReply(reply),
        log: tellingLines(simulator.logLines().slice(before)),
        running: running.models.map(({ model, context_length }) => ({ model, context_length })),
      };
    },
  };
}

const runningOf = (recording: Recording): unknown =>
  recording.running_after.map(({ model, context_length }) => ({ model, context_length }));

function checkAll(recordings: readonly Recording[], options: SimulatorOptions, prepare: Prepare): void {
  const { play } = player(options, prepare);
  for (const recording of recordings) {
    test(`${recording.name}: ${recording.about}`, async () => {
      const played = await play(recording);
      expect(played.reply).toEqual(comparableOfRecording(recording));
      expect(played.log).toEqual(tellingLines(recording.log));
      // A request that never got to a runner tells nothing about the ones before it.
      if (recording.response.status !== 404) expect(played.running).toEqual(runningOf(recording));
    });
  }
}

describe('scripted model text', () => {
  let pinned: number | null = null;
  const recordings = recordingsOf('scripted');
  test('all are here', () => expect(recordings.length).toBeGreaterThanOrEqual(49));
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({
      port: 0,
      timeScale: 0,
      debug: true,
      profiles: scriptProfiles,
      brain: scriptBrain,
      pinTokens: () => pinned,
    });
  });
  afterAll(() => simulator.stop());
  for (const recording of recordings) {
    test(`${recording.name}: ${recording.about}`, async () => {
      pinned = promptTokensOf(recording);
      const before = simulator.logLines().length;
      const reply = await rawRequest(simulator.url, recording.request);
      expect(comparableOfReply(reply)).toEqual(comparableOfRecording(recording));
      expect(tellingLines(simulator.logLines().slice(before)).filter((line) => !line.startsWith('slot'))).toEqual(
        tellingLines(recording.log),
      );
    });
  }
});

describe('compatibility routes of 0.33', () => {
  checkAll(
    recordingsOf('real', (name) => name.includes('v1-')),
    { profiles: probes },
    unloadAll,
  );
});

describe('compatibility routes of 0.24', () => {
  checkAll(
    recordingsOf('old', (name) => name.includes('v1-')),
    { profiles: probes, version: '0.24.0' },
    unloadAll,
  );
});

describe('embeddings', () => {
  const words = (text: string): number => (text.length > 500 ? 1_299 : text.split(/\s+/).length);
  checkAll(
    recordingsOf('embed', (name) => name !== 'show-embedding-model'),
    { profiles: [minilm], pinTokens: words },
    // Loaded at its default window, unless the recording is about the load itself.
    (simulator, { request }) =>
      typeof request.body === 'object' && request.body !== null && 'options' in request.body
        ? undefined
        : rawRequest(simulator.url, { method: 'POST', path: '/api/embed', body: { model: 'minilm', input: [] } }),
  );
});

describe('two slots', () => {
  checkAll(
    recordingsOf('config', (name) => name.startsWith('parallel2')),
    { profiles: probes, numParallel: 2, defaultNumCtx: 1_024, maxQueue: 1 },
    () => undefined,
  );
});

test('a full queue refuses what needs a load', async () => {
  const recording = recordingsOf('config', (name) => name === 'queue-full')[0];
  if (recording === undefined) throw new Error('queue-full is missing');
  const simulator = await startSimulator({
    port: 0,
    timeScale: 1,
    profiles: probes.map((profile) => ({ ...profile, rates: { ...profile.rates, loadMs: 150 } })),
    maxQueue: 1,
    maxLoadedModels: 1,
  });
  try {
    const loading = [256, 300, 400].map((numCtx) =>
      rawRequest(simulator.url, {
        ...recording.request,
        body: { ...(recording.request.body as object), options: { num_ctx: numCtx, num_predict: 1 } },
      }),
    );
    const refused = (await Promise.all(loading)).filter((reply) => reply.status === 503);
    expect(refused.map(comparableOfReply)).toEqual([comparableOfRecording(recording)]);
  } finally {
    await simulator.stop();
  }
});

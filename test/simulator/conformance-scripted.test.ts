/**
 * Recorded replies of a real server to known model text, to the embedding routes and with two slots, beside the simulator's.
 * The model's text and its token counts come from the recording; everything around them must come out by itself.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';
import { differences, logDifferences } from './compare.ts';
import { probeModels } from './probe-models.ts';
import { rawRequest } from './raw-http.ts';
import { piecesOf, promptTokensOf } from './recorded-scripts.ts';
import { readRecordings, sendRaw, type Recording } from './recordings.ts';
import { scriptBrain, scriptProfiles } from './scripted-models.ts';

interface Stage {
  readonly recordings: readonly Recording[];
  readonly options: SimulatorOptions;
  /** Brings the simulator to where the real server stood before the recording. */
  readonly prepare?: (simulator: Simulator, recording: Recording) => Promise<unknown> | undefined;
  /** Lines of the log that the recordings of this folder kept. */
  readonly keepsLine?: (line: string) => boolean;
  /** Differences that are meant. */
  readonly meant?: RegExp;
  /** The windows of /api/ps after the call are compared too. */
  readonly checksWindows: boolean;
}

function playAll({ recordings, options, prepare, keepsLine = () => true, meant, checksWindows }: Stage): void {
  let simulator: Simulator;
  let current: Recording | null = null;
  beforeAll(async () => {
    simulator = await startSimulator({
      port: 0,
      timeScale: 0,
      debug: true,
      brain: () => ({ pieces: current === null ? [] : piecesOf(current) }),
      pinTokens: (_text, model) => {
        const counted = current === null ? null : promptTokensOf(current);
        const hasBos = simulator.state.profiles.some((profile) => profile.name === model && profile.addBos);
        return counted === null ? null : counted - (hasBos ? 1 : 0);
      },
      ...options,
    });
  });
  afterAll(() => simulator.stop());
  for (const recording of recordings) {
    test(`${recording.name}: ${recording.about}`, async () => {
      await prepare?.(simulator, recording);
      current = recording;
      const logged = simulator.logLines().length;
      const reply = await sendRaw(simulator.port, recording.request);
      await expect
        .poll(() =>
          simulator
            .logLines()
            .slice(logged)
            .some((line) => line.startsWith('[GIN]')),
        )
        .toBe(true);
      const log = simulator.logLines().slice(logged);
      const found = [
        ...differences(recording.response, reply),
        ...logDifferences(recording.log.filter(keepsLine), log.filter(keepsLine)),
      ];
      expect(found.filter((difference) => meant?.test(difference) !== true)).toEqual([]);
      if (checksWindows)
        expect(await windowsOf(simulator)).toEqual(
          recording.running_after.map(({ model, context_length }) => ({ model, context_length })),
        );
    });
  }
}

async function windowsOf(simulator: Simulator): Promise<unknown> {
  const { body } = await rawRequest(simulator.url, { method: 'GET', path: '/api/ps' });
  return (JSON.parse(body) as { models: { model: string; context_length: number }[] }).models.map(
    ({ model, context_length }) => ({ model, context_length }),
  );
}

describe('scripted model text', () => {
  const recordings = readRecordings('scripted');
  test('all are here', () => expect(recordings).toHaveLength(51));
  playAll({
    recordings,
    options: { profiles: scriptProfiles, brain: scriptBrain },
    // The recordings were made behind a stand-in for the runner: they have the server's own lines only.
    keepsLine: (line) => line.startsWith('time=') && !line.includes('starting llama-server'),
    // The stand-in counted the output in words of its own.
    meant: /context length/,
    checksWindows: false,
  });
});

describe('embeddings', () => {
  const words = (text: string): number => (text.length > 500 ? 1_299 : text.split(/\s+/).length);
  const minilm = profileOf({
    name: 'minilm:latest',
    architecture: 'bert',
    template: 'prompt-only',
    trainedContext: 512,
    embeddingLength: 384,
    addBos: false,
    capabilities: ['embedding'],
  });
  playAll({
    recordings: readRecordings('embed')
      .filter(({ name }) => name !== 'show-embedding-model')
      .map(withLostNewline),
    options: { profiles: [minilm], pinTokens: words },
    // Loaded at its default window, unless the recording is about the load itself.
    prepare: (simulator, { request }) =>
      typeof request.body === 'object' && request.body !== null && 'options' in request.body
        ? undefined
        : rawRequest(simulator.url, { method: 'POST', path: '/api/embed', body: { model: 'minilm', input: [] } }),
    checksWindows: true,
  });
});

/** Vectors were shortened in the recordings; the OpenAI route lost its line feed there. */
function withLostNewline(recording: Recording): Recording {
  const { response, request } = recording;
  if (request.path !== '/v1/embeddings' || response.body.endsWith('\n')) return recording;
  const body = `${response.body}\n`;
  return { ...recording, response: { ...response, body, chunk_sizes: [Buffer.byteLength(body)] } };
}

describe('two slots', () => {
  playAll({
    recordings: readRecordings('config').filter(({ name }) => name.startsWith('parallel2')),
    options: { profiles: probeModels, numParallel: 2, defaultNumCtx: 1_024, maxQueue: 1 },
    checksWindows: true,
  });
});

test('a full queue refuses what needs a load', async () => {
  const recording = readRecordings('config').find(({ name }) => name === 'queue-full');
  if (recording === undefined) throw new Error('queue-full is missing');
  const profiles = probeModels.map((profile) => ({ ...profile, rates: { ...profile.rates, loadMs: 150 } }));
  const simulator = await startSimulator({ port: 0, timeScale: 1, profiles, maxQueue: 1, maxLoadedModels: 1 });
  try {
    const loads = [256, 300, 400].map((numCtx) =>
      sendRaw(simulator.port, {
        ...recording.request,
        body: { ...(recording.request.body as object), options: { num_ctx: numCtx, num_predict: 1 } },
      }),
    );
    const refused = (await Promise.all(loads)).filter((reply) => reply.status === 503);
    expect(refused.map((reply) => differences(recording.response, reply))).toEqual([[]]);
  } finally {
    await simulator.stop();
  }
});

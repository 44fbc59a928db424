/** Starts a sweep and is killed in it (sweep.test.ts). Arguments: data folder, server. */
import { createRuntime } from '../../../shared/node/runtime.ts';
import { experiment, must } from './sweep-experiment.ts';

const [home = '', ollamaUrl = ''] = process.argv.slice(2);
const runtime = must(await createRuntime({ host: 'test', home, ollamaUrl, environment: {} }));
await runtime.ready;
must(
  await runtime.handle(
    'context.start',
    experiment({ models: ['sim-reader'], numCtx: [40_960], sizes: [500, 600, 100_000, 700, 800] }, { warmUp: false }),
    {
      screenId: 'test',
      signal: new AbortController().signal,
    },
  ),
);

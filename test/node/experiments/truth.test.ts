/** Rows of random sweeps against the log of the server that answered them: what the CSV says happened is what happened. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContextAxes } from '../../../shared/contract/experiments.ts';
import { type RequestName, requests } from '../../../shared/contract/requests.ts';
import { type Runtime, createRuntime } from '../../../shared/node/runtime.ts';
import { startSimulator } from '../../../shared/node/simulator/index.ts';
import { experiment, must } from './sweep-experiment.ts';

interface Sweep {
  readonly version: string;
  readonly axes: Partial<ContextAxes>;
  readonly numPredict: number;
  readonly seed: number;
  readonly questionPosition: 'first' | 'last';
}

const sweeps: fc.Arbitrary<Sweep> = fc.record({
  version: fc.constantFrom('0.33.0-rc2', '0.30.11', '0.30.9', '0.30.5', '0.24.0', '0.13.0'),
  axes: fc.record({
    models: fc.uniqueArray(
      fc.constantFrom('sim-reader', 'sim-native', 'sim-sliding', 'sim-window-2048', 'sim-no-shift', 'sim-think'),
      { minLength: 1, maxLength: 2 },
    ),
    numCtx: fc.uniqueArray(
      fc.oneof(fc.constantFrom('default' as const, 512, 2_048), fc.integer({ min: 64, max: 5_000 })),
      {
        minLength: 1,
        maxLength: 2,
      },
    ) as fc.Arbitrary<ContextAxes['numCtx']>,
    sizes: fc.uniqueArray(fc.integer({ min: 200, max: 30_000 }), { minLength: 1, maxLength: 3 }),
    needleDepths: fc.constantFrom<ContextAxes['needleDepths']>([0], [100], [[0, 50, 100]]),
    routes: fc.constantFrom<ContextAxes['routes']>(['chat'], ['generate'], ['chat', 'generate']),
    policies: fc.constantFrom<ContextAxes['policies']>(['warn'], ['refuse', 'warn']),
  }),
  numPredict: fc.constantFrom(8, 60, 600),
  seed: fc.nat(1_000),
  questionPosition: fc.constantFrom('first' as const, 'last' as const),
});

const losses = ['halved', 'cut-to-window', 'messages-dropped'];

test('no row contradicts the log of the server', async () => {
  let rows = 0;
  let cuts = 0;
  await fc.assert(
    fc.asyncProperty(sweeps, async (sweep) => {
      for (const { row, log } of await ran(sweep)) {
        const kinds = (row['truncation'] ?? '').split('+');
        const cut = log
          .map((line) => /msg="truncating input prompt".* prompt=(\d+) .*new=(\d+)/.exec(line))
          .find(Boolean);
        const [, prompt = '', kept = ''] = cut ?? [];
        const isRefused = log.some((line) => /\| 400 \|.*POST/.test(line));
        const shifts = log.filter((line) => line.includes('slot context shift')).length;
        rows += 1;
        if (cut) cuts += 1;
        const said = `${sweep.version} ${JSON.stringify(row)}\n${log.join('\n')}`;
        // What was not cut is never called cut, and what was is never called whole. "Cannot be told" is an answer.
        if (!cut)
          expect(
            kinds.some((kind) => losses.includes(kind)),
            said,
          ).toBe(false);
        if (cut) expect(kinds, said).not.toContain('intact');
        expect(kinds.includes('refused'), said).toBe(isRefused);
        if (cut && row['prompt_tokens_lost'] !== '')
          expect(Number(row['prompt_tokens_lost']), said).toBe(Number(prompt) - Number(kept));
        if (cut && row['prompt_tokens_kept'] !== '') expect(row['prompt_tokens_kept'], said).toBe(kept);
        expect(kinds.includes('shifted'), said).toBe(shifts > 0 && !isFilledByCut(sweep.version, kinds));
        if (kinds.includes('shifted') && row['context_shifts'] !== '')
          expect(Number(row['context_shifts']), said).toBe(shifts);
      }
    }),
    { numRuns: 30, seed: 1_837, endOnFailure: true },
  );
  // The sweeps are such that both kinds are there.
  expect(cuts).toBeGreaterThan(rows / 10);
  expect(cuts).toBeLessThan(rows / 2);
}, 120_000);

/** Older servers hand the runner a full window: what the first tokens push out belongs to the cut. */
const isFilledByCut = (version: string, kinds: readonly string[]): boolean =>
  /^0\.(?:13|24)\./.test(version) && (kinds.includes('cut-to-window') || kinds.includes('unknown'));

interface Row {
  readonly row: Readonly<Record<string, string>>;
  /** What the server wrote while the call of this row ran. */
  readonly log: readonly string[];
}

async function ran({ version, axes, ...more }: Sweep): Promise<Row[]> {
  const server = await startSimulator({ port: 0, timeScale: 0, version, debug: true });
  const home = mkdtempSync(join(tmpdir(), 'spillway-truth-'));
  const runtime = must(await createRuntime({ host: 'test', home, ollamaUrl: server.url, environment: {} }));
  try {
    await runtime.ready;
    return await rowsOf(
      runtime,
      { axes, ...more },
      () => server.state.log.dropped() + server.logLines().length,
      (from) => server.logLines().slice(Math.max(0, from - server.state.log.dropped())),
    );
  } finally {
    await runtime.stop();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function rowsOf(
  runtime: Runtime,
  { axes, ...more }: Omit<Sweep, 'version'>,
  mark: () => number,
  since: (from: number) => readonly string[],
): Promise<Row[]> {
  const ask = async (name: RequestName, params: object): Promise<never> =>
    must(
      await runtime.handle(name, requests[name].params.parse(params), {
        screenId: 'test',
        signal: new AbortController().signal,
      }),
    ) as never;
  const logs = new Map<string, readonly string[]>();
  let from = mark();
  const ended = new Promise<void>((resolve) => {
    runtime.subscribe((event) => {
      if (event.type === 'call-closed') {
        logs.set(event.call.cellKey ?? '', [...since(from)]);
        from = mark();
      }
      if (event.type === 'run-changed' && event.run.state !== 'running') resolve();
    });
  });
  const { runId } = (await ask('context.start', experiment(axes, more))) as { runId: string };
  await ended;
  const { exportId } = (await ask('export.open', { runId, options: { format: 'csv' } })) as { exportId: string };
  let csv = '';
  for (let done = false; !done;) {
    const read = (await ask('export.read', { exportId })) as { chunk: string; done: boolean };
    csv += read.chunk;
    done = read.done;
  }
  const rows = parse(csv, { columns: true }) as Record<string, string>[];
  return rows.map((row) => ({ row, log: logs.get(row['cell'] ?? '') ?? [] }));
}

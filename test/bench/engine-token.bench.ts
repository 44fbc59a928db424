/**
 * What one streamed token costs the engine, against a reader that only splits lines and parses each as JSON. Both read the
 * same bytes from the same server in another process, in alternation; the figure is processor time, the median of the rounds,
 * so that a busy machine does not change it much.
 */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { callRequestSchema } from '../../shared/contract/calls.ts';
import { ok } from '../../shared/contract/denials.ts';
import type { CallId, RunId } from '../../shared/contract/ids.ts';
import { createEngine } from '../../shared/engine/engine.ts';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import { preflight } from '../../shared/engine/truncation/preflight.ts';
import { createOllamaDoor } from '../../shared/node/ollama/door.ts';
import { type Figure, median } from './figures.ts';

const TOKENS = 50_000;
const ROUNDS = 7;

export async function benchEngineToken(): Promise<Figure[]> {
  const server = spawn(
    process.execPath,
    [fileURLToPath(new URL('./token-server.ts', import.meta.url)), String(TOKENS)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${port.toString().trim()}`;
  const alone: number[] = [];
  const governed: number[] = [];
  try {
    await readAlone(url);
    await throughEngine(url);
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await timed(() => readAlone(url)));
      governed.push(await timed(() => throughEngine(url)));
    }
  } finally {
    server.kill();
  }
  const base = median(alone);
  const mine = median(governed);
  return [
    {
      name: 'engine per streamed token',
      value: (mine / TOKENS) * 1_000,
      unit: 'µs',
      limit: null,
      beside: `reading alone ${((base / TOKENS) * 1_000).toFixed(2)} µs`,
    },
    {
      name: 'engine against reading alone',
      value: mine / base,
      unit: 'x',
      limit: 1.3,
      beside: `${TOKENS} tokens, median of ${ROUNDS}`,
    },
  ];
}

async function timed(run: () => Promise<number>): Promise<number> {
  const before = process.cpuUsage();
  const tokens = await run();
  if (tokens !== TOKENS) throw new Error(`expected ${TOKENS} tokens, read ${tokens}`);
  const spent = process.cpuUsage(before);
  return (spent.user + spent.system) / 1_000;
}

/** Bytes, lines, JSON: what any client has to do. */
function readAlone(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(`${url}/api/chat`, { method: 'POST' }, (response) => {
      let rest = '';
      let tokens = 0;
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if ((JSON.parse(line) as { done: boolean }).done === false) tokens += 1;
      });
      response.on('end', () => resolve(tokens));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end('{}');
  });
}

async function throughEngine(url: string): Promise<number> {
  const door = createOllamaDoor({ url, clock });
  let deltas = 0;
  const engine = createEngine({
    clock,
    ids: { call: () => 'call-1' as CallId, run: () => 'run-1' as RunId },
    model: door,
    subjects: {
      of: async () =>
        ok({
          server: url,
          serverVersion: '0.33.0',
          simulated: false,
          facts: null,
          digest: null,
          learned: null,
          defaultNumCtx: null,
          running: [],
        }),
    },
    estimator: {
      estimate: async (messages, learned) => estimateMessages(messages, learned),
      preflight: async (input) => preflight(input),
    },
    journal: { callClosed: () => ok(undefined) },
    events: { emit: (event) => (deltas += event.type === 'call-delta' ? 1 : 0) },
  });
  const opened = engine.open(
    callRequestSchema.parse({
      model: 'probe',
      route: 'chat',
      messages: [{ role: 'user', content: 'Count.' }],
      numCtx: 131_072,
      numPredict: TOKENS,
      think: 'default',
      temperature: 0,
      seed: 7,
      policy: 'warn',
    }),
  );
  if (!opened.ok) throw new Error(opened.denial.message);
  const { record } = await opened.value.done;
  if (record.reply.ending !== 'done' || deltas !== TOKENS)
    throw new Error(`the call ended as ${record.reply.ending} after ${deltas} deltas`);
  return record.reply.answerChunks;
}

const clock = { now: () => new Date().toISOString(), monotonicMs: () => performance.now() };

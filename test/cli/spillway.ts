/** Runs the command line as a child process, as a person or a script does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { onTestFinished } from 'vitest';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when this stands on that stream. */
  seen(stream: 'stdout' | 'stderr', text: string): Promise<void>;
}

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** `stdout`: a file descriptor in place of the pipe. */
export function start(
  args: readonly string[],
  environment: Record<string, string> = {},
  stdout: number | 'pipe' = 'pipe',
): Started {
  const child = spawn(process.execPath, [entry, ...args], {
    // Port 1 answers nobody: no test talks to an Ollama that happens to run here.
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: freshFolder(),
      SPILLWAY_HOME: freshFolder(),
      OLLAMA_HOST: '127.0.0.1:1',
      ...environment,
    },
    stdio: ['ignore', stdout, 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  const waiting: { stream: 'stdout' | 'stderr'; text: string; resolve: () => void }[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (part: string) => {
      texts[stream] += part;
      for (const wait of waiting) if (wait.stream === stream && texts[stream].includes(wait.text)) wait.resolve();
    });
  }
  const finished = new Promise<Finished>((resolve) => child.on('close', (code) => resolve({ code, ...texts })));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await finished;
  });
  return {
    child,
    finished,
    seen: (stream, text) =>
      new Promise((resolve, reject) => {
        if (texts[stream].includes(text)) return resolve();
        waiting.push({ stream, text, resolve });
        void finished.then((end) => reject(new Error(`ended with ${end.code} before "${text}": ${end.stderr}`)));
      }),
  };
}

export const spillway = (args: readonly string[], environment: Record<string, string> = {}): Promise<Finished> =>
  start(args, environment).finished;

export const rowsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, bom: true, relax_column_count: false }) as Record<string, string>[];

const entry = fileURLToPath(new URL('../../shared/node/bin/cli.ts', import.meta.url));

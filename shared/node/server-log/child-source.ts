/** Lines that a program writes: `journalctl` that follows the service, or an `ollama serve` that this console started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createLineAssembler } from './line-assembler.ts';
import type { LogSink, LogSource, SourceState } from './source.ts';

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Its error stream is part of the log, as that of `ollama serve` is; else it holds complaints. */
  readonly readsErrors: boolean;
  /** Started again when it ends; a server of this console's own is not. */
  readonly restarts: boolean;
}

export const journalCommand: ChildCommand = {
  command: 'journalctl',
  args: ['-u', 'ollama', '-o', 'cat', '-n', '0', '--no-pager', '-f'],
  readsErrors: false,
  restarts: true,
};

export function serveCommand(environment: NodeJS.ProcessEnv, address: string): ChildCommand {
  return {
    command: 'ollama',
    args: ['serve'],
    environment: { ...environment, OLLAMA_HOST: address },
    readsErrors: true,
    restarts: false,
  };
}

const RESTART_MS_MIN = 5_000;
const RESTART_MS_MAX = 60_000;
const COMPLAINT_CHARACTERS_MAX = 300;

export function childSource(what: ChildCommand, sink: LogSink): LogSource {
  const name = [what.command, ...what.args].join(' ');
  let state: SourceState = { state: 'not-found', problem: null };
  let child: ChildProcess | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let restartMs = RESTART_MS_MIN;
  /** Bytes that came: the places of the lines. */
  let received = 0;
  let complaint = '';

  function start(): void {
    complaint = '';
    const started = spawn(what.command, [...what.args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      ...(what.environment === undefined ? {} : { env: what.environment }),
    });
    child = started;
    const streams = what.readsErrors ? [started.stdout, started.stderr] : [started.stdout];
    for (const stream of streams) {
      const lines = createLineAssembler((text, at) => sink.line(text, at));
      stream.on('data', (bytes: Buffer) => {
        lines.push(bytes, received);
        received += bytes.length;
      });
      stream.on('error', () => undefined);
    }
    if (!what.readsErrors)
      started.stderr.on('data', (bytes: Buffer) => {
        complaint = `${complaint}${bytes.toString('utf8')}`.slice(0, COMPLAINT_CHARACTERS_MAX);
        if (NO_RIGHTS.test(complaint))
          state = {
            state: 'not-readable',
            problem: 'The journal may not be read. Add this account to the group systemd-journal.',
          };
      });
    started.once('spawn', () => {
      state = { state: 'open', problem: null };
    });
    started.once('error', (error: NodeJS.ErrnoException) => ended(error, null));
    started.once('close', (code) => ended(null, code));
  }

  function ended(error: NodeJS.ErrnoException | null, code: number | null): void {
    if (child === null) return;
    child = null;
    sink.gap();
    if (isStopped) return;
    if (error?.code === 'ENOENT') {
      state = { state: 'not-found', problem: `There is no program ${what.command} here.` };
      return;
    }
    if (state.state !== 'not-readable')
      state = {
        state: 'not-readable',
        problem: `${name} ended${code === null ? '' : ` with code ${code}`}${complaint === '' ? '.' : `: ${complaint.trim()}`}`,
      };
    if (!what.restarts) return;
    timer = setTimeout(start, restartMs);
    timer.unref();
    restartMs = Math.min(RESTART_MS_MAX, restartMs * 2);
  }

  start();
  return {
    name,
    state: () => state,
    poll: () => undefined,
    mark: () => received,
    writtenUpTo: () => Number.POSITIVE_INFINITY,
    async stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      const last = child;
      if (last === null) return;
      const closed = new Promise<void>((resolve) => last.once('close', () => resolve()));
      last.kill();
      await closed;
    },
  };
}

const NO_RIGHTS = /insufficient permissions|not seeing messages|No journal files were opened/i;

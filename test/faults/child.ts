/** Starts a child of these tests with the same Node, reads its lines, and kills it as a power cut would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export interface Child {
  readonly pid: number;
  /** Writes a line to its input. */
  say(line: string): void;
  /** The next line, or null when it has ended. */
  line(): Promise<string | null>;
  /** kill -9; resolves when it is gone, with the lines that were not read yet. */
  kill(): Promise<string[]>;
}

export function startChild(name: string, ...args: string[]): Child {
  const script = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  // It may be gone before it reads.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string | null> => {
    const next = await lines.next();
    return next.done === true ? null : next.value;
  };
  const kill = async (): Promise<string[]> => {
    child.kill('SIGKILL');
    const rest: string[] = [];
    for (let last = await line(); last !== null; last = await line()) rest.push(last);
    await gone(child);
    return rest;
  };
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone(child);
  });
  const say = (text: string): void => {
    child.stdin.write(`${text}\n`);
  };
  return { pid: child.pid ?? 0, say, line, kill };
}

const gone = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });

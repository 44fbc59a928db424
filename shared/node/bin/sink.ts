/** Where a table goes: stdout, or a file. */
import { type WriteStream, createWriteStream, openSync } from 'node:fs';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import { writeOut } from './exit.ts';

export interface Sink {
  /** Resolves when the reader took it; never rejects. */
  write(text: string): Promise<void>;
  /** Why the file could not be written to its end; null where it was. What is wrong with stdout is known elsewhere (exit.ts). */
  close(): Promise<Denial | null>;
}

/** target: '-' = stdout. next: what helps where the file breaks off. Denied where it cannot be made. */
export function openSink(target: string, next: string): Result<Sink> {
  if (target === '-') return ok({ write: writeOut, close: () => Promise.resolve(null) });
  try {
    return ok(fileSink(createWriteStream('', { fd: openSync(target, 'w'), encoding: 'utf8' }), target, next));
  } catch (error) {
    return denied('bad-input', `${target} cannot be written: ${reasonOf(error)}.`, {
      field: '--csv',
      next: 'Give another file, or - for stdout.',
    });
  }
}

function fileSink(stream: WriteStream, target: string, next: string): Sink {
  let problem: Denial | null = null;
  stream.on('error', (error) => {
    problem ??= denied('storage-failed', `${target} could not be written to its end: ${reasonOf(error)}.`, {
      next,
    }).denial;
  });
  return {
    write: (text) =>
      new Promise((resolve) => {
        if (problem !== null || stream.destroyed) return resolve();
        stream.write(text, () => resolve());
      }),
    close: () =>
      new Promise((resolve) => {
        if (stream.destroyed) return resolve(problem);
        stream.once('close', () => resolve(problem));
        stream.end();
      }),
  };
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOENT') return 'its folder is not there';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be written';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'ENOSPC') return 'the disk is full';
  return error instanceof Error ? error.message : String(error);
}

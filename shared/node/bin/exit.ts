/** How commands end, and the manners of a program in a pipe. */

export const EXIT = { done: 0, failed: 1, badInput: 2, failOn: 3, cancelled: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A refusal on stderr: what was wrong, then the next step. */
export function complain(message: string, next?: string | null): void {
  process.stderr.write(`${message}${next === undefined || next === null ? '' : ` ${next}`}\n`);
}

const leavers = new Set<() => void>();

let stdoutProblem: string | null = null;

/** Why stdout took no more, where that was not its reader's wish: a full disk behind `> rows.csv`. */
export const problemOfStdout = (): string | null => stdoutProblem;

/**
 * `head` and pagers close the pipe when they have seen enough: that is no failure, and the work behind it stops. A stdout that
 * cannot be written for another reason is one.
 */
export function handleBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && stream === process.stdout) {
        const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
        stdoutProblem ??= `stdout could not be written to its end: ${reason}.`;
      }
      if (leavers.size === 0) {
        if (stdoutProblem !== null) complain(stdoutProblem);
        process.exit(stdoutProblem === null ? EXIT.cancelled : EXIT.failed);
      }
      for (const leave of leavers) leave();
    });
  }
}

/** Called when nobody reads stdout any more. Returns how to take it back. */
export function onReaderGone(leave: () => void): () => void {
  leavers.add(leave);
  return () => leavers.delete(leave);
}

/** Writes and waits while the reader is slow, so that rows never pile up in memory. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.stdout.destroyed || process.stdout.writableEnded || stdoutProblem !== null) return resolve();
    process.stdout.write(text, () => resolve());
  });
}

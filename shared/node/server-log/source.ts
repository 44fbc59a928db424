/** Where the server's lines come from. Every source has the same face, the absent one too. */

/** `at`: place of a line's first byte in the log, rising; never used again for another line. */
export interface LogSink {
  line(text: string, at: number): void;
  /** Something may be missing before the next line. */
  gap(): void;
}

export interface SourceState {
  readonly state: 'off' | 'open' | 'not-found' | 'not-readable';
  /** One sentence with the next step, where it is not open. */
  readonly problem: string | null;
}

export interface LogSource {
  /** What is read, for a screen: a path or a command. */
  readonly name: string;
  state(): SourceState;
  /** Hands over what is there by now. */
  poll(): void;
  /** After a poll: all that was written before is below this place. */
  mark(): number;
  /** Lines that were written by now stand below this place; Infinity where a pipe may still hold some. */
  writtenUpTo(): number;
  stop(): Promise<void>;
}

export function noSource(problem: string | null = null): LogSource {
  return {
    name: '',
    state: () => ({ state: problem === null ? 'off' : 'not-found', problem }),
    poll: () => undefined,
    mark: () => 0,
    writtenUpTo: () => Number.POSITIVE_INFINITY,
    stop: async () => undefined,
  };
}

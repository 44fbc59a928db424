/** The ways in which a person stops a command. */
import { EXIT, onReaderGone } from './exit.ts';

export interface Stopper {
  readonly asked: boolean;
  /** Called once, also when the wish came before. */
  onAsked(stop: () => void): void;
  release(): void;
}

/** The first Ctrl-C, or a closed pipe, stops the call and the run; the second ends the program at once. */
export function createStopper(): Stopper {
  let asked = false;
  let stop: (() => void) | null = null;
  const ask = (): void => {
    if (asked) return;
    asked = true;
    stop?.();
  };
  const signalled = (): void => {
    if (asked) process.exit(EXIT.cancelled);
    process.stderr.write('\nStopping. Ctrl-C again ends it at once.\n');
    ask();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, signalled);
  const releaseReader = onReaderGone(ask);
  const releaseParent = onParentGone(() => {
    // Not a second Ctrl-C: a signal to the whole group ends the parent as well.
    if (!asked) signalled();
  });
  return {
    get asked() {
      return asked;
    },
    onAsked(next) {
      stop = next;
      if (asked) next();
    },
    release() {
      for (const signal of signals) process.off(signal, signalled);
      releaseReader();
      releaseParent();
    },
  };
}

/**
 * npm hands a signal to its shell, and the shell ends without handing it on. A changed parent is then all that can be seen of
 * it; without this the run would go on with nobody there.
 */
function onParentGone(leave: () => void): () => void {
  if (process.env['npm_lifecycle_event'] === undefined) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    leave();
  }, PARENT_CHECK_MS).unref();
  return () => clearInterval(timer);
}

const PARENT_CHECK_MS = 300;

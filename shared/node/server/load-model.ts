/** Loads a model without generating, to see the window it runs in before anything is sent. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { ServerStatus } from '../../contract/server.ts';
import { createCancel } from '../../engine/cancel.ts';
import type { Subjects } from './subjects.ts';
import type { ServerWatch } from './server-watch.ts';

/** A large model from a slow disk; a cancel from the screen ends it sooner. */
const LOAD_TIMEOUT_MS = 600_000;

export function createModelLoader(parts: {
  readonly watch: ServerWatch;
  readonly subjects: Subjects;
}): (model: string, numCtx: number | null, signal: AbortSignal) => Promise<Result<ServerStatus>> {
  const { watch, subjects } = parts;
  return async (model, numCtx, signal) => {
    const cancel = createCancel();
    const stop = (): void => cancel.cancel('person');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      // The same door as a call: a cloud model does not get loaded either.
      const subject = await subjects.of(model, cancel.signal);
      if (!subject.ok) return subject;
      const body = { model, stream: false, ...(numCtx === null ? {} : { options: { num_ctx: numCtx } }) };
      const stream = watch.door().stream({ path: '/api/generate', body, timeoutMs: LOAD_TIMEOUT_MS }, cancel.signal);
      for await (const portion of stream) {
        for (const event of portion) {
          if (event.kind === 'end' && event.end.ending !== 'done') {
            return denied(
              'server-error',
              `The model was not loaded: ${event.end.error ?? 'the server gave no reason'}.`,
              {
                field: 'model',
                next: 'Choose another model, or a smaller window.',
              },
            );
          }
        }
      }
      await watch.refreshRunning();
      if (numCtx === null) subjects.learnDefault(model);
      return ok(watch.status());
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };
}

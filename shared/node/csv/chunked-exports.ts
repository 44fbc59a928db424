/**
 * Exports as reads of bounded chunks: lines are made while they are asked for, so a million rows never stand in memory. An export
 * that nobody reads ends by itself.
 */
import { randomBytes } from 'node:crypto';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { ExportOptions } from '../../contract/experiments.ts';
import type { Clock } from '../../engine/ports.ts';

export interface ExportSource<Rows extends number | null = number | null> {
  readonly name: string;
  readonly format: ExportOptions['format'];
  /** null = not counted. */
  readonly rows: Rows;
  /** May throw `ExportStopped`; whatever it holds open it gives back on `return`. */
  readonly lines: Iterable<string> | AsyncIterable<string>;
}

export interface OpenedExport<Rows extends number | null = number | null> {
  readonly exportId: string;
  readonly name: string;
  readonly mime: string;
  readonly rows: Rows;
}

export interface ChunkedExports {
  /** Denied `busy` where too many are open. */
  open<Rows extends number | null>(source: ExportSource<Rows>): Result<OpenedExport<Rows>>;
  /** `done` comes with the last chunk; after it, and after a refusal, the export is gone. */
  read(exportId: string): Promise<Result<{ chunk: string; done: boolean }>>;
}

/** Leaves the lines of an export with a refusal, such as one of the store they come from. */
export class ExportStopped extends Error {
  readonly denial: Denial;
  constructor(denial: Denial) {
    super(denial.message);
    this.denial = denial;
  }
}

export const EXPORTS_MAX = 16;
export const EXPORT_IDLE_MS = 5 * 60_000;
/** UTF-16 units a chunk has at least, unless it is the last. */
export const EXPORT_CHUNK_CHARACTERS = 256 * 1024;

export const mimeOf = (format: ExportOptions['format']): string =>
  format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json';

interface Session {
  readonly lines: Iterator<string> | AsyncIterator<string>;
  usedAtMs: number;
  /** Reads of one export come one after the other, whoever asks. */
  last: Promise<unknown>;
  reading: number;
}

export function createChunkedExports(parts: { readonly clock?: Pick<Clock, 'monotonicMs'> } = {}): ChunkedExports {
  const clock = parts.clock ?? { monotonicMs: () => performance.now() };
  const sessions = new Map<string, Session>();

  function dropIdle(): void {
    const nowMs = clock.monotonicMs();
    for (const [id, session] of sessions) {
      if (session.reading > 0 || nowMs - session.usedAtMs <= EXPORT_IDLE_MS) continue;
      sessions.delete(id);
      // Closes what the lines hold open.
      void Promise.resolve(session.lines.return?.()).catch(() => undefined);
    }
  }

  async function chunkOf(id: string, session: Session): Promise<Result<{ chunk: string; done: boolean }>> {
    if (sessions.get(id) !== session) return ended();
    const pieces: string[] = [];
    let characters = 0;
    try {
      while (characters < EXPORT_CHUNK_CHARACTERS) {
        const asked = session.lines.next();
        // Lines that are there already are not waited for: a turn of the loop for each would cost more than the line.
        const next = asked instanceof Promise ? await asked : asked;
        if (next.done === true) {
          sessions.delete(id);
          return ok({ chunk: pieces.join(''), done: true });
        }
        pieces.push(next.value);
        characters += next.value.length;
      }
    } catch (error) {
      sessions.delete(id);
      if (error instanceof ExportStopped) return { ok: false, denial: error.denial };
      throw error;
    }
    return ok({ chunk: pieces.join(''), done: false });
  }

  return {
    open({ name, format, rows, lines }) {
      dropIdle();
      if (sessions.size >= EXPORTS_MAX)
        return denied('busy', `${EXPORTS_MAX} exports are open.`, { next: 'Wait until one has ended.' });
      const exportId = `export_${randomBytes(12).toString('hex')}`;
      const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
      sessions.set(exportId, {
        lines: iterator,
        usedAtMs: clock.monotonicMs(),
        last: Promise.resolve(),
        reading: 0,
      });
      return ok({ exportId, name, mime: mimeOf(format), rows });
    },
    async read(exportId) {
      dropIdle();
      const session = sessions.get(exportId);
      if (session === undefined) return ended();
      session.reading += 1;
      const chunk = session.last.then(() => chunkOf(exportId, session));
      session.last = chunk.catch(() => undefined);
      try {
        return await chunk;
      } finally {
        session.reading -= 1;
        session.usedAtMs = clock.monotonicMs();
      }
    },
  };
}

function ended(): Result<never> {
  return denied('not-found', 'This export has ended.', { field: 'exportId', next: 'Export again.' });
}

/** Saves a run as a file. Chunks become one Blob as they come, so that a million rows do not stand in memory twice. */
import type { ExportOptions } from '../../shared/contract/experiments.ts';
import type { RunId } from '../../shared/contract/ids.ts';
import { saveFile } from '../components/clipboard.ts';
import { count, counted } from '../format/numbers.ts';
import type { EngineClient } from './engine-store.ts';

/** Strings waiting to be folded into the Blob, which lives outside of the script's memory. */
const CHUNK_CHARACTERS_MAX = 8_000_000;

/**
 * Uses the CSV profile of Settings, or the one given. How many rows and where they went becomes a notice; so does a
 * refusal.
 */
export async function exportRun(
  client: EngineClient,
  runId: RunId,
  format: ExportOptions['format'],
  profile?: Omit<ExportOptions, 'format'>,
): Promise<void> {
  const settings = client.store.getState().settings;
  const opened = await client.request('export.open', {
    runId,
    options: {
      format,
      ...(profile !== undefined
        ? profile
        : settings === null
          ? {}
          : {
              profile: settings.csvProfile,
              separator: settings.csvSeparator,
              decimalMark: settings.csvDecimalMark,
            }),
    },
  });
  if (!opened.ok) {
    client.raiseNotice({ level: 'error', text: opened.denial.message, next: opened.denial.next ?? null });
    return;
  }
  await saveOpened(client, opened.value);
}

export interface OpenedExport {
  readonly exportId: string;
  readonly name: string;
  readonly mime: string;
  /** null = not counted when it was opened; then it is counted while it is read. */
  readonly rows: number | null;
}

/** Reads an export that was opened to its end and saves it; the notice says how many rows and where. */
export async function saveOpened(client: EngineClient, { exportId, name, mime, rows }: OpenedExport): Promise<void> {
  let whole = new Blob([]);
  let waiting: string[] = [];
  let waitingCharacters = 0;
  const counter = rowCounter();
  for (;;) {
    const read = await client.request('export.read', { exportId });
    if (!read.ok) {
      client.raiseNotice({ level: 'error', text: read.denial.message, next: read.denial.next ?? null });
      return;
    }
    waiting.push(read.value.chunk);
    if (rows === null) counter.read(read.value.chunk);
    waitingCharacters += read.value.chunk.length;
    if (waitingCharacters > CHUNK_CHARACTERS_MAX || read.value.done) {
      whole = new Blob([whole, ...waiting]);
      waiting = [];
      waitingCharacters = 0;
    }
    if (read.value.done) break;
  }
  saveFile(name, [whole], mime);
  client.raiseNotice({
    level: 'info',
    text: `${rows === null && mime.includes('json') ? 'All rows' : counted(rows ?? counter.rows(), 'row')} saved as ${name}.`,
    next: `It is in the folder for downloads (${count(whole.size)} bytes).`,
  });
}

/** Rows of a CSV under its head: line ends that stand outside of quotes. */
export function rowCounter(): { read(chunk: string): void; rows(): number } {
  let quoted = false;
  let lines = 0;
  return {
    read: (chunk) => {
      for (const mark of chunk) {
        if (mark === '"') quoted = !quoted;
        else if (mark === '\n' && !quoted) lines += 1;
      }
    },
    rows: () => Math.max(0, lines - 1),
  };
}

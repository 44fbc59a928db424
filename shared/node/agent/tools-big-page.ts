/**
 * Pages that are far too long: ten megabytes as one text, two gigabytes that are stored as they come and never stand in memory
 * whole, and an archive of a few kilobytes that expands. Whatever comes in is measured after it was expanded.
 */
import { createGunzip, gzipSync } from 'node:zlib';
import { createRandom, seedFor } from '../../engine/context-lab/random.ts';
import { done, failed, quoted, takes, textOfField } from '../../engine/agent-lab/lab-tool.ts';
import { type Tool, type ToolAnswer, TOOL_DEFAULTS } from '../../engine/gateway/tool.ts';
import type { CancelSignal } from '../../engine/ports.ts';
import type { BlobWriter } from './blob-folder.ts';
import type { ToolWorld } from './agents.ts';

const HOST = 'pages.example';
export const TEN_MEGABYTES = 10_000_000;
export const TWO_GIGABYTES = 2 * 1024 ** 3;
export const PAGES = {
  tenMegabytes: `https://${HOST}/ten-megabytes`,
  twoGigabytes: `https://${HOST}/two-gigabytes`,
  archive: `https://${HOST}/archive.gz`,
} as const;

/** In nano-dollars. */
const PAGE_WORST = 10_000_000;
const PAGE_PRICE = 4_000_000;
const PAGE_MS = 1_500;
const TIMEOUT_MS = 300_000;

const BLOCK_BYTES = 1_048_576;
/** One member expands to a block; an archive is so many of them in a row. */
const ARCHIVE_MEMBERS = 64;
export const ARCHIVE_EXPANDED_BYTES = ARCHIVE_MEMBERS * BLOCK_BYTES;
/** Where the sentence stands that somebody may look for: on the third page of an output that was cut. */
const SENTENCE_AT = 40_000;

const WORDS =
  'river stone bridge market garden window ladder lantern harbour valley winter summer morning evening paper letter number machine engine signal station border forest meadow island castle village kitchen cellar attic carpet mirror candle basket bottle button needle thread copper silver timber marble pepper barley orchard stable saddle anchor rudder'.split(
    ' ',
  );
const CODE_WORDS = ['HERON', 'MAPLE', 'QUARTZ', 'SAFFRON', 'TUNDRA', 'WALNUT'];

export function bigPageTools(seed: number, world: ToolWorld): Tool[] {
  async function fetchPage(url: string, signal: CancelSignal): Promise<ToolAnswer> {
    await world.sleep(PAGE_MS);
    if (url === PAGES.tenMegabytes) return done(pageText(seed), PAGE_PRICE);
    if (url === PAGES.twoGigabytes) return stored((writer) => writeBlocks(seed, writer, signal));
    if (url === PAGES.archive) return stored((writer) => expand(archive(seed), writer, signal));
    return failed(`404: there is no page ${quoted(url)}.`, { nanoDollars: PAGE_PRICE });
  }

  const stored = (fill: (writer: BlobWriter) => Promise<void>): Promise<ToolAnswer> =>
    world.hold(
      (async () => {
        const writer = await world.blobs.writer();
        // What came in before a fault is closed and counted, too.
        const fault = await fill(writer).then(
          () => null,
          (error: unknown) => error,
        );
        const text = await writer.end();
        if (fault !== null) throw fault instanceof Error ? fault : new Error(String(fault));
        return { text, nanoDollars: PAGE_PRICE, failed: false, retryable: false, lease: null };
      })(),
    );

  return [
    {
      spec: {
        ...TOOL_DEFAULTS,
        name: 'fetch_page',
        description: `Fetches a page of ${HOST}: ${Object.values(PAGES).join(', ')}.`,
        ...takes({ url: 'text' }),
        nanoDollarsWorst: PAGE_WORST,
        latencyMsUsual: PAGE_MS,
        outputBytesUsual: TEN_MEGABYTES,
        timeoutMs: TIMEOUT_MS,
        upstream: HOST,
      },
      invoke: (args, { signal }) => fetchPage(textOfField(args, 'url'), signal),
    },
  ];
}

export const codeWordOf = (seed: number): string => CODE_WORDS[seedFor(seed, 'code word') % CODE_WORDS.length] ?? '';

/** The same block over and over behind its number: text of any length that costs nothing to make. */
function pageText(seed: number): string {
  const block = blockOf(seed);
  const parts: string[] = [];
  for (let at = 0; at * BLOCK_BYTES < TEN_MEGABYTES; at += 1) parts.push(blockHead(at), block.slice(HEAD_BYTES));
  return parts.join('').slice(0, TEN_MEGABYTES);
}

async function writeBlocks(seed: number, writer: BlobWriter, signal: CancelSignal): Promise<void> {
  const block = Buffer.from(blockOf(seed), 'latin1');
  for (let at = 0; at * BLOCK_BYTES < TWO_GIGABYTES; at += 1) {
    if (signal.aborted) return;
    block.write(blockHead(at), 0, 'latin1');
    if (!(await writer.write(block))) return;
  }
}

async function expand(packed: Uint8Array, writer: BlobWriter, signal: CancelSignal): Promise<void> {
  const gunzip = createGunzip({ chunkSize: BLOCK_BYTES });
  gunzip.end(packed);
  // Leaving the loop ends the stream.
  for await (const chunk of gunzip) {
    if (signal.aborted || !(await writer.write(chunk as Uint8Array))) return;
  }
}

export function archive(seed: number): Uint8Array {
  const member = gzipSync(
    Buffer.from(
      blockOf(seed)
        .slice(0, 4_096)
        .repeat(BLOCK_BYTES / 4_096),
      'latin1',
    ),
  );
  return Buffer.concat(Array.from({ length: ARCHIVE_MEMBERS }, () => member));
}

const HEAD_BYTES = 16;
const blockHead = (at: number): string => `Block ${String(at).padStart(HEAD_BYTES - 8, '0')}.\n`;

let lastBlock: { readonly seed: number; readonly text: string } | null = null;

/** ASCII, so that characters are bytes. */
function blockOf(seed: number): string {
  if (lastBlock?.seed === seed) return lastBlock.text;
  const random = createRandom(seedFor(seed, 'big page'));
  const lines: string[] = [];
  let size = 0;
  let isSaid = false;
  while (size < BLOCK_BYTES) {
    const words = Array.from({ length: 12 }, () => WORDS[random.below(WORDS.length)]).join(' ');
    const isDue: boolean = !isSaid && size >= SENTENCE_AT;
    isSaid ||= isDue;
    const line = `${isDue ? `The code word is ${codeWordOf(seed)}. ` : ''}${words}.\n`;
    lines.push(line);
    size += line.length;
  }
  const text = `${blockHead(0)}${lines.join('')}`.slice(0, BLOCK_BYTES);
  lastBlock = { seed, text };
  return text;
}

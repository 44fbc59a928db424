/** What `spillway mcp` does. stdout belongs to the protocol; words go to stderr. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_GUARDS, DEFAULT_LIMITS, type GuardSettings, type NodeLimits } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { createBlobFolder } from '../agent/blob-folder.ts';
import { connectMcpServers } from '../mcp/connect.ts';
import type { Front } from '../mcp/front.ts';
import { type McpFile, readMcpFile } from '../mcp/servers-file.ts';
import { createSession } from '../mcp/session.ts';
import type { ToolHints } from '../mcp/tools.ts';
import { EXIT, type ExitCode, complain } from './exit.ts';
import { plainText } from './plain-text.ts';
import { createStopper } from './stopper.ts';

export interface McpCommandOptions {
  readonly servers: string;
  readonly calls?: string;
  readonly tokens?: string;
  readonly dollars?: string;
  readonly seconds?: string;
  readonly outputBytes?: string;
  readonly atOnce?: string;
  readonly guards: boolean;
}

export async function mcpCommand(options: McpCommandOptions): Promise<ExitCode> {
  const file = await readServersFile(options.servers);
  if (!file.ok) return refuse(file.denial);
  const limits = readLimits(options, file.value.limits);
  if (!limits.ok) return refuse(limits.denial);
  const guards = options.guards ? { ...DEFAULT_GUARDS, ...defined(file.value.guards) } : NO_GUARDS;
  // A folder of this session alone: several may run, and none needs the console's.
  const folder = await mkdtemp(join(tmpdir(), 'spillway-outputs-'));
  const stopper = createStopper();
  try {
    return await serve(file.value, limits.value, guards, folder, stopper);
  } finally {
    stopper.release();
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function serve(
  file: McpFile,
  limits: NodeLimits,
  guards: GuardSettings,
  folder: string,
  stopper: ReturnType<typeof createStopper>,
): Promise<ExitCode> {
  const blobs = createBlobFolder(folder);
  const starting = new AbortController();
  const servers = connectMcpServers(file.servers, { blobs, signal: starting.signal });
  const told: { front: Front | null } = { front: null };
  const session = servers.then((found) => {
    if (!found.ok || found.value.tools.length === 0) return null;
    return createSession({
      tools: found.value.tools,
      toolRules: file.toolRules,
      limits,
      guards,
      blobs,
      approve: async (call) => (await told.front?.approve(call)) ?? false,
      onTrip: (trip) => say(`Guard ${trip.guard} (${trip.stage}): ${trip.text}`),
    });
  });
  const hints = servers.then((found) => (found.ok ? found.value.hints : new Map<string, ToolHints>()));
  const { serveFront } = await import('../mcp/front.ts');
  const front = await serveFront({
    input: process.stdin,
    output: process.stdout,
    limits,
    session,
    hints,
    say,
  });
  told.front = front;
  void servers.then((found) => {
    if (!found.ok) return complain(found.denial.message, found.denial.next);
    for (const problem of found.value.problems) say(problem);
  });

  const endedBy = await Promise.race([
    front.closed.then(() => 'client' as const),
    new Promise<'signal'>((resolve) => stopper.onAsked(() => resolve('signal'))),
    session.then((ready) => (ready === null ? 'no-tools' : new Promise<never>(() => undefined))),
  ]);
  starting.abort();
  await front.close().catch(() => undefined);
  const found = await servers;
  const ready = await session;
  const open = (await ready?.close()) ?? 0;
  if (found.ok) await found.value.close();
  process.stdin.destroy();
  if (open > 0) say(`${open} things that tools started could not be ended.`);
  const { calls, refused } = ready?.used() ?? { calls: 0, refused: 0 };
  say(endedBy === 'no-tools' ? 'No server has tools.' : `Session ended: ${calls} calls, ${refused} refused.`);
  return { client: EXIT.done, signal: EXIT.cancelled, 'no-tools': EXIT.failed }[endedBy];
}

const FILE_BYTES_MAX = 1_000_000;
const NO_GUARDS: GuardSettings = {
  ...DEFAULT_GUARDS,
  stateHash: null,
  identicalCalls: null,
  cycles: null,
  noProgress: null,
  brokenArguments: null,
};

const say = (line: string): void => complain(plainText(line, 1_000));

function refuse(denial: { readonly message: string; readonly next?: string | undefined }): ExitCode {
  complain(plainText(denial.message), denial.next === undefined ? null : plainText(denial.next));
  return EXIT.badInput;
}

async function readServersFile(path: string): Promise<Result<McpFile>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return denied('bad-input', `The servers file cannot be read: ${reason}.`, { next: 'Give another with --servers.' });
  }
  if (text.length > FILE_BYTES_MAX) return denied('bad-input', `${path} is over ${FILE_BYTES_MAX} characters.`);
  const read = readMcpFile(text);
  if (read.ok && Object.keys(read.value.servers).length === 0) {
    return denied('bad-input', `${path} names no server.`, {
      next: 'Give {"mcpServers": {"name": {"command": "…"}}}.',
    });
  }
  return read.ok ? read : { ok: false, denial: { ...read.denial, message: `${path}: ${read.denial.message}` } };
}

/** Flags before the file before the defaults. A client's session lasts as long as its person likes, so time has no limit of itself. */
function readLimits(options: McpCommandOptions, ofFile: Partial<NodeLimits>): Result<NodeLimits> {
  const limits: NodeLimits = { ...DEFAULT_LIMITS, wallClockMs: null, ...defined(ofFile), depth: 0, descendants: 0 };
  const faults: string[] = [];
  const read = (flag: string, text: string | undefined, factor: number, before: number | null): number | null => {
    if (text === undefined) return before;
    if (text === 'none') return null;
    const value = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Math.round(Number(text) * factor) : NaN;
    if (!Number.isSafeInteger(value) || (factor === 1 && text.includes('.'))) faults.push(flag);
    return value;
  };
  const all: NodeLimits = {
    ...limits,
    calls: read('--calls', options.calls, 1, limits.calls),
    tokens: read('--tokens', options.tokens, 1, limits.tokens),
    nanoDollars: read('--dollars', options.dollars, 1e9, limits.nanoDollars),
    wallClockMs: read('--seconds', options.seconds, 1_000, limits.wallClockMs),
    outputBytes: read('--output-bytes', options.outputBytes, 1, limits.outputBytes),
    fanOut: read('--at-once', options.atOnce, 1, limits.fanOut) ?? FAN_OUT_MAX,
  };
  const [fault] = faults;
  if (fault !== undefined) return denied('bad-input', `${fault} takes a number, or none.`, { next: 'Correct it.' });
  if (all.fanOut < 1 || all.fanOut > FAN_OUT_MAX) {
    return denied('bad-input', `--at-once takes a number from 1 to ${FAN_OUT_MAX}.`, { next: 'Correct it.' });
  }
  return ok(all);
}

const FAN_OUT_MAX = 256;

/** A field that is there but undefined would take a default away. */
function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Servers for tests, each with a mark on its command line by which what is left of it can be found. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { type McpServer, mcpServerSchema } from '../../../shared/contract/agents.ts';
import { createCancel, never } from '../../../shared/engine/cancel.ts';
import type { Tool, ToolAnswer } from '../../../shared/engine/gateway/tool.ts';
import { type Json, parseJson } from '../../../shared/engine/guards/canonical.ts';
import type { CancelSignal } from '../../../shared/engine/ports.ts';
import { type BlobFolder, createBlobFolder } from '../../../shared/node/agent/blob-folder.ts';
import { type McpTools, connectMcpServers } from '../../../shared/node/mcp/index.ts';

export { createCancel };

export const packageFile = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/@modelcontextprotocol/${path}`, import.meta.url));
const childFile = fileURLToPath(new URL('./children/misbehaving.ts', import.meta.url));

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-mcp-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whatever the test started has to be gone when it ends; asserted, not only cleaned up. */
export function freshMark(): string {
  const mark = `mark${randomBytes(8).toString('hex')}`;
  onTestFinished(() => expect(processesWith(mark)).toEqual([]));
  return mark;
}

export function processesWith(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(mark) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}

type LocalInput = Partial<Extract<McpServer, { command: string }>>;

export const local = (args: readonly string[], more: LocalInput = {}): McpServer =>
  mcpServerSchema.parse({ command: process.execPath, args, ...more });

export const everything = (mark: string, more: LocalInput = {}): McpServer =>
  local([packageFile('server-everything/dist/index.js'), 'stdio', mark], more);

export const files = (folder: string, more: LocalInput = {}): McpServer =>
  local([packageFile('server-filesystem/dist/index.js'), folder], more);

export const misbehaving = (kind: string, mark: string, file = '', more: LocalInput = {}): McpServer =>
  local([childFile, kind, file, mark], more);

export interface Connected extends McpTools {
  readonly blobs: BlobFolder;
  tool(name: string): Tool;
  call(name: string, args: unknown, signal?: CancelSignal): Promise<ToolAnswer>;
}

/** Connected, and closed when the test ends if it was not before. */
export async function connected(servers: Record<string, McpServer>, startTimeoutMs = 30_000): Promise<Connected> {
  const blobs = createBlobFolder(freshFolder());
  const found = await connectMcpServers(servers, { blobs, startTimeoutMs });
  if (!found.ok) throw new Error(found.denial.message);
  const { tools, problems, hints, close } = found.value;
  onTestFinished(close);
  const tool = (name: string): Tool => {
    const match = tools.find(({ spec }) => spec.name === name);
    if (match === undefined) throw new Error(`no ${name} among ${tools.map(({ spec }) => spec.name).join(', ')}`);
    return match;
  };
  return {
    tools,
    problems,
    hints,
    close,
    blobs,
    tool,
    call: (name, args, signal = never) => tool(name).invoke(json(args), { signal, attempt: 1, nodeId: 'test' }),
  };
}

export function json(value: unknown): Json {
  const parsed = parseJson(JSON.stringify(value));
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.value;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits for what another process does; the limit only ends a test that would never end. */
export async function until(isTrue: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

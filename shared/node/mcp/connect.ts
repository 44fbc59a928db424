/** Real tools for a run: every server of its `mcpServers` started, its tools made tools of the gateway, all of it ended again. */
import type { McpServer } from '../../contract/agents.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { Tool } from '../../engine/gateway/tool.ts';
import type { BlobFolder } from '../agent/blob-folder.ts';
import type { Connection } from './connection.ts';
import { lineOf } from './texts.ts';
import type { ToolHints } from './tools.ts';

export interface McpTools {
  readonly tools: readonly Tool[];
  /** One sentence each, with the server's name: what did not start, which tools are left out. */
  readonly problems: readonly string[];
  /** By tool, what its server says of its effects. */
  readonly hints: ReadonlyMap<string, ToolHints>;
  /** Ends all servers and what they started; resolves when they are gone. May be called again. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Where large results go. */
  readonly blobs: Pick<BlobFolder, 'writer'>;
  /** For one server from start to its list of tools. */
  readonly startTimeoutMs?: number;
  /** Aborting it gives up what is still starting. */
  readonly signal?: AbortSignal;
}

export const MCP_SERVERS_MAX = 20;
const START_MS = 60_000;

/**
 * A server that does not start is a problem and no refusal: the others work. The list of tools is read once; a server that
 * changes it later changes nothing in this run, and a call of a tool that is gone fails with the server's own words.
 */
export async function connectMcpServers(
  servers: Readonly<Record<string, McpServer>>,
  options: ConnectOptions,
): Promise<Result<McpTools>> {
  const named = Object.entries(servers);
  if (named.length > MCP_SERVERS_MAX) {
    return denied('bad-input', `There are ${named.length} MCP servers; at most ${MCP_SERVERS_MAX} can run.`, {
      field: 'mcpServers',
      next: 'Leave some out.',
    });
  }
  if (named.length === 0) return ok({ tools: [], problems: [], hints: new Map(), close: () => Promise.resolve() });
  // The library is loaded only where there is a server.
  const [{ connect }, { toolsOfServer }] = await Promise.all([import('./connection.ts'), import('./tools.ts')]);
  const startTimeoutMs = options.startTimeoutMs ?? START_MS;
  const signal = options.signal ?? new AbortController().signal;
  const started = await Promise.all(named.map(([, server]) => connect(server, { startTimeoutMs, signal })));

  const tools: Tool[] = [];
  const problems: string[] = [];
  const hints = new Map<string, ToolHints>();
  const connections: Connection[] = [];
  const taken = new Set<string>();
  for (const [index, [name]] of named.entries()) {
    const connection = started[index];
    const label = `MCP server ${lineOf(name, 100)}`;
    if (connection === undefined) continue;
    if (!connection.ok) {
      const { message, next } = connection.denial;
      problems.push([`${label}: ${message}`, next].filter(Boolean).join(' '));
      continue;
    }
    connections.push(connection.value);
    const found = toolsOfServer(name, connection.value, options.blobs, taken);
    tools.push(...found.tools);
    for (const [tool, hint] of found.hints) hints.set(tool, hint);
    problems.push(...found.problems.slice(0, PROBLEMS_MAX).map((problem) => `${label}: ${problem}`));
  }
  let closing: Promise<void> | null = null;
  return ok({
    tools,
    problems,
    hints,
    close() {
      closing ??= Promise.all(connections.map((connection) => connection.close())).then(() => undefined);
      return closing;
    },
  });
}

const PROBLEMS_MAX = 20;

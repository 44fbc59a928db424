/** Spillway as an MCP server on two streams: lists the tools behind it, and lets every call through the session's gateway. */
import type { Readable, Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { GatewayCall, NodeLimits } from '../../contract/agents.ts';
import { createCancel } from '../../engine/cancel.ts';
import type { ToolSpec } from '../../engine/gateway/tool.ts';
import { version } from '../version.ts';
import type { ToolHints } from './tools.ts';
import type { Session, SessionAnswer } from './session.ts';
import { lineOf } from './texts.ts';

export interface FrontOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly limits: NodeLimits;
  /** Comes when the servers behind it have started; what is asked before that waits. null = none of them did. */
  readonly session: Promise<Session | null>;
  readonly hints: Promise<ReadonlyMap<string, ToolHints>>;
  /** One line for a person. */
  say(line: string): void;
}

export interface Front {
  /** Resolves when the client has gone, or sent what cannot be read. */
  readonly closed: Promise<void>;
  /** Asks the person at the client; false where it cannot ask. */
  approve(call: GatewayCall): Promise<boolean>;
  close(): Promise<void>;
}

const INPUT_BYTES_MAX = 16 * 1024 ** 2;

export async function serveFront(options: FrontOptions): Promise<Front> {
  const server = new Server(
    { name: 'spillway', version },
    { capabilities: { tools: {} }, instructions: instructionsOf(options.limits) },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const specs = (await options.session)?.specs ?? [];
    const hints = await options.hints;
    return { tools: specs.map((spec) => listedOf(spec, hints.get(spec.name))) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const session = await options.session;
    if (session === null) return { content: [{ type: 'text', text: 'No server is running.' }], isError: true };
    const cancel = createCancel();
    const stop = (): void => cancel.cancel('person');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const before = session.over();
    const answer = await session.call(params.name, params.arguments ?? {}, cancel.signal);
    signal.removeEventListener('abort', stop);
    if (answer.refusal !== null) options.say(refusalLine(params.name, answer.refusal));
    const after = session.over();
    if (before === null && after !== null) options.say(`This session is over: ${after}. Calls are not run any more.`);
    return resultOf(answer);
  });

  const transport = new StdioServerTransport(options.input, options.output, { maxBufferSize: INPUT_BYTES_MAX });
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    // The library does not look at the end of its input, and a client that has gone says nothing else.
    options.input.once('end', resolve);
    options.input.once('close', resolve);
  });
  await server.connect(transport);
  return {
    closed,
    async approve(call) {
      if (server.getClientCapabilities()?.elicitation === undefined) {
        options.say(`${lineOf(call.tool, 100)} has to be allowed by a person, and this client cannot ask one.`);
        return false;
      }
      const answer = await server.elicitInput({
        message: `Allow ${lineOf(call.tool, 100)} ${lineOf(call.argumentsHead, 500)}?`,
        requestedSchema: { type: 'object', properties: {} },
      });
      return answer.action === 'accept';
    },
    close: () => server.close(),
  };
}

function listedOf(
  spec: ToolSpec,
  hints: ToolHints | undefined,
): {
  name: string;
  description: string;
  inputSchema: { type: 'object'; [field: string]: unknown };
  annotations?: ToolHints;
} {
  return {
    name: spec.name,
    description: spec.description,
    inputSchema: { ...spec.parameters, type: 'object' },
    ...(hints === undefined ? {} : { annotations: hints }),
  };
}

function resultOf({ text, isError, refusal }: SessionAnswer): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    ...(isError ? { isError: true } : {}),
    ...(refusal === null ? {} : { structuredContent: { ...refusal } }),
  };
}

function refusalLine(tool: string, { error, message }: Readonly<Record<string, unknown>>): string {
  return `Refused ${lineOf(tool, 100)} (${String(error)}): ${lineOf(String(message), 500)}`;
}

function instructionsOf(limits: NodeLimits): string {
  const said = [
    limits.calls === null ? null : `${limits.calls} calls`,
    limits.tokens === null ? null : `${limits.tokens} tokens of results`,
    limits.nanoDollars === null ? null : `$${limits.nanoDollars / 1e9}`,
    limits.wallClockMs === null ? null : `${Math.round(limits.wallClockMs / 1_000)} seconds`,
    limits.outputBytes === null ? null : `${limits.outputBytes} bytes of one result (the rest is read with read_blob)`,
  ].filter((one) => one !== null);
  const limited = said.length === 0 ? 'There is no limit.' : `The limits of this session: ${said.join(', ')}.`;
  return `${limited} A call over them is not run, and the result says so as JSON.`;
}

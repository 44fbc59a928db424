/** A server's tools as tools of the gateway. Names, descriptions, schemas and hints are what the server says: hostile text. */
import { z } from 'zod';
import { delegateTool } from '../../engine/agent/delegate.ts';
import { READ_BLOB } from '../../engine/gateway/read-blob.ts';
import { type Tool, TOOL_DEFAULTS, type ToolAnswer, textOf } from '../../engine/gateway/tool.ts';
import { type Json, isObject, parseJson, plainOf } from '../../engine/guards/canonical.ts';
import type { BlobFolder } from '../agent/blob-folder.ts';
import type { Connection } from './connection.ts';
import { resultText, storedText } from './results.ts';
import { checkAgainstSchema } from './schema-check.ts';
import { described, lineOf } from './texts.ts';

/** What a server says of a tool's effects; nothing rests on it but who is asked. */
export interface ToolHints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** `taken` holds the names of all servers; a tool that cannot be offered is a problem, and the others are. */
export function toolsOfServer(
  server: string,
  connection: Connection,
  blobs: Pick<BlobFolder, 'writer'>,
  taken: Set<string>,
): { readonly tools: Tool[]; readonly problems: string[]; readonly hints: Map<string, ToolHints> } {
  const hints = new Map<string, ToolHints>();
  const tools: Tool[] = [];
  const problems: string[] = [];
  for (const listed of connection.tools) {
    const read = listedTool.safeParse(listed);
    if (!read.success) {
      problems.push(`One of its tools is left out: ${lineOf(read.error.issues[0]?.message ?? 'not as expected')}.`);
      continue;
    }
    const name = gatewayName(server, read.data.name);
    const fault = faultOf(read.data, name, taken);
    if (fault !== null) {
      problems.push(`The tool ${lineOf(read.data.name, 100)} is left out: ${fault}.`);
      continue;
    }
    taken.add(name);
    const { tool, problem } = toolOf(server, name, read.data, connection, blobs);
    tools.push(tool);
    hints.set(name, hintsOf(read.data));
    if (problem !== null) problems.push(problem);
  }
  if (connection.isCut) problems.push(`It has more tools than the ${connection.tools.length} that were read.`);
  return { tools, problems, hints };
}

/** `server.tool` in the letters that models take, at most NAME_MAX of them. */
export function gatewayName(server: string, tool: string): string {
  const first = wordOf(server).replaceAll('.', '_').slice(0, SERVER_NAME_MAX);
  return `${first}.${wordOf(tool)}`.slice(0, NAME_MAX);
}

const NAME_MAX = 64;
const SERVER_NAME_MAX = 32;
const DESCRIPTION_MAX = 2_000;
const SCHEMA_TEXT_MAX = 600;
const SCHEMA_BYTES_MAX = 32_000;
const SCHEMA_DEPTH_MAX = 32;
const SCHEMA_PARTS_MAX = 2_000;
/** A tool that may be repeated without harm is tried once more. */
const ATTEMPTS_REPEATABLE = 2;
/** The gateway's own tools; a model would take a server's for them. */
const RESERVED = [READ_BLOB, delegateTool(1).spec.name];

const wordOf = (text: string): string => text.trim().replace(/[^A-Za-z0-9_.-]+/g, '_');

const hint = z.boolean().optional().catch(undefined);
const listedTool = z.looseObject({
  name: z.string().min(1).max(1_000),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({}).optional().catch(undefined),
  annotations: z
    .looseObject({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint })
    .optional()
    .catch(undefined),
  execution: z
    .looseObject({ taskSupport: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
type Listed = z.infer<typeof listedTool>;

function faultOf(listed: Listed, name: string, taken: ReadonlySet<string>): string | null {
  const own = wordOf(listed.name).toLowerCase();
  const shadowed = RESERVED.find((reserved) => reserved.toLowerCase() === own);
  if (shadowed !== undefined) return `${shadowed} is a tool of the gateway`;
  if (taken.has(name)) return `there already is a tool ${name}`;
  return listed.execution?.taskSupport === 'required' ? 'it only runs as a task, which is not spoken here' : null;
}

function hintsOf({ annotations = {} }: Listed): ToolHints {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const said = Object.entries({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint });
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

function toolOf(
  server: string,
  name: string,
  listed: Listed,
  connection: Connection,
  blobs: Pick<BlobFolder, 'writer'>,
): { readonly tool: Tool; readonly problem: string | null } {
  const schema = schemaOf(listed.inputSchema);
  const { readOnlyHint, destructiveHint, idempotentHint } = listed.annotations ?? {};
  // What is not said is taken as the protocol has it: a tool may change things, and may destroy some.
  const isReadOnly = readOnlyHint === true;
  const tool: Tool = {
    spec: {
      ...TOOL_DEFAULTS,
      name,
      description: described(listed.description ?? '', DESCRIPTION_MAX),
      parameters: schema.shown,
      upstream: `mcp ${lineOf(server, 100)}`,
      // It may change something, but nothing is known to go on after the call: there is nothing that a lease could end.
      sideEffect: false,
      approval: !isReadOnly && destructiveHint !== false,
      attemptsMax: isReadOnly || idempotentHint === true ? ATTEMPTS_REPEATABLE : 1,
      check: (args) => (isObject(args) ? checkAgainstSchema(schema.checked, args) : 'the arguments must be an object'),
    },
    async invoke(args, { signal }) {
      const stopped = new AbortController();
      const release = signal.onAbort(() => stopped.abort('cancelled'));
      try {
        const end = await connection.call(listed.name, plainOf(args), stopped.signal);
        if (end.kind === 'failed') return failed(`${name} failed: ${end.words}`, end.retryable);
        const { text, failed: hasFailed } = resultText(end.result);
        return {
          text: await storedText(text, blobs),
          nanoDollars: null,
          failed: hasFailed,
          retryable: false,
          lease: null,
        };
      } finally {
        release();
      }
    },
  };
  const problem = schema.isReplaced
    ? `The arguments of ${name} are described at such length that they are neither shown nor checked.`
    : null;
  return { tool, problem };
}

function failed(words: string, retryable: boolean): ToolAnswer {
  return { text: textOf(words), nanoDollars: null, failed: true, retryable, lease: null };
}

/** As the model is told, and as arguments are checked. One that is too large or too deep stands for any object. */
function schemaOf(schema: Readonly<Record<string, unknown>> | undefined): {
  readonly shown: Record<string, unknown>;
  readonly checked: Json;
  readonly isReplaced: boolean;
} {
  const any = { shown: { type: 'object' }, checked: true, isReplaced: true };
  if (schema === undefined) return { ...any, isReplaced: false };
  const work = { parts: 0 };
  const shown = clippedSchema(schema, 0, work);
  if (shown === TOO_LARGE) return any;
  const text = JSON.stringify(shown);
  if (Buffer.byteLength(text) > SCHEMA_BYTES_MAX) return any;
  const parsed = parseJson(text);
  if (!parsed.ok) return any;
  return { shown: shown as Record<string, unknown>, checked: parsed.value, isReplaced: false };
}

const TOO_LARGE = Symbol('too large');

/** The same with texts for people cut short; what is compared with arguments stays as it is. */
function clippedSchema(value: unknown, depth: number, work: { parts: number }): unknown {
  work.parts += 1;
  if (depth > SCHEMA_DEPTH_MAX || work.parts > SCHEMA_PARTS_MAX) return TOO_LARGE;
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => clippedSchema(item, depth + 1, work));
    return items.includes(TOO_LARGE) ? TOO_LARGE : items;
  }
  const clipped: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const isForPeople = FOR_PEOPLE.includes(key) && typeof item === 'string';
    const next = isForPeople ? described(item, SCHEMA_TEXT_MAX) : clippedSchema(item, depth + 1, work);
    if (next === TOO_LARGE) return TOO_LARGE;
    Object.defineProperty(clipped, key.toWellFormed(), {
      value: next,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return clipped;
}

const FOR_PEOPLE = ['description', 'title', '$comment', 'markdownDescription'];

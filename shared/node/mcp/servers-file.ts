/** `mcpServers` as other clients keep it. Fields of theirs that mean nothing here are passed over; a wrong one is named. */
import { z } from 'zod';
import {
  type GuardSettings,
  type McpServer,
  type NodeLimits,
  type ToolRule,
  guardSettingsSchema,
  mcpServerSchema,
  nodeLimitsSchema,
  toolRuleSchema,
} from '../../contract/agents.ts';
import { type Denial, type Result, denialOfIssues, denied, ok } from '../../contract/denials.ts';
import { parseJson, plainOf } from '../../engine/guards/canonical.ts';

export interface McpFile {
  readonly servers: Record<string, McpServer>;
  /** Of `spillway` beside `mcpServers`: prices and limits by tool, and the session's own. */
  readonly toolRules: Record<string, ToolRule>;
  readonly limits: Partial<NodeLimits>;
  readonly guards: Partial<GuardSettings>;
}

/** {"mcpServers": {…}} or the bare map. Faults name server and field, such as `mcpServers.files.command`. */
export function readMcpServers(text: string): Result<{ readonly servers: Record<string, McpServer> }> {
  const read = readMcpFile(text);
  return read.ok ? ok({ servers: read.value.servers }) : read;
}

export function readMcpFile(text: string): Result<McpFile> {
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  if (!parsed.ok) {
    const words =
      parsed.fault === 'DUPLICATE_KEY' ? 'names a field twice' : `is no JSON (${parsed.fault.toLowerCase()})`;
    return denied('bad-input', `The text ${words} at character ${parsed.at + 1}.`, { next: CORRECT });
  }
  const top = plainOf(parsed.value);
  if (!isFields(top)) return denied('bad-input', 'The text is no JSON object.', { next: FORM });
  const isWrapped = Object.hasOwn(top, 'mcpServers');
  const map = isWrapped ? top['mcpServers'] : without(top, ['spillway']);
  if (!isFields(map)) return denied('bad-input', 'mcpServers is no JSON object.', { field: 'mcpServers', next: FORM });
  const servers = readServers(map, isWrapped ? 'mcpServers.' : '');
  if (!servers.ok) return servers;
  const own = ownSchema.safeParse(top['spillway'] ?? {});
  if (!own.success) return { ok: false, denial: under('spillway.', denialOfIssues(own.error)) };
  return ok({ servers: servers.value, ...own.data } as McpFile);
}

const CORRECT = 'Correct it and read it again.';
const FORM = 'Give {"mcpServers": {"name": {"command": "…"}}}.';
const SERVERS_MAX = 50;
const NAME_MAX = 100;
/** What other clients keep beside a server: how they show it, whom they ask. */
const FOREIGN = [
  ...['type', 'transport', 'disabled', 'enabled', 'autoApprove', 'alwaysAllow', 'disabledTools', 'description'],
  ...['timeout', 'name', 'icon', 'iconUrl', 'trust', 'isActive', 'env_file', 'envFile', 'tags', 'gallery', 'version'],
];
const LOCAL = ['stdio', 'local'];
const REMOTE = ['http', 'streamable-http', 'streamableHttp', 'streamable_http', 'remote'];

const ownSchema = z.strictObject({
  toolRules: z.record(z.string().max(300), toolRuleSchema).default({}),
  limits: nodeLimitsSchema.partial().default({}),
  guards: guardSettingsSchema.partial().default({}),
});

function readServers(map: Fields, prefix: string): Result<Record<string, McpServer>> {
  const names = Object.keys(map);
  if (names.length > SERVERS_MAX) {
    return denied('bad-input', `There are ${names.length} servers; at most ${SERVERS_MAX} can be read.`, {
      next: 'Leave some out.',
    });
  }
  const entries: [string, McpServer][] = [];
  for (const name of names) {
    const field = `${prefix}${name.slice(0, NAME_MAX)}`;
    if (name === '' || name.length > NAME_MAX) {
      return denied('bad-input', `${field}: a server's name has 1 to ${NAME_MAX} characters.`, {
        field,
        next: CORRECT,
      });
    }
    const server = readServer(map[name], field);
    if (!server.ok) return server;
    if (server.value !== null) entries.push([name, server.value]);
  }
  // Built from entries: `__proto__` is a name like every other.
  return ok(Object.fromEntries(entries));
}

/** null = switched off. */
function readServer(value: unknown, field: string): Result<McpServer | null> {
  const no = (message: string, at = field, next = CORRECT): Result<never> =>
    denied('bad-input', `${message}.`, { field: at, next });
  if (!isFields(value)) return no(`${field} is no JSON object`, field, FORM);
  if (value['disabled'] === true || value['enabled'] === false || value['isActive'] === false) return ok(null);
  const type = value['type'] ?? value['transport'];
  const isKnown = type === undefined || (typeof type === 'string' && [...LOCAL, ...REMOTE].includes(type));
  if (!isKnown) {
    const at = `${field}.${value['type'] === undefined ? 'transport' : 'type'}`;
    return no(`${at}: only stdio and streamable HTTP are spoken here`, at, 'Use a server of type stdio or http.');
  }
  const own = without(value, FOREIGN);
  const has = (name: string): boolean => Object.hasOwn(own, name);
  if (has('command') && has('url')) return no(`${field} has a command and a url: it is one or the other`);
  if (!has('command') && !has('url')) return no(`${field} has neither a command nor a url`);
  if (has('url') && LOCAL.includes(String(type))) return no(`${field}.type is ${String(type)}, but it has a url`);
  if (has('command') && REMOTE.includes(String(type)))
    return no(`${field}.type is ${String(type)}, but it has a command`);
  const [local, remote] = mcpServerSchema.options;
  const parsed = has('command') ? local.safeParse(own) : remote.safeParse(own);
  if (!parsed.success) return { ok: false, denial: under(`${field}.`, denialOfIssues(parsed.error)) };
  if ('url' in parsed.data && !isWebAddress(parsed.data.url)) {
    return no(`${field}.url is no http or https address`, `${field}.url`);
  }
  return ok(parsed.data);
}

export const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** The same fault, seen from the top of the text. */
function under(prefix: string, denial: Denial): Denial {
  const { field } = denial;
  if (field === undefined)
    return { ...denial, field: prefix.slice(0, -1), message: `${prefix.slice(0, -1)}: ${denial.message}` };
  const message = denial.message.startsWith(field)
    ? `${prefix}${denial.message}`
    : denial.message.replace(field, `${prefix}${field}`);
  return { ...denial, field: `${prefix}${field}`, message };
}

/** Where Redis is, from the text of a setting. The text may hold a password, so no message repeats it. */
import { isAbsolute } from 'node:path';
import { type Result, denied, ok } from '../../contract/denials.ts';

export interface RedisPlace {
  readonly kind: 'server' | 'socket' | 'cluster';
  /** One for a server, one or more seeds for a cluster, none for a socket. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly socketPath: string | null;
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** For messages: hosts and ports, or the path; never who logs in. */
  readonly name: string;
}

/**
 * `redis://[user:password@]host[:port][/database]`, `rediss://` (TLS), `redis-cluster://[user:password@]host:port,host:port`,
 * `unix:///path/to/socket[?database=n]`, or the bare path of a socket.
 */
export function redisPlaceOf(url: string): Result<RedisPlace> {
  const text = url.trim();
  if (/[\u0000-\u001f\u007f]/.test(text)) return bad('holds control characters');
  if (text.startsWith('unix://')) return socketOf(text.slice('unix://'.length));
  if (isAbsolute(text)) return socketOf(text);
  const parts = /^(redis|rediss|redis-cluster):\/\/(?:([^/]*)@)?([^/?#@]+)(?:\/([^/?#]*))?$/.exec(text);
  if (parts === null) return bad('is no address of a Redis');
  const [, scheme = '', login = '', places = '', path = ''] = parts;
  const account = loginOf(login);
  if (account === null) return bad('has a user or password that is not percent-coded well');
  const nodes = places.split(',').map(nodeOf);
  if (nodes.some((node) => node === null)) return bad('has a host or port that is none');
  if (scheme !== 'redis-cluster' && nodes.length > 1) return bad('names several hosts, which only a cluster has');
  if (nodes.length > NODES_MAX) return bad(`names more than ${NODES_MAX} hosts`);
  if (!/^\d{0,5}$/.test(path)) return bad('has a database that is no number');
  if (scheme === 'redis-cluster' && Number(path) > 0) return bad('names a database, and a cluster has only one');
  const known = nodes.filter((node) => node !== null);
  return ok({
    kind: scheme === 'redis-cluster' ? 'cluster' : 'server',
    nodes: known,
    socketPath: null,
    tls: scheme === 'rediss',
    ...account,
    database: Number(path),
    name: known.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(','),
  });
}

const NODES_MAX = 100;
const PORT_DEFAULT = 6379;

function socketOf(text: string): Result<RedisPlace> {
  const [path = '', query = ''] = text.split('?', 2);
  const database = query === '' ? '0' : /^(?:database|db)=(\d{1,5})$/.exec(query)?.[1];
  if (!isAbsolute(path) || path === '/') return bad('is no path of a socket');
  if (database === undefined) return bad('has a database that is no number');
  return ok({
    kind: 'socket',
    nodes: [],
    socketPath: path,
    tls: false,
    username: null,
    password: null,
    database: Number(database),
    name: path,
  });
}

function nodeOf(text: string): { host: string; port: number } | null {
  const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text.trim());
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3] ?? PORT_DEFAULT);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

function loginOf(text: string): { username: string | null; password: string | null } | null {
  const colon = text.indexOf(':');
  const [user, word] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  try {
    const [username, password] = [decodeURIComponent(user), decodeURIComponent(word)];
    return { username: username === '' ? null : username, password: password === '' ? null : password };
  } catch {
    return null;
  }
}

const bad = (what: string): Result<never> =>
  denied('bad-input', `redisUrl ${what}.`, {
    field: 'redisUrl',
    next: 'Use redis://host:6379, rediss://host:6379, redis-cluster://host:7000,host:7001 or unix:///path/to/socket.',
  });

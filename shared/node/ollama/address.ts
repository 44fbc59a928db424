/** Where the server is: OLLAMA_HOST in all its forms, read the way the server reads it, except that a wrong port is an error here. */
import { type Result, denied, ok } from '../../contract/denials.ts';

/**
 * `url` is the base for every path, without a slash at its end; it may carry a user and a password, so show `label` and
 * never `url`. `hosts` are tried in order: both loopback families for localhost, else one. `port` is 1 to 65535.
 */
export interface OllamaAddress {
  readonly url: string;
  readonly label: string;
  readonly protocol: 'http:' | 'https:';
  readonly hosts: readonly string[];
  readonly port: number;
}

export type AddressSource = 'default' | 'OLLAMA_HOST' | 'setting' | 'flag';

export interface ServerAnswer {
  readonly address: OllamaAddress;
  readonly source: AddressSource;
}

/** The first text that is not empty wins: flag, setting, OLLAMA_HOST. A wrong one is refused, never passed over. */
export function resolveServer(from: {
  readonly flag?: string | null | undefined;
  readonly setting?: string | null | undefined;
  readonly env?: string | null | undefined;
}): Result<ServerAnswer> {
  const candidates = [
    { text: from.flag, source: 'flag', field: '--ollama' },
    { text: from.setting, source: 'setting', field: 'ollamaUrl' },
    { text: from.env, source: 'OLLAMA_HOST', field: 'OLLAMA_HOST' },
  ] as const;
  for (const { text, source, field } of candidates) {
    if (text === undefined || text === null || bare(text) === '') continue;
    const address = parseOllamaHost(text);
    return address.ok
      ? ok({ address: address.value, source })
      : { ok: false, denial: { ...address.denial, field, message: `${field}: ${address.denial.message}` } };
  }
  const address = parseOllamaHost('');
  return address.ok ? ok({ address: address.value, source: 'default' }) : address;
}

/**
 * `host`, `:port`, `host:port`, `http(s)://…`, with a path, IPv6 with or without brackets, quotes and blanks around. Without a
 * scheme the port is 11434, with one it is 80 or 443. 0.0.0.0 and [::] are where a server listens; a client goes to loopback.
 */
export function parseOllamaHost(text: string): Result<OllamaAddress> {
  const plain = bare(text);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(plain)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    return wrong(`${scheme}:// is not a scheme of Ollama`, 'Use http:// or https://.');
  }
  const rest = scheme === undefined ? plain : plain.slice(scheme.length + 3);
  if (/\s/.test(rest)) return wrong('the address has a blank in it', 'Write it like 127.0.0.1:11434.');
  if (/[?#\\]/.test(rest)) return wrong('the address ends before ? or #', 'Write it like http://127.0.0.1:11434.');
  const slash = rest.indexOf('/');
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? '' : rest.slice(slash).replace(/\/+$/, '');
  if (/["'<>{}|^`]|\/\//.test(path))
    return wrong(`${path} is not a path`, 'Write it like http://127.0.0.1:11434/path.');
  const at = authority.lastIndexOf('@');
  const split = splitPort(authority.slice(at + 1));
  if (split === null) return wrong('the port must be a number from 1 to 65535', 'Write it like 127.0.0.1:11434.');
  if (scheme === undefined && split.port === null && /^\d+$/.test(split.host)) {
    return wrong(`${split.host} alone is no host`, `Write :${split.host} if that is the port.`);
  }
  const secure = scheme === 'https' || (scheme === undefined && split.host.toLowerCase() === 'ollama.com');
  const port = split.port ?? (scheme === undefined && !secure ? 11434 : secure ? 443 : 80);
  return build(secure ? 'https:' : 'http:', at < 0 ? '' : authority.slice(0, at), split.host, port, path);
}

function build(
  protocol: 'http:' | 'https:',
  credentials: string,
  hostText: string,
  port: number,
  path: string,
): Result<OllamaAddress> {
  const wanted = hostText === '' ? '127.0.0.1' : hostText;
  const text = `${protocol}//${wanted.includes(':') ? `[${wanted}]` : wanted}`;
  if (!URL.canParse(text)) return wrong(`${wanted} is not a host name or address`, 'Write it like 127.0.0.1:11434.');
  const parsed = new URL(text).hostname;
  const host = parsed === '0.0.0.0' ? '127.0.0.1' : parsed === '[::]' ? '[::1]' : parsed;
  // The URL parser drops default ports; the client package and the Host header want them said.
  const label = `${host}:${port}`;
  return ok({
    url: `${protocol}//${credentials === '' ? '' : `${credentials}@`}${label}${path}`,
    label: `${protocol === 'https:' ? 'https://' : ''}${label}${path}`,
    protocol,
    hosts: host === 'localhost' ? ['127.0.0.1', '::1'] : [host.replace(/^\[|\]$/g, '')],
    port,
  });
}

/** null = there is a port, and it is wrong. A text with several colons and no brackets is an IPv6 address without a port. */
function splitPort(authority: string): { host: string; port: number | null } | null {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(authority);
  if (bracketed !== null) return withPort(bracketed[1] ?? '', bracketed[2]);
  const colons = authority.split(':').length - 1;
  if (colons !== 1) return { host: authority, port: null };
  const [host = '', port] = authority.split(':');
  return withPort(host, port);
}

function withPort(host: string, text: string | undefined): { host: string; port: number | null } | null {
  if (text === undefined || text === '') return { host, port: null };
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65535 ? { host, port } : null;
}

function bare(text: string): string {
  return text
    .trim()
    .replace(/^["']+|["']+$/g, '')
    .trim();
}

function wrong(what: string, next: string): Result<OllamaAddress> {
  return denied('bad-input', `That is not the address of a server: ${what}.`, { next });
}

/**
 * Who may talk to the browser host. A page of another site can make a browser send requests here, also under a name of its
 * own that it points at this machine; so Host and Origin are compared as a whole, and the session cookie is needed on top.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** 192 bits. */
const SECRET_BYTES = 24;

export interface WebGuard {
  /** The token of the printed link. */
  readonly token: string;
  /** `Set-Cookie` for a browser that came with the token. Not the token itself: a cookie goes to every port of this host. */
  readonly setCookie: string;
  isHost(host: string | undefined): boolean;
  /** The page's own origin, and nothing that only looks like it. */
  isOrigin(origin: string, host: string): boolean;
  isToken(given: string): boolean;
  hasSession(cookieHeader: string | undefined): boolean;
}

/** `address` is where the host listens: loopback, or what was asked for. */
export function createWebGuard(address: string, port: number): WebGuard {
  const hosts = new Set(hostNamesOf(address).map((name) => hostHeader(name, port)));
  const token = secret();
  const session = secret();
  // Cookies do not know ports: two consoles on one machine keep theirs apart by name.
  const cookieName = `spillway-${port}`;

  return {
    token,
    setCookie: `${cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`,
    isHost: (host) => host !== undefined && hosts.has(host),
    isOrigin: (origin, host) => hosts.has(host) && originOf(origin) === `http://${host}`,
    isToken: (given) => isSame(given, token),
    hasSession: (cookieHeader) => cookiesNamed(cookieName, cookieHeader ?? '').some((value) => isSame(value, session)),
  };
}

/** `host:port` as a browser writes it: no port where it is 80, brackets around IPv6. */
export function hostHeader(name: string, port: number): string {
  const bracketed = isIP(name) === 6 ? `[${name}]` : name;
  return port === 80 ? bracketed : `${bracketed}:${port}`;
}

export function isLoopback(address: string): boolean {
  return address === '::1' || address === 'localhost' || (isIP(address) === 4 && address.startsWith('127.'));
}

/** Names only of this machine, never a DNS name: that one could belong to anybody. */
function hostNamesOf(address: string): string[] {
  const loopback = ['127.0.0.1', 'localhost', '::1'];
  if (address !== '0.0.0.0' && address !== '::') return [...loopback, address];
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address));
  return [...loopback, ...own];
}

/** null unless the text is exactly an origin: `null`, a path, a user name or a second spelling do not pass. */
function originOf(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && url.origin === text ? url.origin : null;
}

function cookiesNamed(name: string, header: string): string[] {
  return header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
}

/** Takes the same time for every wrong text, whatever its length. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

const secret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

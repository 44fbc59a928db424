/** Headers of every answer, and the one page that the host writes by itself. */
import { createHash } from 'node:crypto';

/** `host` is the Host header after it was found to be ours; older browsers want the WebSocket address spelled out. */
export function pageHeaders(host: string): Record<string, string> {
  return {
    'content-security-policy': policy({
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data: blob:",
      'font-src': "'self'",
      'connect-src': `'self' ws://${host}`,
    }),
    ...commonHeaders,
  };
}

/** For what has no page around it: refusals and the sign-in page. */
export function bareHeaders(): Record<string, string> {
  return {
    'content-security-policy': policy({ 'style-src': `'sha256-${signInStyleHash}'` }),
    'cache-control': 'no-store',
    ...commonHeaders,
  };
}

/** The policy of the desktop window, whose page talks to nobody over a socket. */
export function desktopPolicy(): string {
  return policy({
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
  });
}

/** Shown where the session cookie is missing: a new browser, or an old tab after a new start. */
export function signInPage(problem: 'no-token' | 'wrong-token'): string {
  const sentence =
    problem === 'wrong-token'
      ? 'This link is from an earlier start. Open the one that Spillway printed last.'
      : 'Open the link that Spillway printed in the terminal when it started. It lets this browser in.';
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Spillway</title>' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    `<style>${signInStyle}</style></head><body><main><h1>Spillway</h1><p>${sentence}</p>` +
    '<p>No terminal at hand? Start it again with <code>npm run web</code>.</p></main></body></html>\n'
  );
}

const signInStyle =
  'body{font:15px/1.5 system-ui,sans-serif;margin:0;display:grid;place-items:center;min-height:100vh}main{max-width:30em;padding:24px}h1{font-size:20px}';
const signInStyleHash = createHash('sha256').update(signInStyle).digest('base64');

const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), payment=()',
};

function policy(sources: Record<string, string>): string {
  const fixed = { 'base-uri': "'none'", 'form-action': "'none'", 'frame-ancestors': "'none'" };
  return Object.entries({ 'default-src': "'none'", ...sources, ...fixed })
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

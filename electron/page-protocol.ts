/** Serves the built renderer below spillway://app/, with the headers that a web server would send. */
import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { desktopPolicy } from '../shared/node/rpc/web-pages.ts';
import { isOwnPage } from './page-address.ts';

export function createPageHandler(rendererFolder: string): (request: Request) => Promise<Response> {
  return async (request) => {
    const file = fileOf(rendererFolder, request);
    if (file === null) return answer(404, 'There is nothing here.\n', 'text/plain');
    const type = contentTypes[extname(file).toLowerCase()];
    if (type === undefined) return answer(404, 'There is nothing here.\n', 'text/plain');
    try {
      return answer(200, new Uint8Array(await readFile(file)), type);
    } catch {
      return answer(404, 'There is nothing here.\n', 'text/plain');
    }
  };
}

/** null for anything that is not a file below the folder. */
function fileOf(rendererFolder: string, request: Request): string | null {
  if (request.method !== 'GET' || !isOwnPage(request.url)) return null;
  let path: string;
  try {
    path = decodeURIComponent(new URL(request.url).pathname);
  } catch {
    return null;
  }
  if (path.includes('\0') || path.includes('\\')) return null;
  const file = join(rendererFolder, path === '/' ? 'index.html' : path);
  return file.startsWith(rendererFolder.endsWith(sep) ? rendererFolder : rendererFolder + sep) ? file : null;
}

function answer(status: number, body: BodyInit, type: string): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': type,
      'content-security-policy': desktopPolicy(),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
    },
  });
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

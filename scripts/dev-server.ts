/** Vite in front, the browser host behind it. Only pages of the dev server itself get through to the host. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createServer } from 'vite';
import type { ProxyOptions } from 'vite';
import { startWebHost } from '../shared/node/rpc/web-host.ts';
import { createRuntime } from '../shared/node/runtime.ts';
import { root } from './builds.ts';

const DEV_PORT = 5_173;

/** Runs until Ctrl-C. Answers the exit code. */
export async function dev(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { simulate: { type: 'boolean' }, home: { type: 'string' }, ollama: { type: 'string' } },
  });
  const runtime = await createRuntime({
    host: 'browser',
    home: values.home,
    simulate: values.simulate,
    ollamaUrl: values.ollama,
  });
  if (!runtime.ok) return refuse(runtime.denial.message);
  const host = await startWebHost({ door: runtime.value, rendererFolder: join(root, 'dist/renderer'), port: 0 });
  if (!host.ok) return refuse(host.denial.message);
  const cookie = await signIn(host.value.link);
  const origin = `http://127.0.0.1:${DEV_PORT}`;
  const server = await createServer({
    configFile: join(root, 'vite.config.ts'),
    server: {
      host: '127.0.0.1',
      port: DEV_PORT,
      strictPort: true,
      proxy: { '/ws': behind(host.value.url, cookie, origin), '/session': behind(host.value.url, cookie, origin) },
    },
  });
  await server.listen();
  process.stdout.write(`The page with hot reload is at ${origin}/ (host: ${host.value.url}). Ctrl-C stops both.\n`);
  await new Promise<void>((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await server.close();
  await host.value.stop();
  await runtime.value.stop();
  return 0;
}

/** The proxy signs in by itself; so it must look at the origin, or any page on this machine would be signed in too. */
function behind(url: string, cookie: string, origin: string): ProxyOptions {
  const hostOrigin = url.replace(/\/$/u, '');
  return {
    target: hostOrigin,
    changeOrigin: true,
    ws: true,
    headers: { cookie, origin: hostOrigin },
    configure: (proxy) => {
      proxy.on('proxyReqWs', (_outgoing, request, socket) => {
        if (request.headers.origin !== origin) socket.destroy();
      });
    },
  };
}

async function signIn(link: string): Promise<string> {
  const answer = await fetch(link);
  return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

function refuse(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}

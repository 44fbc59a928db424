/** The browser host as a program: reads its options, starts engine and page, prints the link, stops on Ctrl-C. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { denied, ok } from '../../contract/denials.ts';
import type { Denial, Result } from '../../contract/denials.ts';
import { isLoopback } from '../rpc/web-guard.ts';
import { startWebHost, WEB_PORT } from '../rpc/web-host.ts';
import type { WebHost } from '../rpc/web-host.ts';
import { createRuntime } from '../runtime.ts';

/** After this, a stop that hangs is ended the hard way. */
const STOP_MS_MAX = 10_000;

export async function web(args: readonly string[]): Promise<number> {
  const options = readWebOptions(args);
  if (!options.ok) return fail(options.denial);
  if (options.value.help) {
    process.stdout.write(helpText);
    return 0;
  }
  // From here on Ctrl-C is a wish, also while things are still starting.
  const stopAsked = stopSignal();
  const { home, simulate, ollama, log, address, port } = options.value;
  const runtime = await createRuntime({ host: 'browser', home, simulate, ollamaUrl: ollama, serverLog: log });
  if (!runtime.ok) return fail(runtime.denial);
  const host = await startWebHost({
    door: runtime.value,
    rendererFolder: rendererFolder(),
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
  });
  if (!host.ok) {
    await runtime.value.stop();
    return fail(host.denial);
  }
  // The folder of the lock is the owner's alone; a second start can then name a link that works.
  runtime.value.announce(host.value.link);
  announce(host.value, address);
  if (options.value.open && canOpen(process.env)) await openLink(host.value.link);
  await stopAsked;
  process.stderr.write('Stopping. Ctrl-C again ends it at once.\n');
  setTimeout(() => process.exit(1), STOP_MS_MAX).unref();
  await host.value.stop();
  await runtime.value.stop();
  return 0;
}

export interface WebOptions {
  readonly help: boolean;
  readonly simulate: boolean;
  readonly open: boolean;
  readonly home: string | undefined;
  readonly ollama: string | undefined;
  readonly log: string | undefined;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** Unknown options and bad values are named. */
export function readWebOptions(args: readonly string[]): Result<WebOptions> {
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options: known, allowPositionals: false, allowNegative: true }));
  } catch (error) {
    // The first sentence names the option; the others explain the parser.
    const [sentence = ''] = String(error instanceof Error ? error.message : error).split(/\.\s|\n/u);
    return denied('bad-input', `${sentence.replace(/\.$/u, '')}.`, { next: 'See --help.' });
  }
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(/^\d+$/u.test(values.port ?? '') && port <= 65_535)) {
    return denied('bad-input', `--port must be a whole number from 0 to 65,535, not ${values.port ?? ''}.`, {
      field: '--port',
      next: 'Leave it out to use 11480 or the next free one.',
    });
  }
  for (const name of ['home', 'ollama', 'log', 'host'] as const) {
    if (values[name]?.trim() === '')
      return denied('bad-input', `--${name} is empty.`, {
        field: `--${name}`,
        next: 'Give it a value or leave it out.',
      });
  }
  return ok({
    help: values.help ?? false,
    simulate: values.simulate ?? false,
    open: values.open ?? true,
    home: values.home,
    ollama: values.ollama,
    log: values.log,
    address: values.host,
    port,
  });
}

const known = {
  help: { type: 'boolean', short: 'h' },
  simulate: { type: 'boolean' },
  open: { type: 'boolean' },
  home: { type: 'string' },
  ollama: { type: 'string' },
  log: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
} as const;

const helpText = `Spillway in the browser.

  --simulate        use the built-in simulator instead of an Ollama
  --ollama URL      the Ollama to use (default: OLLAMA_HOST, else http://127.0.0.1:11434)
  --log FILE        the server's log, for exact verdicts: a file, journal, serve (start ollama here), or off
  --port N          listen on this port (default: ${WEB_PORT}, or the next free one; 0: any)
  --host ADDRESS    listen on this address (default: 127.0.0.1, this machine only)
  --home FOLDER     keep data here (default: SPILLWAY_HOME, else the platform's folder)
  --no-open         do not open a browser
`;

function announce(host: WebHost, address: string | undefined): void {
  if (host.note !== null) process.stdout.write(`${host.note}\n`);
  if (address !== undefined && !isLoopback(address)) {
    process.stdout.write(`It listens on ${address}: whoever can reach this machine and has the link can use it.\n`);
  }
  process.stdout.write(`Spillway is at ${host.link}\nCtrl-C stops it.\n`);
}

/** Tests and CI have nobody to look at it; a Linux without a display has nothing to open it with. */
export function canOpen(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): boolean {
  if (environment.CI !== undefined && environment.CI !== '' && environment.CI !== 'false') return false;
  return platform !== 'linux' || Boolean(environment.DISPLAY) || Boolean(environment.WAYLAND_DISPLAY);
}

async function openLink(link: string): Promise<void> {
  const { default: open } = await import('open');
  try {
    const started = await open(link);
    // The opener may be missing; the link is on the screen anyway.
    started.once('error', () => undefined);
  } catch {
    process.stdout.write('No browser could be opened. Open the link yourself.\n');
  }
}

/** Resolves with the first signal; the second one ends the process. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (): void => {
      if (isStopping) process.exit(130);
      isStopping = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  });
}

/** Beside the build when this runs from it, else where the build of this checkout is. */
function rendererFolder(): string {
  const [built, sources] = ['../renderer/', '../../../dist/renderer/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return (built !== undefined && existsSync(built) ? built : sources) ?? '';
}

/** Prints what went wrong and the next step. Answers the exit code. */
function fail(denial: Denial): number {
  process.stderr.write(`${denial.message}${denial.next === undefined ? '' : ` ${denial.next}`}\n`);
  return denial.code === 'bad-input' ? 2 : 1;
}

/** The builds by name, what each is made from, and whether it is older than that. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));

export interface Build {
  readonly config: string;
  /** The file that the build writes, by whose age it is judged. */
  readonly result: string;
  /** Files and folders below the root that it is made from. */
  readonly sources: readonly string[];
}

export const builds = {
  renderer: {
    config: 'vite.config.ts',
    result: 'dist/renderer/index.html',
    sources: ['renderer', 'shared/contract', 'vite.config.ts', 'package-lock.json'],
  },
  main: {
    config: 'vite.main.config.ts',
    result: 'dist/electron/main.js',
    sources: ['electron', 'shared', 'vite.main.config.ts', 'package-lock.json'],
  },
  preload: {
    config: 'vite.preload.config.ts',
    result: 'dist/electron/preload.cjs',
    sources: ['electron', 'vite.preload.config.ts'],
  },
  node: {
    config: 'vite.node.config.ts',
    result: 'dist/node/cli.js',
    sources: ['shared', 'vite.node.config.ts', 'package-lock.json'],
  },
} satisfies Record<string, Build>;

export type BuildName = keyof typeof builds;

export const isStale = (name: BuildName): boolean => isOlderThanSources(root, builds[name]);

/** True when the result is missing or anything it is made from is newer. A few hundred file times: some milliseconds. */
export function isOlderThanSources(folder: string, { result, sources }: Build): boolean {
  const file = join(folder, result);
  if (!existsSync(file)) return true;
  const builtMs = statSync(file).mtimeMs;
  return sources.some((source) => existsSync(join(folder, source)) && newestMs(join(folder, source)) > builtMs);
}

/** Builds in the order given. Vite is loaded only here: an installation without it can still use what is built. */
export async function build(names: readonly BuildName[]): Promise<void> {
  const vite = await import('vite');
  for (const name of names) {
    await vite.build({
      configFile: join(root, builds[name].config),
      root: name === 'renderer' ? join(root, 'renderer') : root,
      logLevel: 'warn',
    });
  }
}

/** Builds what is stale, and says so once before it takes its time. */
export async function buildStale(names: readonly BuildName[]): Promise<void> {
  // The main build empties the folder that the preload stands in.
  const stale = names.filter((name) => isStale(name));
  if (stale.includes('main') && names.includes('preload') && !stale.includes('preload')) stale.push('preload');
  if (stale.length === 0) return;
  process.stdout.write('Building the page. This takes a few seconds, and only after a change.\n');
  // In a process of its own: a bundler's memory would stay with the host for as long as it runs.
  const script = fileURLToPath(new URL('./build.ts', import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', script, ...stale], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A test runner sets NODE_ENV to test, and the page would be a development build.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === 0) return;
  process.stderr.write('The build failed; npm run build says more.\n');
  process.exit(1);
}

function newestMs(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), found.mtimeMs);
}

/** The browser host of this checkout, from its sources. */
import { buildStale } from './builds.ts';

/** Answers the exit code. */
export async function runWebHost(args: readonly string[]): Promise<number> {
  // Asking for help or with a typing error needs no page.
  if (!args.includes('--help') && !args.includes('-h')) await buildStale(['renderer']);
  // By address: a bin belongs to itself, and nothing is compiled against it.
  const { runWeb } = (await import(new URL('../shared/node/bin/web.ts', import.meta.url).href)) as {
    runWeb(args: readonly string[]): Promise<number>;
  };
  return runWeb(args);
}

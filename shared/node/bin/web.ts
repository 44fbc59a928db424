/** `npm run web`, `spillway web`: the browser host. Looks at Node first; everything else is loaded after that. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { requireNode } from '../require-node.ts';

/** Runs until it is stopped. Answers the exit code: 0 stopped, 1 failed, 2 bad input. */
export async function runWeb(args: readonly string[]): Promise<number> {
  requireNode();
  const { web } = await import('./web-command.ts');
  return web(args);
}

// Other entries import this file; only as the program itself does it start.
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await runWeb(process.argv.slice(2));
}

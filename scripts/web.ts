/** `npm run web`: builds the page where it is missing or older than its sources, then runs the browser host. */
import { requireNode } from './require-node.ts';

requireNode();
const { runWebHost } = await import('./run-web-host.ts');
process.exitCode = await runWebHost(process.argv.slice(2));

/** `npm run dev`: the page from its sources with hot reload, in front of a browser host. Takes the options of `npm run web`. */
import { requireNode } from './require-node.ts';

requireNode();
const { dev } = await import('./dev-server.ts');
process.exitCode = await dev(process.argv.slice(2));

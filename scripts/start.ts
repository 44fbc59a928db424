/** `npm start`: the desktop where Electron is there, else one line that says so, and the browser host. */
import { requireNode } from './require-node.ts';

requireNode();
const { start } = await import('./start-host.ts');
process.exitCode = await start(process.argv.slice(2));

/** `npm run build`: everything that is packaged or installed. Names of builds as arguments build only those. */
import { requireNode } from './require-node.ts';

requireNode();
const { build, builds } = await import('./builds.ts');
type BuildName = keyof typeof builds;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(builds, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no build ${unknown.join(', ')}. Choose from ${Object.keys(builds).join(', ')}.\n`);
  process.exit(2);
}
const names = (asked.length > 0 ? asked : Object.keys(builds)) as BuildName[];
const startedMs = performance.now();
await build(names);
process.stdout.write(`Built ${names.join(', ')} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.\n`);

/** `npm run bench [-- NAME...]`: each figure beside its limit, measured in the same run. */
import { requireNode } from '../../shared/node/require-node.ts';

requireNode();
const { print } = await import('./figures.ts');

const benches = {
  csv: async () => (await import('./csv.bench.ts')).benchCsv(),
  screen: async () => (await import('./screen.bench.ts')).benchScreen(),
  engine: async () => (await import('./engine-token.bench.ts')).benchEngineToken(),
  ledger: async () => [
    ...(await (await import('./ledger.bench.ts')).benchLedger()),
    ...(await (await import('./ledger-redis.bench.ts')).benchRedisLedger()),
  ],
} as const;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.\n`);
  process.exit(2);
}
for (const [name, run] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) print(await run());
}

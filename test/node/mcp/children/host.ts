/** A process that has a server and is killed: `host.ts FILE MARK`. Says one line when the server runs. */
import { fileURLToPath } from 'node:url';
import { mcpServerSchema } from '../../../../shared/contract/agents.ts';
import { connectMcpServers } from '../../../../shared/node/mcp/index.ts';

const [file = '', mark = ''] = process.argv.slice(2);
const server = fileURLToPath(new URL('./misbehaving.ts', import.meta.url));
const found = await connectMcpServers(
  { s: mcpServerSchema.parse({ command: process.execPath, args: [server, 'ignores-sigterm-alone', file, mark] }) },
  { blobs: { writer: () => Promise.reject(new Error('not used')) } },
);
process.stdout.write(`${found.ok ? found.value.tools.length : 'none'}\n`);
setInterval(() => undefined, 1_000);

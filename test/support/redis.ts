/** A real Redis of its own for a test, on a socket or a free port of loopback, and a cluster of three. Nothing is kept on disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface RedisServer {
  /** As the setting has it. */
  readonly url: string;
  /** For looking and breaking, beside the store under test. */
  readonly client: Redis;
  /** kill -9. */
  kill(): Promise<void>;
  /** Stopped where it stands, so that nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** At the same place again, empty. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedis({
  tcp = false,
  port: wanted = null,
  options = [],
}: {
  readonly tcp?: boolean;
  readonly port?: number | null;
  readonly options?: readonly string[];
} = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-redis-'));
  const socketPath = join(folder, 's');
  const port = wanted ?? (tcp ? await freePort() : 0);
  const start = (): ChildProcess =>
    run(folder, ['--port', String(port), '--unixsocket', socketPath, '--appendonly', 'no', ...options]);
  let server = start();
  const client = new Redis({ path: socketPath, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => undefined);
  await answering(client);
  const kill = async (): Promise<void> => {
    const gone = exitOf(server);
    server.kill('SIGKILL');
    await gone;
  };
  return {
    url: port > 0 ? `redis://127.0.0.1:${port}` : `unix://${socketPath}`,
    client,
    kill,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async restart() {
      server = start();
      await answering(client);
    },
    async close() {
      client.disconnect();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface RedisClusterNodes {
  readonly url: string;
  readonly nodes: readonly Redis[];
  kill(index: number): Promise<void>;
  close(): Promise<void>;
}

/** Three primaries that share the slots, without replicas. */
export async function startCluster(): Promise<RedisClusterNodes> {
  const folders: string[] = [];
  const servers: ChildProcess[] = [];
  const nodes: Redis[] = [];
  const ports: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-cluster-'));
    const port = await freePort();
    folders.push(folder);
    ports.push(port);
    // The bus has a port of its own, by default 10,000 above, which may be none.
    const bus = ['--cluster-port', String(await freePort()), '--cluster-node-timeout', '2000'];
    servers.push(run(folder, ['--port', String(port), '--cluster-enabled', 'yes', '--appendonly', 'no', ...bus]));
    const node = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 20 });
    node.on('error', () => undefined);
    nodes.push(node);
  }
  await Promise.all(nodes.map(answering));
  const thirds = [0, 5_461, 10_923, 16_384];
  await Promise.all(
    nodes.map((node, index) =>
      node.call('CLUSTER', 'ADDSLOTSRANGE', String(thirds[index]), String((thirds[index + 1] ?? 0) - 1)),
    ),
  );
  const buses = await Promise.all(nodes.map(async (node) => /@(\d+)/.exec(String(await node.cluster('NODES')))?.[1]));
  for (const [index, port] of ports.entries()) {
    await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', String(port), buses[index] ?? '');
  }
  await until(async () => {
    const infos = await Promise.all(nodes.map(async (node) => String(await node.cluster('INFO'))));
    return infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'));
  });
  const kill = async (index: number): Promise<void> => {
    const server = servers[index];
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = exitOf(server);
    server.kill('SIGKILL');
    await gone;
  };
  return {
    url: `redis-cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    kill,
    async close() {
      for (const node of nodes) node.disconnect();
      await Promise.all(servers.map((_server, index) => kill(index)));
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Asks until it is so; throws after ten seconds. */
export async function until(so: () => boolean | Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < 10_000;) {
    if (await so()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('what was waited for did not come');
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

const running = new Set<ChildProcess>();
// A test that fails before it closes its server leaves none behind.
process.on('exit', () => {
  for (const server of running) server.kill('SIGKILL');
});

function run(folder: string, options: readonly string[]): ChildProcess {
  const server = spawn('redis-server', ['--bind', '127.0.0.1', '--save', '', '--dir', folder, ...options], {
    stdio: 'ignore',
  });
  running.add(server);
  server.once('exit', () => running.delete(server));
  return server;
}

const exitOf = (server: ChildProcess): Promise<unknown> =>
  server.exitCode !== null || server.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => server.once('exit', resolve));

async function answering(client: Redis): Promise<void> {
  await until(async () => {
    try {
      return (await client.ping()) === 'PONG';
    } catch {
      return false;
    }
  });
}

/** The contract that a real server is checked against, here against the simulator: newest rules, and the ones before the halving. */
import { afterAll } from 'vitest';
import { type Simulator, startSimulator } from '../../../shared/node/simulator/index.ts';
import { contractSuite } from '../../ollama/suite.ts';

for (const version of ['0.33.0-rc2', '0.24.0']) {
  const started: Simulator[] = [];
  afterAll(async () => {
    for (const simulator of started) await simulator.stop();
  });
  contractSuite(`simulator ${version}`, async () => {
    // Fast, but not at once: a call that is over before the cancel arrives would prove nothing.
    const simulator = await startSimulator({ port: 0, version, timeScale: 0.2 });
    started.push(simulator);
    return { url: simulator.url, seenAborts: () => simulator.aborted.length };
  });
}

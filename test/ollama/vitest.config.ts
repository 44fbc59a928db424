import { defineConfig } from 'vitest/config';
import { requireNode } from '../../scripts/require-node.ts';

requireNode();

const host = (process.env.OLLAMA_HOST ?? '').trim();
if (host === '') {
  process.stdout.write(
    'OLLAMA_HOST is not set, so there is no server to check: set it, such as OLLAMA_HOST=127.0.0.1:11434.\n',
  );
}

export default defineConfig({
  test: {
    include: host === '' ? [] : ['test/ollama/contract.test.ts'],
    passWithNoTests: true,
    reporters: ['verbose', './test/support/closing-line.ts'],
    // One server, one model: calls side by side would only wait for each other.
    maxWorkers: 1,
    hookTimeout: 300_000,
  },
});

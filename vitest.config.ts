import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { requireNode } from './scripts/require-node.ts';

requireNode();

export default defineConfig({
  // Importing the real electron package in plain Node starts a download; tests get a typed fake.
  resolve: { alias: { electron: fileURLToPath(new URL('./test/support/electron-fake.ts', import.meta.url)) } },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    // The live suite needs a server: npm run test:ollama.
    exclude: ['test/ollama/**'],
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: './test/support/build-page.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});

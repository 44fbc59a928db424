/** Browser host and command line: ESM for Node, packages stay outside. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  publicDir: false,
  build: {
    ssr: true,
    outDir: here('./dist/node'),
    emptyOutDir: true,
    target: 'node24',
    minify: false,
    rolldownOptions: {
      input: {
        cli: here('./shared/node/bin/cli.ts'),
        web: here('./shared/node/bin/web.ts'),
        'estimate-worker': here('./shared/node/estimating/worker.ts'),
      },
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});

/** The desktop's main process: ESM for the Node inside Electron; packages stay outside and are loaded from node_modules. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  publicDir: false,
  build: {
    ssr: true,
    outDir: here('./dist/electron'),
    // The preload stands in the same folder and is built after this.
    emptyOutDir: true,
    target: 'node24',
    minify: false,
    rolldownOptions: {
      input: { main: here('./electron/main.ts'), 'estimate-worker': here('./shared/node/estimating/worker.ts') },
      external: ['electron'],
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});

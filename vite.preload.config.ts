/** The preload: a sandboxed page can require electron and nothing else, so all of it is in this one CommonJS file. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: here('./dist/electron'),
    emptyOutDir: false,
    target: 'chrome120',
    minify: false,
    rolldownOptions: {
      input: here('./electron/preload.ts'),
      external: ['electron'],
      output: { format: 'cjs', entryFileNames: 'preload.cjs', codeSplitting: false },
    },
  },
});

/** The renderer's build: one page, relative addresses, no inline script or style (the content security policy forbids both). */
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('./renderer'),
  base: './',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: here('./dist/renderer'),
    emptyOutDir: true,
    target: 'chrome120',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_500,
  },
});

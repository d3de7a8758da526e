/** How the console is built: one page and its files, nothing from elsewhere. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Where `npm start` serves, for those who work on the console with Vite's own server. */
const GATEWAY = process.env.CAIRN_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    target: 'es2023',
    // A data URL would need a wider policy than `'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/v1': GATEWAY, '/console.json': GATEWAY },
  },
});

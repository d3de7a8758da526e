/** Build of the console: one page and its files, nothing from other hosts. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** URL that `npm start` serves at, for work on the console with Vite's own server. */
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
    // One script and one style sheet for the first page, with all that they import: further files cost it a tenth of its time.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first', test: /src\/main\.tsx$/ }] } } },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/v1': GATEWAY, '/console.json': GATEWAY },
  },
});

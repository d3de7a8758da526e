/** Build of the console: one page and its files, nothing from other hosts. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/** URL that `npm start` serves at, for work on the console with Vite's own server. */
const GATEWAY = process.env.CAIRN_URL ?? 'http://127.0.0.1:8080';

/** The page that nearly everybody opens first. */
const FIRST_PAGE = 'src/pages/runs/page.tsx';

/** Lets the browser fetch the first page, with the files it needs, beside the script that will ask for it, not after it. */
function fetchFirstPageEarly(): Plugin {
  return {
    name: 'fetch-first-page-early',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const page = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(FIRST_PAGE));
        if (!page) throw new Error(`the build has no chunk for ${FIRST_PAGE}`);
        const needed = new Set([page]);
        // A set gives what is added while it is gone through.
        for (const { imports } of needed)
          for (const chunk of chunks) if (imports.includes(chunk.fileName)) needed.add(chunk);
        const scripts = [...needed].map(({ fileName }) => [fileName, 'modulepreload'] as const);
        // The rules of the page come after those of its parts, which they change.
        const styles = [...needed]
          .reverse()
          .flatMap(({ viteMetadata }) =>
            [...(viteMetadata?.importedCss ?? [])].map((file) => [file, 'stylesheet'] as const),
          );
        return [...scripts, ...styles]
          .filter(([file]) => !html.includes(file))
          .map(([file, rel]) => ({
            tag: 'link',
            attrs: { rel, crossorigin: true, href: `/${file}` },
            injectTo: 'head' as const,
          }));
      },
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [fetchFirstPageEarly()],
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

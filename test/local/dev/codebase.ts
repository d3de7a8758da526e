/** Codebases of files in memory. */
import { codebasesOf, type DevCodebase, type ProjectFiles } from '../../../packages/local/src/dev/project.ts';

export const TSCONFIG = { compilerOptions: { rootDir: 'src', outDir: 'lib' } };

/** @param links target folder of each link in `node_modules` */
export function filesOf(
  content: Readonly<Record<string, unknown>>,
  links: Readonly<Record<string, string>> = {},
): ProjectFiles {
  return {
    real: (path) => links[path] ?? path,
    exists: (path) => path in content,
    read(path) {
      const text = content[path];
      if (text === undefined) throw new Error(`ENOENT: ${path}`);
      return typeof text === 'string' ? text : JSON.stringify(text);
    },
  };
}

/** One codebase in `/shop/functions`. */
export function codebase(content: Readonly<Record<string, unknown>>): DevCodebase {
  const here = Object.entries(content).map(([name, value]) => [`/shop/functions/${name}`, value]);
  const files = filesOf({ '/shop/firebase.json': { functions: {} }, ...Object.fromEntries(here) });
  const [found] = codebasesOf('/shop', [], files);
  if (!found) throw new Error('no codebase');
  return found;
}

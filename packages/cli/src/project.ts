/**
 * The project of the current folder, in which its local cloud keeps its data.
 *
 * Must not: depend on where this package is installed.
 */
import { dirname, join, resolve } from 'node:path';

/** Data directory of a local cloud, below the project's folder. */
export const DATA_DIR = '.cairn';
/** Its file in the data directory while its cloud runs; see packages/local/src/data-dir/address.ts. */
export const ADDRESS_FILE = 'address.json';

/**
 * The nearest folder with a local cloud that runs, else the nearest with a `firebase.json`, else the first start.
 *
 * @param starts folders to begin at, the most important first; the folders above each are searched too
 */
export function projectOf(starts: readonly [string, ...string[]], exists: (path: string) => boolean): string {
  const folders = starts.flatMap(upwards);
  return (
    folders.find((folder) => exists(join(folder, DATA_DIR, ADDRESS_FILE))) ??
    folders.find((folder) => exists(join(folder, 'firebase.json'))) ??
    resolve(starts[0])
  );
}

/**
 * The current folder of the user. npm runs the scripts of a package in its folder, and sets `INIT_CWD` to the folder of the
 * call; a script that calls the command line in another folder means that folder.
 */
export function calledIn(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const { npm_package_json: manifest, INIT_CWD: called } = env;
  return manifest !== undefined && dirname(manifest) === cwd ? (called ?? cwd) : cwd;
}

/** The folder and those above it, the nearest first. */
export function upwards(start: string): string[] {
  const folders = [resolve(start)];
  for (;;) {
    const folder = folders[folders.length - 1] ?? start;
    const above = dirname(folder);
    if (above === folder) return folders;
    folders.push(above);
  }
}

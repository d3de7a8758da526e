/**
 * Finds the project folder, in which the local cloud keeps its data.
 *
 * Must not: depend on where this package is installed.
 */
import { dirname, join, resolve } from 'node:path';

/** Data directory of a local cloud, below the project's folder. */
export const DATA_DIR = '.cairn';
/** File in the data directory while the cloud runs; see packages/local/src/data-dir/address.ts. */
export const ADDRESS_FILE = 'address.json';

/**
 * Returns the nearest folder with a running local cloud, otherwise the nearest with a `firebase.json`, otherwise the first start.
 *
 * @param starts folders to begin at, most important first; their parents are searched too
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
 * The current folder of the user. npm runs scripts in the folder of the package, and sets `INIT_CWD` to the folder of the call.
 * If a script has changed the folder, that folder counts.
 */
export function calledIn(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const { npm_package_json: manifest, INIT_CWD: called } = env;
  return manifest !== undefined && dirname(manifest) === cwd ? (called ?? cwd) : cwd;
}

/** The folder and its parents, nearest first. */
export function upwards(start: string): string[] {
  const folders = [resolve(start)];
  for (;;) {
    const folder = folders[folders.length - 1] ?? start;
    const above = dirname(folder);
    if (above === folder) return folders;
    folders.push(above);
  }
}

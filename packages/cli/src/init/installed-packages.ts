/** Checks whether the folder of a codebase has the packages of its package.json. Changes nothing. */
import { createHash } from 'node:crypto';
import { readableJson } from './firebase-json.ts';
import type { InstalledPackage } from './project.ts';

type Read = (path: string) => Uint8Array | undefined;

/**
 * Files that package managers write when the installation is complete, relative to the codebase. Bun writes only its lock file.
 */
const COMPLETED = [
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-integrity',
  'node_modules/.yarn-state.yml',
  'bun.lock',
  'bun.lockb',
];

/**
 * False in a fresh clone, and after a failed or interrupted installation.
 *
 * @param wanted required package; undefined: any
 * @param read takes paths relative to the codebase
 */
export function hasItsPackages(wanted: InstalledPackage | undefined, read: Read): boolean {
  if (read('package.json') === undefined) return true;
  const manifest = jsonIn(read('node_modules/cairn/package.json')) as { version?: unknown } | undefined;
  if (manifest === undefined || COMPLETED.every((path) => read(path) === undefined)) return false;
  if (wanted === undefined) return true;
  if (manifest.version !== wanted.version) return false;
  const lock = jsonIn(read('node_modules/.package-lock.json')) as NpmLock | undefined;
  const integrity = lock?.packages?.['node_modules/cairn']?.integrity;
  if (wanted.tarball === undefined || integrity === undefined) return true;
  return integrity === `sha512-${createHash('sha512').update(wanted.tarball.content).digest('base64')}`;
}

/** The lock file that npm keeps in `node_modules`. */
interface NpmLock {
  readonly packages?: Readonly<Record<string, { readonly integrity?: string }>>;
}

function jsonIn(bytes: Uint8Array | undefined): unknown {
  return bytes && readableJson(Buffer.from(bytes).toString('utf8'));
}

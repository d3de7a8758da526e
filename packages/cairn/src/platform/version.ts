/** The version of the deployed functions, from the package's own manifest. scripts/bundle.mjs replaces this module. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { readCallSites } from '../core/call-sites.ts';

let found: string | undefined;

/** @throws Error in a bundle, which does not contain the manifest; the error explains how to exclude the package */
export function packageVersion(): string {
  found ??= readVersion();
  return found;
}

interface Manifest {
  readonly name?: unknown;
  readonly version: string;
}

function readVersion(): string {
  // Webpack and Rspack write the module's URL on the build machine, where the manifest still exists.
  const file = runningFile();
  if (file !== undefined && file !== import.meta.url) throw bundled();
  let manifest: Manifest;
  try {
    // Beside `src/`, and beside the built `lib/`. CommonJS bundles may leave the module's URL undefined.
    manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  } catch (error) {
    throw bundled(error);
  }
  // Two folders above a bundle may be the manifest of the project.
  if (manifest.name !== 'cairn') throw bundled();
  return manifest.version;
}

/** URL of the file that contains this code, from the stack; undefined if the stack has none. */
function runningFile(): string | undefined {
  let name: string | null | undefined;
  try {
    name = readCallSites(([site]) => site?.getFileName());
  } catch {
    // The built-ins are frozen, for example by --frozen-intrinsics.
    return undefined;
  }
  if (!name) return undefined;
  return name.startsWith('file:') ? name : pathToFileURL(name).href;
}

function bundled(cause?: unknown): Error {
  return new Error(
    "cairnFunctions: the package 'cairn' is part of a bundle, in which it does not find its own files. Leave it out: --external:cairn of esbuild, " +
      'external: [/^cairn(\\/|$)/] of Rollup, Rolldown and tsup, ' +
      "or externals: [/^cairn(\\/|$)/] with externalsType: 'commonjs' of webpack. Functions load it from node_modules, also when they are deployed",
    { cause },
  );
}

/** The version of the deployed functions: that of the package's own manifest. scripts/bundle.mjs replaces this module. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { readCallSites } from '../core/call-sites.ts';

let found: string | undefined;

/** @throws Error that says how to leave the package out of a bundle, in which it does not find its own files */
export function packageVersion(): string {
  found ??= readVersion();
  return found;
}

interface Manifest {
  readonly name?: unknown;
  readonly version: string;
}

function readVersion(): string {
  // Webpack and Rspack write the address that the module had on the machine of the build, where the manifest is still found.
  const file = runningFile();
  if (file !== undefined && file !== import.meta.url) throw bundled();
  let manifest: Manifest;
  try {
    // Beside `src/`, and beside the built `lib/`. Bundles in CommonJS may leave the address of the module undefined.
    manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  } catch (error) {
    throw bundled(error);
  }
  // Two folders above a bundle there may be the manifest of the project.
  if (manifest.name !== 'cairn') throw bundled();
  return manifest.version;
}

/** The address of the file that this code is in, as the stack has it; undefined if the stack has none. */
function runningFile(): string | undefined {
  let name: string | null | undefined;
  try {
    name = readCallSites(([site]) => site?.getFileName());
  } catch {
    // Frozen, as by --frozen-intrinsics.
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

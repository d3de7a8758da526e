/**
 * Finds the installed packages that a codebase loads, and the packages of its workspace, which are links in `node_modules`. Reads
 * through {@link ProjectFiles} only.
 */
import { dirname, join, sep } from 'node:path';
import { isMembers, membersIn } from './json-files.ts';
import type { ProjectFiles } from './project.ts';

/** Most packages that are watched; changes of further ones take effect at the next start. */
const MAX_LINKED = 50;

/** Folders of the linked packages, except those that contain the codebase. Includes development dependencies, which a build may bundle. */
export function linkedFolders(folder: string, files: ProjectFiles): string[] {
  const own = `${files.real(folder)}${sep}`;
  const found = new Set<string>();
  const next = [folder];
  for (let from = next.pop(); from !== undefined; from = next.pop()) {
    const kinds = from === folder ? BUNDLED : LOADED;
    for (const name of dependenciesIn(from, kinds, files)) {
      const linked = linkedFrom(from, name, files);
      if (linked === undefined || found.has(linked) || own.startsWith(`${linked}${sep}`)) continue;
      if (found.size === MAX_LINKED) return [...found];
      found.add(linked);
      next.push(linked);
    }
  }
  return [...found];
}

/** The first package that is in no `node_modules` of the folder or above. Ignores NODE_PATH, which pnpm sets, because a deployment has none. */
export function missingPackage(
  folder: string,
  names: readonly string[],
  files: ProjectFiles,
): string | undefined {
  return names.find((name) => !upwards(folder).some((one) => files.exists(join(one, 'node_modules', name))));
}

const LOADED = ['dependencies'];
const BUNDLED = [...LOADED, 'devDependencies'];

/** @param kinds members of the package.json */
function dependenciesIn(folder: string, kinds: readonly string[], files: ProjectFiles): string[] {
  const file = join(folder, 'package.json');
  if (!files.exists(file)) return [];
  const manifest = membersIn(file, files, 'MANIFEST_INVALID');
  return kinds.flatMap((kind) => {
    const packages = manifest[kind];
    return isMembers(packages) ? Object.keys(packages) : [];
  });
}

/** Undefined if the package is a copy or missing. */
function linkedFrom(folder: string, name: string, files: ProjectFiles): string | undefined {
  for (const above of upwards(folder)) {
    const place = join(above, 'node_modules', name);
    if (files.exists(join(place, 'package.json'))) {
      const real = files.real(place);
      return real.split(sep).includes('node_modules') ? undefined : real;
    }
  }
  return undefined;
}

/** The folder and those above it, the nearest first. */
export function upwards(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

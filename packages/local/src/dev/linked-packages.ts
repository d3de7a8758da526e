/** Finds the packages of a workspace that a codebase loads: its `node_modules` have links to their folders. Reads through {@link ProjectFiles} only. */
import { dirname, join, sep } from 'node:path';
import { isMembers, membersIn } from './json-files.ts';
import type { ProjectFiles } from './project.ts';

/** Packages that are watched: a codebase with more is reloaded after a start only. */
const MAX_LINKED = 50;

/** Their folders, without any that has the codebase in it. */
export function linkedFolders(folder: string, files: ProjectFiles): string[] {
  const own = `${files.real(folder)}${sep}`;
  const found = new Set<string>();
  const next = [folder];
  for (let from = next.pop(); from !== undefined; from = next.pop()) {
    for (const name of dependenciesIn(from, files)) {
      const linked = linkedFrom(from, name, files);
      if (linked === undefined || found.has(linked) || own.startsWith(`${linked}${sep}`)) continue;
      if (found.size === MAX_LINKED) return [...found];
      found.add(linked);
      next.push(linked);
    }
  }
  return [...found];
}

function dependenciesIn(folder: string, files: ProjectFiles): string[] {
  const file = join(folder, 'package.json');
  if (!files.exists(file)) return [];
  const { dependencies } = membersIn(file, files, 'MANIFEST_INVALID');
  return isMembers(dependencies) ? Object.keys(dependencies) : [];
}

/** Undefined: the package is installed, or not there. */
function linkedFrom(folder: string, name: string, files: ProjectFiles): string | undefined {
  for (let above = folder; ; above = dirname(above)) {
    const place = join(above, 'node_modules', name);
    if (files.exists(join(place, 'package.json'))) {
      const real = files.real(place);
      return real.split(sep).includes('node_modules') ? undefined : real;
    }
    if (dirname(above) === above) return undefined;
  }
}

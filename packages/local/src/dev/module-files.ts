/** Lists the modules of a codebase, to find the one with a mistake that Node reported without a name. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isJavaScript } from './entry.ts';
import { isIgnored } from './project.ts';

/** Modules that are listed: each is checked by a process of its own, for about 30 ms. */
const MAX_MODULES = 100;

/** JavaScript of the folder, those nearest to it first, without installed packages. */
export function modulesBelow(
  folder: string,
  list: (folder: string) => readonly Dirent[] = entriesOf,
): string[] {
  const found: string[] = [];
  const next = [folder];
  const readable = (below: string) => {
    try {
      return list(below);
    } catch {
      // Not permitted, or gone meanwhile: the mistake may be in another folder.
      return [];
    }
  };
  for (const below of next) {
    for (const entry of readable(below)) {
      const path = join(below, entry.name);
      if (isIgnored(folder, path)) continue;
      if (entry.isDirectory()) next.push(path);
      else if (isJavaScript(entry.name)) found.push(path);
      if (found.length === MAX_MODULES) return found;
    }
  }
  return found;
}

const entriesOf = (folder: string) => readdirSync(folder, { withFileTypes: true });

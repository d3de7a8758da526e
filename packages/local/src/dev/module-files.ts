/** Lists the modules of a codebase, to find the one with a syntax error that Node reported without a file name. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isJavaScript } from './entry.ts';
import { isIgnored } from './project.ts';

/** Most modules that are listed, because a separate process checks each for about 30 ms. */
const MAX_MODULES = 100;

/** JavaScript files below the folder, the nearest first, without installed packages. */
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
      // The folder is not readable or was removed; the error may be in another folder.
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

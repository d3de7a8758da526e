/** Lists the modules of a codebase, to find the one with a mistake that Node reported without a name. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isIgnored } from './project.ts';

/** Modules that are listed: each is checked by a process of its own, for about 30 ms. */
const MAX_MODULES = 100;

/** JavaScript of the folder, those nearest to it first, without installed packages. */
export function modulesBelow(folder: string): string[] {
  const found: string[] = [];
  const next = [folder];
  for (const below of next) {
    for (const entry of readdirSync(below, { withFileTypes: true })) {
      const path = join(below, entry.name);
      if (isIgnored(folder, path)) continue;
      if (entry.isDirectory()) next.push(path);
      else if (/\.[mc]?js$/.test(entry.name)) found.push(path);
      if (found.length === MAX_MODULES) return found;
    }
  }
  return found;
}

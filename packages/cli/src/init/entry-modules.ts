/** Texts of the modules that export a codebase's functions, and of those that they re-export whole. Reads no syntax. */
import { posix } from 'node:path';
import type { Files } from './files.ts';

const REEXPORT =
  /(?:\bexport\s*\*\s*from|\b__exportStar\(\s*require\(|\bObject\.assign\(\s*(?:module\.)?exports\s*,\s*require\(|\bmodule\.exports\s*=\s*require\()\s*(['"])(\.[^'"]+)\1/g;
const EXTENSIONS = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs'];
/** Most modules that are read of a codebase. */
const MAX_MODULES = 50;

/** @param entries paths of modules, of which some are not there */
export function entryTextsOf(files: Files, entries: Iterable<string>): string[] {
  const paths = new Set(entries);
  const texts: string[] = [];
  // The set grows while it is read.
  for (const path of paths) {
    const text = looseText(files, path);
    if (text === undefined) continue;
    texts.push(text);
    if (texts.length === MAX_MODULES) break;
    for (const [, , module = ''] of text.matchAll(REEXPORT))
      for (const one of filesOf(posix.join(posix.dirname(path), module))) paths.add(one);
  }
  return texts;
}

/** Files that a module of this path may be, compiled or not. */
function filesOf(module: string): string[] {
  const extension = posix.extname(module);
  if (!EXTENSIONS.includes(extension))
    return [module, posix.join(module, 'index')].flatMap((base) => EXTENSIONS.map((one) => `${base}${one}`));
  return [module, `${module.slice(0, -extension.length)}${extension.replace('js', 'ts')}`];
}

/** Text of a file that is only searched: in whatever encoding it is, ASCII is found. */
export function looseText(files: Files, path: string): string | undefined {
  const bytes = files.read(path);
  return bytes && new TextDecoder().decode(bytes);
}

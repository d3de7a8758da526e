/**
 * Determines which files the `tsconfig.json` beside `firebase.json` includes, by the compiler's rules
 * (https://www.typescriptlang.org/tsconfig/#include). Reads files of the project, changes nothing.
 */
import { posix } from 'node:path';
import { readableJson } from './firebase-json.ts';
import { isMembers } from './json.ts';

/** Patterns, relative to the folder of the project. */
export interface IncludedFiles {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** @returns undefined if the file does not exist or cannot be read */
export function compiledFiles(read: (path: string) => string | undefined): IncludedFiles | undefined {
  const found = settingsIn('tsconfig.json', { read, depth: 0 });
  if (found === undefined) return undefined;
  const { files, include, exclude, outputs = [] } = found;
  return {
    include: include ?? (files === undefined ? ['**/*'] : []),
    exclude: exclude ?? outputs,
  };
}

export function isIncluded(path: string, { include, exclude }: IncludedFiles): boolean {
  return include.some((glob) => matches(path, glob)) && !exclude.some((glob) => isExcluded(path, glob));
}

interface Settings extends Partial<IncludedFiles> {
  readonly files?: readonly string[];
  /** Output folders of the compiler, excluded by default. */
  readonly outputs?: readonly string[];
}

interface Reading {
  readonly read: (path: string) => string | undefined;
  readonly depth: number;
}

/** Ends cycles of `extends`, which the compiler reports. */
const MAX_DEPTH = 10;
/** In a path of an extended file: the folder of the file that extends it. */
const CONFIG_DIR = /^\$\{configDir\}/;

/** Includes settings of extended files. Extended packages are not read, because their paths are relative to the package. */
function settingsIn(file: string, { read, depth }: Reading): Settings | undefined {
  const content = readableJson(read(file) ?? '');
  if (!isMembers(content) || depth > MAX_DEPTH) return undefined;
  const placed = (path: string) =>
    CONFIG_DIR.test(path) ? path.replace(CONFIG_DIR, '.') : posix.join(posix.dirname(file), path);
  const { files, include, exclude, compilerOptions, extends: parents } = content;
  const inherited = [parents]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one.startsWith('.'))
    .map((one) => posix.join(posix.dirname(file), one))
    .map((one) => settingsIn(one.endsWith('.json') ? one : `${one}.json`, { read, depth: depth + 1 }));
  const { outDir, declarationDir } = isMembers(compilerOptions) ? compilerOptions : {};
  const outputs = textsIn([outDir, declarationDir]).map(placed);
  return Object.assign({}, ...inherited, {
    ...(Array.isArray(files) && { files: textsIn(files).map(placed) }),
    ...(Array.isArray(include) && { include: textsIn(include).map(placed) }),
    ...(Array.isArray(exclude) && { exclude: textsIn(exclude).map(placed) }),
    ...(outputs.length > 0 && { outputs }),
  });
}

function matches(path: string, glob: string): boolean {
  const parts = partsOf(glob);
  const last = parts.at(-1);
  // A folder stands for its files.
  const all = last === undefined || !/[.*?]/.test(last) ? [...parts, '**', '*'] : parts;
  return new RegExp(`^${sourceOf(all)}$`).test(path);
}

/** An excluded folder excludes everything below it. */
function isExcluded(path: string, glob: string): boolean {
  const parts = partsOf(glob);
  if (parts.length === 0) return true;
  return new RegExp(`^${sourceOf(parts)}${parts.at(-1) === '**' ? '' : '(?:/|$)'}`).test(path);
}

function partsOf(glob: string): string[] {
  return posix
    .normalize(glob)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
}

function sourceOf(parts: readonly string[]): string {
  return parts
    .map((part, at) => {
      if (part === '**') return '(?:[^/]+/)*';
      const name = part
        .replace(/[\\^$.+()|[\]{}]/g, '\\$&')
        .replaceAll('*', '[^/]*')
        .replaceAll('?', '[^/]');
      return at < parts.length - 1 ? `${name}/` : name;
    })
    .join('');
}

const textsIn = (values: readonly unknown[]) => values.filter((one) => typeof one === 'string');

/** Finds the module of a codebase to serve, and the build that writes it. Reads through {@link ProjectFiles} only. */
import { dirname, join, posix, relative, sep } from 'node:path';
import { membersIn } from './json-files.ts';
import type { Build, ProjectFiles } from './project.ts';

export const isJavaScript = (path: string): boolean => /\.[mc]?js$/.test(path);

export interface Entry {
  /** Relative to the folder of the codebase. */
  readonly module: string;
  /** Undefined if Node runs the sources. */
  readonly build: Build | undefined;
  /** Folders of the compiler if Node runs the sources, so that nothing here loads the compiler's output. */
  readonly compiled?: Pick<Build, 'outDir' | 'rootDir'>;
  /** True if it has a `tsconfig.json`, and no build that reports type errors. */
  readonly isChecked: boolean;
}

/** Folders that builds write. The compiler's is in `tsconfig.json`; a bundler's is found by its name. */
const OUTPUTS = ['lib', 'dist', 'build', 'out'];

/** Default if `tsconfig.json` has no `outDir`. */
const OUT_DIR = 'lib';

const SCRIPTS = ['build:watch', 'build'] as const;

export const DECLARATIONS = /\.d\.[mc]?ts$/;

interface EntryManifest {
  readonly main: string;
  readonly scripts: Readonly<Record<string, unknown>>;
}

/** @returns undefined if there is no such module, and no build that would write it */
export function entryOf(
  folder: string,
  { main, scripts }: EntryManifest,
  files: ProjectFiles,
): Entry | undefined {
  const exists = (path: string) => files.exists(join(folder, path));
  const tsconfig = tsconfigIn(folder, files);
  const names = modulesNamed(main);
  const built = tsconfig && names.map((name) => ({ name, source: sourceOf(name, tsconfig) }));
  const fromSource = built?.find(({ source }) => source !== undefined && exists(source));
  // Node does not resolve aliases of paths; the build does, or the deployment would fail too.
  const isAliased = tsconfig?.hasPaths && SCRIPTS.some((name) => name in scripts);
  if (fromSource?.source !== undefined && tsconfig?.isRunnable && !isAliased) {
    const { outDir = OUT_DIR, rootDir } = tsconfig;
    return { module: fromSource.source, build: undefined, compiled: { outDir, rootDir }, isChecked: true };
  }
  const module = fromSource?.name ?? names.find(exists) ?? (names[0] as string);
  const output = tsconfig && outputOf(module, tsconfig);
  if (tsconfig !== undefined && output !== undefined) {
    const { outDir, rootDir, emitsBeside } = tsconfig;
    const writes = (name: string) => output === outDir || !onlyChecks(scripts[name], tsconfig);
    const script = SCRIPTS.find((name) => name in scripts && writes(name));
    if (fromSource !== undefined || script !== undefined)
      // Its watching build is the compiler, which reports type errors.
      return {
        module,
        build: { output, outDir, rootDir, emitsBeside, script },
        isChecked: script !== 'build:watch',
      };
  }
  return exists(module) ? { module, build: undefined, isChecked: tsconfig !== undefined } : undefined;
}

/** Files that `main` may name, in Node's order. */
function modulesNamed(main: string): readonly string[] {
  return /\.[mc]?[jt]s$/.test(main) ? [main] : [`${main}.js`, posix.join(main, 'index.js')];
}

interface Tsconfig {
  /** Undefined if `tsconfig.json` has none. */
  readonly outDir: string | undefined;
  readonly rootDir: string;
  /** True if imports name the source files, so that Node only has to strip the types. */
  readonly isRunnable: boolean;
  /** True if it has aliases of modules. */
  readonly hasPaths: boolean;
  readonly noEmit: boolean;
  readonly emitsBeside: boolean;
}

function tsconfigIn(folder: string, files: ProjectFiles): Tsconfig | undefined {
  const file = join(folder, 'tsconfig.json');
  if (!files.exists(file)) return undefined;
  const { outDir, rootDir = 'src', ...rest } = compilerOptionsIn(file, { folder, files, depth: 0 });
  const isRunnable = rest.rewriteRelativeImportExtensions === true;
  const hasPaths = Object.keys(rest.paths ?? {}).length > 0;
  const noEmit = rest.noEmit === true;
  const takesJavaScript = rest.allowJs === true || rest.checkJs === true;
  const emitsBeside = outDir === undefined && !noEmit && !takesJavaScript;
  return { outDir, rootDir, isRunnable, hasPaths, noEmit, emitsBeside };
}

interface CompilerOptions {
  /** Relative to the folder of the codebase, like `rootDir`. */
  readonly outDir?: string;
  readonly rootDir?: string;
  readonly rewriteRelativeImportExtensions?: boolean;
  readonly noEmit?: boolean;
  readonly allowJs?: boolean;
  readonly checkJs?: boolean;
  readonly paths?: object | null;
}

const KEPT = ['rewriteRelativeImportExtensions', 'noEmit', 'allowJs', 'checkJs', 'paths'];

interface ReadingTsconfig {
  /** Folder of the codebase. */
  readonly folder: string;
  readonly files: ProjectFiles;
  readonly depth: number;
}

/** Ends the reading of files that extend each other in a circle, which the compiler reports. */
const MAX_DEPTH = 10;

/** Includes the options of extended files. Extended packages are not read, because shared ones set neither paths nor outputs. */
function compilerOptionsIn(file: string, { folder, files, depth }: ReadingTsconfig): CompilerOptions {
  const { compilerOptions, extends: parents = [] } = membersIn(file, files, 'MANIFEST_INVALID');
  const paths = [parents]
    .flat()
    .filter((one) => typeof one === 'string' && one.startsWith('.'))
    .map((one) => join(dirname(file), one as string))
    .map((one) => (one.endsWith('.json') ? one : `${one}.json`))
    .filter((one) => depth < MAX_DEPTH && files.exists(one));
  const inherited = paths.map((path) => compilerOptionsIn(path, { folder, files, depth: depth + 1 }));
  const options = (compilerOptions ?? {}) as Record<string, unknown>;
  const { outDir, rootDir } = options;
  const placed = (path: string) =>
    relative(folder, join(dirname(file), path))
      .split(sep)
      .join('/');
  return Object.assign({}, ...inherited, {
    ...(typeof outDir === 'string' && { outDir: placed(outDir) }),
    ...(typeof rootDir === 'string' && { rootDir: placed(rootDir) }),
    ...Object.fromEntries(Object.entries(options).filter(([name]) => KEPT.includes(name))),
  });
}

/** The source of a module, such as `src/index.ts` of `lib/index.js`. Undefined if the compiler does not write the module. */
function sourceOf(main: string, { outDir = OUT_DIR, rootDir }: Tsconfig): string | undefined {
  if (!main.startsWith(`${outDir}/`) || !isJavaScript(main)) return undefined;
  return posix.join(rootDir, main.slice(outDir.length + 1)).replace(/js$/, 'ts');
}

/** The output folder of a module. Undefined if the module is a source. */
function outputOf(main: string, { outDir }: Tsconfig): string | undefined {
  if (!isJavaScript(main)) return undefined;
  return [...(outDir ? [outDir] : []), ...OUTPUTS].find((folder) => main.startsWith(`${folder}/`));
}

/** Commands that write no module: `tsc` without an output, and linters. */
function onlyChecks(script: unknown, { noEmit }: Tsconfig): boolean {
  if (typeof script !== 'string') return false;
  return script.split(/&&|\|\||[;&|]/).every((part) => {
    const command = part.trim().replace(/^npx\s+/, '');
    if (/^(?:eslint|biome|prettier)\b/.test(command)) return true;
    if (!/^tsc\b/.test(command) || /--noEmit\s+false\b/.test(command)) return false;
    // Another tsconfig or a referenced project may write.
    return /--noEmit\b/.test(command) || (noEmit && !/\s(?:-p|--project|-b|--build)\b/.test(command));
  });
}

/** True for files that a build reads, but does not write: with those, each build would start the next. */
export function isBuildSource({ outDir, rootDir, emitsBeside }: Build, path: string): boolean {
  if (DECLARATIONS.test(path) || isWithin(path, outDir)) return false;
  if (emitsBeside && /\.[mc]?jsx?$/.test(path)) return false;
  const isTypeScript = /\.[mc]?tsx?$/.test(path);
  // Builds write no TypeScript, so such a file in one of these folders is a source.
  return isTypeScript || isWithin(path, rootDir) || !OUTPUTS.some((one) => isWithin(path, one));
}

/** True for files that the compiler writes for a deployment only, because Node runs the sources here. */
export function isUnloaded({ outDir, rootDir }: Pick<Build, 'outDir' | 'rootDir'>, path: string): boolean {
  return isWithin(path, outDir) && !isWithin(path, rootDir);
}

function isWithin(path: string, folder: string | undefined): boolean {
  return folder !== undefined && path.startsWith(`${folder}/`);
}

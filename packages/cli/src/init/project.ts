/** Reads what `init` needs of a Firebase project. Changes nothing and decides nothing. */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { upwards } from '../project.ts';
import { entryTextsOf, looseText } from './entry-modules.ts';
import type { Files } from './files.ts';
import { type FirebaseJson, readFirebaseJson } from './firebase-json.ts';
import { InitProblem, unreadable } from './problem.ts';
import { recordPath } from './record.ts';
import { compiledFiles, type IncludedFiles } from './tsconfig.ts';
import { type Workspaces, workspacesAbove } from './workspaces.ts';

export type Language = 'ts' | 'js';
export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

interface ProjectCodebase {
  /** Folder, relative to the project. */
  readonly source: string;
  readonly name: string;
  readonly language: Language;
  /** Its functions are deployed as `PREFIX-NAME`. */
  readonly prefix: string | undefined;
  /** `ignore` of `firebase.json`: files that a deployment leaves out. */
  readonly ignore: unknown;
  /** Text of entry modules, found by the package.json and the usual layouts, and of modules that they re-export whole. */
  readonly entryTexts: readonly string[];
}

/** The package `cairn` that the project has installed. */
export interface InstalledPackage {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  /** The tarball that the package was installed from. A deployment would not find it. */
  readonly tarball?: { readonly fileName: string; readonly content: Uint8Array };
}

export interface Project {
  readonly firebaseJson: { readonly text: string; readonly read: FirebaseJson };
  readonly gitignore: string | undefined;
  /** Files of the `tsconfig.json` beside `firebase.json`; undefined if there is no readable one. */
  readonly compiled: IncludedFiles | undefined;
  /** Undefined if no file beside or above `firebase.json` names workspaces. */
  readonly workspaces: Workspaces | undefined;
  readonly codebases: readonly ProjectCodebase[];
  readonly installed: InstalledPackage;
  readonly packageManager: PackageManager;
}

const CONFIG = 'firebase.json';
const DEFAULT_SOURCE = 'functions';
/** Entry files of the usual templates, beside `main`. */
const ENTRIES = ['src/index.ts', 'src/index.js', 'index.js', 'index.ts', 'src/main.ts', 'src/main.js'];
/** Folders that builds write, as Nx does for `apps/functions` in `dist/apps/functions`. */
const OUTPUTS = ['dist', 'build', 'out'];
/** A TypeScript workspace has one of these files beside `firebase.json`. */
const TYPESCRIPT = ['tsconfig.base.json', 'tsconfig.json'];
const LOCKS: readonly (readonly [file: string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
];

/**
 * The folder of the nearest `firebase.json`, upwards.
 *
 * @throws InitProblem NO_PROJECT
 */
export function projectFolder(start: string): string {
  const folder = upwards(start).find((one) => existsSync(join(one, CONFIG)));
  if (folder !== undefined) return folder;
  throw new InitProblem(
    'NO_PROJECT',
    `there is no ${CONFIG} in ${resolve(start)} or above it`,
    'Go to the folder of your Firebase project. A new one is made by: npx firebase-tools init',
  );
}

/** @throws InitProblem FIREBASE_JSON_INVALID, NOT_INSTALLED, READ_FAILED */
export function readProject(root: string, files: Files): Project {
  const firebaseJson = textOf(files, CONFIG) ?? '';
  const read = readFirebaseJson(firebaseJson);
  return {
    firebaseJson: { text: firebaseJson, read },
    gitignore: textOf(files, '.gitignore'),
    compiled: compiledFiles((path) => looseText(files, path)),
    workspaces: workspacesAbove(upwards(root), (path) => looseText(files, path)),
    codebases: read.functions.flatMap((entry) => {
      const codebase = codebaseOf(entry, files);
      return namesOf(entry).map((name) => ({ ...codebase, name }));
    }),
    installed: installedIn(root),
    packageManager: packageManagerOf(root),
  };
}

/** Decided by the lock file beside `firebase.json`, or by that of the surrounding workspace. */
export function packageManagerOf(root: string): PackageManager {
  const managers = upwards(root)
    .filter((folder) => folder === resolve(root) || isWorkspace(folder))
    .map((folder) => LOCKS.find(([file]) => existsSync(join(folder, file)))?.[1]);
  return managers.find((manager) => manager !== undefined) ?? 'npm';
}

function isWorkspace(folder: string): boolean {
  if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return true;
  const manifest = join(folder, 'package.json');
  return (
    existsSync(manifest) && manifestIn(new TextDecoder().decode(bytesOf(manifest))).workspaces !== undefined
  );
}

/** Names of the installations with a record. */
export function installationsIn(files: Files): string[] {
  try {
    const { functions } = readFirebaseJson(Buffer.from(files.read('firebase.json') ?? []).toString('utf8'));
    return functions.flatMap(({ codebase }) =>
      typeof codebase === 'string' && files.exists(recordPath(codebase)) ? [codebase] : [],
    );
  } catch (error) {
    // The next command reports the file.
    if (error instanceof InitProblem) return [];
    throw error;
  }
}

/** Packages of Cairn that the package.json beside `firebase.json` names. */
export function packagesIn(files: Files): string[] {
  const { dependencies, devDependencies } = manifestIn(looseText(files, 'package.json'));
  const names = Object.keys({ ...dependencies, ...devDependencies });
  return names.filter((name) => name === 'cairn' || name.startsWith('@cairn/'));
}

/** @throws InitProblem if the file is not UTF-8, because it could not be restored byte for byte */
function textOf(files: Files, path: string): string | undefined {
  const bytes = files.read(path);
  if (bytes === undefined) return undefined;
  const text = Buffer.from(bytes).toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new InitProblem(
    'FIREBASE_JSON_INVALID',
    `${path} is not UTF-8 text`,
    `Store ${path} as UTF-8, then run cairn init again. Nothing was changed.`,
  );
}

/** Includes the names of kit instances, which a codebase may not have either. */
function namesOf({ codebase, instances }: Readonly<Record<string, unknown>>): string[] {
  if (typeof instances === 'object' && instances !== null) return Object.keys(instances);
  return [typeof codebase === 'string' ? codebase : 'default'];
}

function codebaseOf(entry: Readonly<Record<string, unknown>>, files: Files): Omit<ProjectCodebase, 'name'> {
  const source = typeof entry.source === 'string' ? posix.normalize(entry.source) : DEFAULT_SOURCE;
  const { main } = manifestIn(looseText(files, posix.join(source, 'package.json')));
  const names = typeof main === 'string' ? [main, ...ENTRIES] : ENTRIES;
  const folders = [source, ...originsOf(source)];
  const paths = new Set(folders.flatMap((folder) => names.map((name) => posix.join(folder, name))));
  return {
    source,
    prefix: typeof entry.prefix === 'string' ? entry.prefix : undefined,
    ignore: entry.ignore,
    language: isTypescript(folders, files) ? 'ts' : 'js',
    entryTexts: entryTextsOf(files, paths),
  };
}

/** Folders of the sources, if a build writes the folder that `firebase.json` names. */
function originsOf(source: string): string[] {
  const parts = source.split('/');
  const at = parts.findIndex((part) => OUTPUTS.includes(part));
  return at < 0 ? [] : [parts.toSpliced(at, 1).join('/') || '.'];
}

function isTypescript([source = '', origin]: readonly string[], files: Files): boolean {
  const isThere = (folder: string) => files.exists(posix.join(folder, 'tsconfig.json'));
  if (isThere(source)) return true;
  if (origin === undefined) return false;
  if (isThere(origin)) return true;
  // The sources may be anywhere: `dist/functions` may be built from `libs/api`.
  return !files.isFolder(origin) && TYPESCRIPT.some((file) => files.exists(file));
}

/** Ignores an unreadable package.json, which its own tools report. */
function manifestIn(text: string | undefined): Manifest {
  try {
    return (JSON.parse(text ?? '{}') ?? {}) as Manifest;
  } catch {
    return {};
  }
}

/** Undefined if no usable package is installed, as in a fresh clone. */
export function usablePackage(root: string): InstalledPackage | undefined {
  try {
    return installedIn(root);
  } catch (error) {
    if (error instanceof InitProblem && error.code === 'NOT_INSTALLED') return undefined;
    throw error;
  }
}

function homeOf(root: string): string | undefined {
  return upwards(root).find((one) => existsSync(join(one, 'node_modules/cairn/package.json')));
}

/** Searches `node_modules` upwards, like Node's resolution. @throws InitProblem NOT_INSTALLED, READ_FAILED */
function installedIn(root: string): InstalledPackage {
  const home = homeOf(root);
  if (home === undefined) {
    // Cloud Functions and firebase-tools look for packages in node_modules too.
    if (upwards(root).some((one) => existsSync(join(one, '.pnp.cjs'))))
      throw new InitProblem(
        'NOT_INSTALLED',
        `Yarn's Plug'n'Play has no folder node_modules in ${root}`,
        "Set 'nodeLinker: node-modules' in .yarnrc.yml, run yarn install, then cairn init again.",
      );
    throw notInstalled(`the package cairn is not installed in ${root}`);
  }
  const folder = join(home, 'node_modules/cairn');
  const manifest = readJson(join(folder, 'package.json'));
  const { version, exports: exported, dependencies, peerDependencies } = manifest as Manifest;
  if (exported?.['./functions'] === undefined)
    throw notInstalled(`the package cairn in ${folder} is another one of that name`);
  const tarball = tarballOf(home);
  return {
    version: version ?? '',
    dependencies: { ...peerDependencies, ...dependencies },
    ...(tarball && { tarball }),
  };
}

interface Manifest {
  readonly main?: unknown;
  readonly version?: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: unknown;
}

function tarballOf(home: string): InstalledPackage['tarball'] {
  const file = join(home, 'package.json');
  if (!existsSync(file)) return undefined;
  const { dependencies, devDependencies } = readJson(file) as Manifest;
  // Yarn writes the path without `file:`.
  const [, path] =
    /^(?:file:)?(?!https?:)(.*\.tgz)$/.exec(dependencies?.cairn ?? devDependencies?.cairn ?? '') ?? [];
  if (path === undefined) return undefined;
  const place = resolve(home, path);
  if (!existsSync(place)) throw notInstalled(`${file} names ${path} for cairn, which is not there`);
  return { fileName: place.split(/[\\/]/).at(-1) ?? '', content: bytesOf(place) };
}

function readJson(path: string): unknown {
  const text = bytesOf(path).toString('utf8');
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    throw unreadable(path, error);
  }
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function notInstalled(what: string): InitProblem {
  return new InitProblem(
    'NOT_INSTALLED',
    what,
    'Install the packages cairn, @cairn/cli and @cairn/local as development dependencies beside firebase.json (docs/adopt.md), then run cairn init again.',
  );
}

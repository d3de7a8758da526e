/**
 * Reads a Firebase project: its codebases, the module of each, the files to watch and the builds to run. Reads through
 * {@link ProjectFiles} only, starts nothing.
 */
import { basename, extname, join, posix, relative, sep } from 'node:path';
import { parseJsonc } from '../jsonc.ts';
import { DevProblem } from './problem.ts';

export interface ProjectFiles {
  exists(path: string): boolean;
  /** @throws the error of the file system */
  read(path: string): string;
}

export interface DevCodebase {
  /** Id of the instance of a kit. */
  readonly name: string;
  /** Prefix of the names of its functions, possibly empty. */
  readonly prefix: string;
  /** Absolute path of its folder. */
  readonly folder: string;
  /** Absolute path of the folder of its `.env` files. */
  readonly settings: string;
  /** Set by firebase-tools for an instance of a kit. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the module whose exports are served. */
  readonly module: string;
  /** Names of the packages that it needs. */
  readonly dependencies: readonly string[];
  /** True if it depends on Cairn, so that it needs workers for step bodies. */
  readonly hasCairn: boolean;
  /** Undefined: Node runs its sources. */
  readonly build: Build | undefined;
  /** True if it has a `tsconfig.json`, and no build that reports type errors. */
  readonly isChecked: boolean;
}

export interface Build {
  /** Folder that the build writes, from that of the codebase. */
  readonly output: string;
  /** Script of its `package.json`; undefined: it has none. */
  readonly script: 'build:watch' | 'build' | undefined;
}

/** The folder of `firebase.json`, at or above the current one. @throws DevProblem PROJECT_NOT_FOUND */
export function projectFolder(start: string, files: ProjectFiles): string {
  for (let folder = start; ; ) {
    if (files.exists(join(folder, 'firebase.json'))) return folder;
    const above = join(folder, '..');
    if (above === folder) break;
    folder = above;
  }
  throw new DevProblem(
    'PROJECT_NOT_FOUND',
    `no firebase.json in ${start} or its parent folders`,
    'Run cairn dev in the folder of a Firebase project. cairn init adds Cairn to a project.',
  );
}

/**
 * @param wanted names of codebases; empty: all
 * @throws DevProblem
 */
export function codebasesOf(root: string, wanted: readonly string[], files: ProjectFiles): DevCodebase[] {
  const all = declaredIn(root, files);
  if (all.length === 0)
    throw new DevProblem(
      'NO_FUNCTIONS',
      'firebase.json has no functions',
      'Add them under "functions", or run cairn init to add a codebase.',
    );
  const unknown = wanted.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined)
    throw new DevProblem(
      'CODEBASE_UNKNOWN',
      `firebase.json has no codebase '${unknown}'`,
      `It has: ${all.map(({ name }) => name).join(', ')}.`,
    );
  return all
    .filter(({ name }) => wanted.length === 0 || wanted.includes(name))
    .map((declared) => codebaseIn(declared, files));
}

type Declared = Pick<DevCodebase, 'name' | 'prefix' | 'folder' | 'settings' | 'env'>;

function declaredIn(root: string, files: ProjectFiles): Declared[] {
  const file = join(root, 'firebase.json');
  const { functions } = parsed(file, files, 'FIREBASE_JSON_INVALID');
  const usual = files.exists(join(root, 'functions/package.json')) ? [{ source: 'functions' }] : [];
  const entries = functions === undefined ? usual : [functions].flat();
  return entries.filter(isMembers).flatMap((entry) => {
    const { source = 'functions', codebase = 'default' } = entry;
    if (typeof source !== 'string' || typeof codebase !== 'string') return [];
    const folder = join(root, source);
    if ('kit' in entry) return instancesOf(entry, root, folder);
    const { prefix, configDir } = entry;
    return [
      {
        name: codebase,
        prefix: typeof prefix === 'string' && prefix !== '' ? `${prefix}-` : '',
        folder,
        settings: typeof configDir === 'string' ? join(root, configDir) : folder,
        env: {},
      },
    ];
  });
}

/** A function kit is served once for each of its instances, with names and settings of their own. */
function instancesOf({ instances }: Record<string, unknown>, root: string, folder: string): Declared[] {
  return Object.entries(isMembers(instances) ? instances : {}).flatMap(([id, settings]) =>
    typeof settings === 'string'
      ? [
          {
            name: id,
            prefix: `kit-${id}-`,
            folder,
            settings: join(root, settings),
            env: { FIREBASE_KIT_INSTANCE_ID: id },
          },
        ]
      : [],
  );
}

/** Packages whose functions run bodies. */
const OF_CAIRN = ['cairn', '@cairn/calls'];

function codebaseIn(declared: Declared, files: ProjectFiles): DevCodebase {
  const { name, folder } = declared;
  const manifest = parsed(join(folder, 'package.json'), files, 'MANIFEST_INVALID');
  const dependencies = isMembers(manifest.dependencies) ? manifest.dependencies : {};
  const scripts = isMembers(manifest.scripts) ? manifest.scripts : {};
  const main = posix.normalize(typeof manifest.main === 'string' ? manifest.main : 'index.js');
  const tsconfig = tsconfigIn(folder, files);
  const common = {
    ...declared,
    dependencies: Object.keys(dependencies),
    hasCairn: OF_CAIRN.some((one) => one in dependencies),
  };
  const at = (entry: string) => join(folder, entry);
  const source = tsconfig && sourceOf(main, tsconfig);
  if (source !== undefined && tsconfig?.isRunnable && files.exists(at(source)))
    return { ...common, module: at(source), build: undefined, isChecked: true };
  const script = 'build:watch' in scripts ? 'build:watch' : 'build' in scripts ? 'build' : undefined;
  if (source !== undefined && files.exists(at(source)))
    return {
      ...common,
      module: at(main),
      build: { output: tsconfig?.outDir ?? posix.dirname(main), script },
      // Its watching build is the compiler, which reports type errors.
      isChecked: script !== 'build:watch',
    };
  if (files.exists(at(main)))
    return { ...common, module: at(main), build: undefined, isChecked: tsconfig !== undefined };
  throw new DevProblem(
    'ENTRY_NOT_FOUND',
    `the codebase '${name}' has no ${main}, the "main" of its package.json`,
    `Correct "main" in ${join(folder, 'package.json')}, or build the codebase once.`,
  );
}

interface Tsconfig {
  readonly outDir: string;
  readonly rootDir: string;
  /** Imports name the source files, so Node only has to strip the types. */
  readonly isRunnable: boolean;
}

function tsconfigIn(folder: string, files: ProjectFiles): Tsconfig | undefined {
  const file = join(folder, 'tsconfig.json');
  if (!files.exists(file)) return undefined;
  const { compilerOptions } = parsed(file, files, 'MANIFEST_INVALID');
  const options = isMembers(compilerOptions) ? compilerOptions : {};
  const folderNamed = (value: unknown, usual: string) =>
    typeof value === 'string' ? posix.normalize(value).replace(/\/$/, '') : usual;
  return {
    outDir: folderNamed(options.outDir, 'lib'),
    rootDir: folderNamed(options.rootDir, 'src'),
    isRunnable: options.rewriteRelativeImportExtensions === true,
  };
}

/** `lib/index.js` is built of `src/index.ts`. Undefined: the module is no output of the compiler. */
function sourceOf(main: string, { outDir, rootDir }: Tsconfig): string | undefined {
  if (!main.startsWith(`${outDir}/`) || !/\.[mc]?js$/.test(main)) return undefined;
  return posix.join(rootDir, main.slice(outDir.length + 1)).replace(/js$/, 'ts');
}

/** Effect of a changed file on a codebase. */
type ChangeEffect = 'reload' | 'build' | 'none';

/** Beside the source, for all instances of a kit. */
export const SECRETS = '.secret.local';
const SETTINGS = /^\.(?:env(?:\..+)?|secret\.local)$/;
/** Changed by `npm install`; the functions do not read it. */
const LOCK_FILE = /(?:^|\/)package-lock\.json$/;
const MODULES = new Set(['.js', '.mjs', '.cjs', '.json', '.ts', '.mts', '.cts']);

/** Folders that are never watched: installed packages, and names that begin with a dot. */
export function isIgnored(folder: string, path: string): boolean {
  const parts = relative(folder, path).split(sep);
  return parts.some((part, place) => {
    if (part === 'node_modules') return true;
    return part.startsWith('.') && !(place === parts.length - 1 && SETTINGS.test(part));
  });
}

export function isModule(extension: string): boolean {
  return MODULES.has(extension);
}

export function effectOf(codebase: DevCodebase, path: string): ChangeEffect {
  const { folder, settings, build } = codebase;
  if (relative(settings, path) === basename(path) && SETTINGS.test(basename(path))) return 'reload';
  const place = relative(folder, path).split(sep).join('/');
  if (place.startsWith('../') || isIgnored(folder, path)) return 'none';
  if (place === SECRETS) return 'reload';
  const extension = extname(place);
  if (!isModule(extension) || LOCK_FILE.test(place)) return 'none';
  if (build === undefined) return 'reload';
  if (place.startsWith(`${build.output}/`)) return place.endsWith('.d.ts') ? 'none' : 'reload';
  return build.script === 'build' && /\.[mc]?ts$/.test(place) ? 'build' : 'none';
}

type ProblemOfFile = 'FIREBASE_JSON_INVALID' | 'MANIFEST_INVALID';

function parsed(file: string, files: ProjectFiles, code: ProblemOfFile): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJsonc(files.read(file));
  } catch (error) {
    throw new DevProblem(code, `${file} cannot be read: ${(error as Error).message}`, 'Correct the file.');
  }
  if (isMembers(value)) return value;
  throw new DevProblem(code, `${file} is not a JSON object`, 'Correct the file.');
}

const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

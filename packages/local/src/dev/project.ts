/**
 * Reads a Firebase project: its codebases, the module of each, the files to watch and the builds to run. Reads through
 * {@link ProjectFiles} only, starts nothing.
 */
import { basename, extname, join, posix, relative, sep } from 'node:path';
import { DECLARATIONS, entryOf, isBuildSource, isUnloaded } from './entry.ts';
import { isMembers, membersIn } from './json-files.ts';
import { linkedFolders, upwards } from './linked-packages.ts';
import { DevProblem } from './problem.ts';

export interface ProjectFiles {
  exists(path: string): boolean;
  /** @throws the error of the file system */
  read(path: string): string;
  /** The path without symbolic links. */
  real(path: string): string;
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
  /** Absolute paths of the workspace packages that it loads. */
  readonly linked: readonly string[];
  /** Names of the packages that it needs. */
  readonly dependencies: readonly string[];
  /** True if it depends on Cairn, so that it needs workers for step bodies. */
  readonly hasCairn: boolean;
  /** Undefined if Node runs the sources. */
  readonly build: Build | undefined;
  /** Folders of the compiler if Node runs the sources, so that nothing here loads the compiler's output. */
  readonly compiled?: Pick<Build, 'outDir' | 'rootDir'>;
  /** True if it has a `tsconfig.json`, and no build that reports type errors. */
  readonly isChecked: boolean;
}

export interface Build {
  /** Folder that the build writes, relative to the codebase. */
  readonly output: string;
  /** Output folder of the compiler, which may differ from that of a bundler. Undefined if `tsconfig.json` has none. */
  readonly outDir: string | undefined;
  readonly rootDir: string;
  /** True if the compiler may write JavaScript beside its sources, which cannot be distinguished from a source. */
  readonly emitsBeside: boolean;
  /** Script of its `package.json`; undefined if it has none. */
  readonly script: 'build:watch' | 'build' | undefined;
}

/** The folder of `firebase.json`, at or above the current one. @throws DevProblem PROJECT_NOT_FOUND */
export function projectFolder(start: string, files: ProjectFiles): string {
  const found = upwards(start).find((folder) => files.exists(join(folder, 'firebase.json')));
  if (found !== undefined) return found;
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
  const declared = declaredIn(root, files);
  const all = declared.filter(({ unserved }) => unserved === undefined);
  if (all.length === 0)
    throw new DevProblem(
      'NO_FUNCTIONS',
      declared.length === 0
        ? 'firebase.json has no functions'
        : `firebase.json has no functions for Node (${declared.map(({ name }) => name).join(', ')})`,
      'Add them under "functions", or run cairn init to add a codebase.',
    );
  const unknown = wanted.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined)
    throw new DevProblem(
      'CODEBASE_UNKNOWN',
      `firebase.json has no codebase '${unknown}' that is served here`,
      `It has: ${all.map(({ name }) => name).join(', ')}.`,
    );
  return all
    .filter(({ name }) => wanted.length === 0 || wanted.includes(name))
    .map((declared) => codebaseIn(declared, files));
}

/** Codebases that a deployment has and the local cloud does not serve, with the reason. */
export function unservedIn(
  root: string,
  files: ProjectFiles,
): readonly { readonly name: string; readonly why: string }[] {
  return declaredIn(root, files).flatMap(({ name, unserved }) =>
    unserved === undefined ? [] : [{ name, why: unserved }],
  );
}

interface Declared extends Pick<DevCodebase, 'name' | 'prefix' | 'folder' | 'settings' | 'env'> {
  /** Reason why the local cloud does not serve it; undefined if it does. */
  readonly unserved?: string | undefined;
}

function declaredIn(root: string, files: ProjectFiles): Declared[] {
  const { functions = [] } = membersIn(join(root, 'firebase.json'), files, 'FIREBASE_JSON_INVALID');
  return [functions]
    .flat()
    .filter(isMembers)
    .flatMap((entry) => {
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
          unserved: unservedReason(entry, folder, files),
        },
      ];
    });
}

/** Files by which firebase-tools recognizes a codebase whose runtime is not named. */
const OTHER_LANGUAGES = [
  ['requirements.txt', 'Python'],
  ['pubspec.yaml', 'Dart'],
] as const;

function unservedReason(
  { runtime, remoteSource }: Record<string, unknown>,
  folder: string,
  files: ProjectFiles,
): string | undefined {
  if (remoteSource !== undefined) return 'its source is in another repository';
  const isNode = files.exists(join(folder, 'package.json'));
  const [, language] = OTHER_LANGUAGES.find(([file]) => !isNode && files.exists(join(folder, file))) ?? [];
  const named = typeof runtime === 'string' && !runtime.startsWith('nodejs') ? runtime : language;
  return named && `only functions for Node are served here, and it is for ${named}`;
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

function codebaseIn({ unserved: _, ...rest }: Declared, files: ProjectFiles): DevCodebase {
  const { name, folder } = rest;
  const file = join(folder, 'package.json');
  if (!files.exists(file))
    throw new DevProblem(
      'ENTRY_NOT_FOUND',
      `the codebase '${name}' has no ${file}`,
      'Build the codebase once, if a build writes this folder, or correct "source" in firebase.json. To serve only others: --codebase NAME.',
    );
  const manifest = membersIn(file, files, 'MANIFEST_INVALID');
  const dependencies = isMembers(manifest.dependencies) ? manifest.dependencies : {};
  const scripts = isMembers(manifest.scripts) ? manifest.scripts : {};
  const main = posix.normalize(typeof manifest.main === 'string' ? manifest.main : 'index.js');
  const entry = entryOf(folder, { main, scripts }, files);
  if (entry === undefined)
    throw new DevProblem(
      'ENTRY_NOT_FOUND',
      `the codebase '${name}' has no ${main}, the "main" of its package.json`,
      `Correct "main" in ${file}, or build the codebase once. To serve only others: --codebase NAME.`,
    );
  return {
    ...rest,
    ...entry,
    module: join(folder, entry.module),
    linked: linkedFolders(folder, files),
    dependencies: Object.keys(dependencies),
    hasCairn: OF_CAIRN.some((one) => one in dependencies),
  };
}

/** Effect of a changed file on a codebase. `both`: the build may bundle the file, or the functions may load it directly. */
type ChangeEffect = 'reload' | 'build' | 'both' | 'none';

/** Beside the source, for all instances of a kit. */
export const SECRETS = '.secret.local';
const SETTINGS = /^\.(?:env(?:\..+)?|secret\.local)$/;
/** Written at the end of an installation; the functions do not read it. */
const LOCK_FILE = /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock)$/;
const MODULES = new Set(['.js', '.mjs', '.cjs', '.json', '.ts', '.mts', '.cts']);
/** Extensions that Node cannot load, so that a build compiles them. */
const ONLY_BUILT = new Set(['.tsx', '.jsx']);

/** Paths within the folder that are never watched: installed packages, and names that begin with a dot. */
export function isIgnored(folder: string, path: string): boolean {
  const parts = relative(folder, path).split(sep);
  if (parts[0] === '..') return false;
  return parts.some((part, place) => {
    if (part === 'node_modules') return true;
    return part.startsWith('.') && !(place === parts.length - 1 && SETTINGS.test(part));
  });
}

export function isModule(extension: string): boolean {
  return MODULES.has(extension);
}

export function effectOf(codebase: DevCodebase, path: string): ChangeEffect {
  const { folder, settings, build, compiled } = codebase;
  if (relative(settings, path) === basename(path) && SETTINGS.test(basename(path))) return 'reload';
  const place = relative(folder, path).split(sep).join('/');
  if (place.startsWith('../')) return effectOfLinked(codebase, path);
  if (isIgnored(folder, path)) return 'none';
  // The installed packages may differ after a change of the lock file.
  if (place === SECRETS || (place === basename(place) && LOCK_FILE.test(place))) return 'reload';
  const extension = extname(place);
  const isLoaded = isModule(extension);
  if (LOCK_FILE.test(place) || !(isLoaded || ONLY_BUILT.has(extension))) return 'none';
  if (compiled !== undefined && isUnloaded(compiled, place)) return 'none';
  if (build === undefined) return isLoaded ? 'reload' : 'none';
  if (place.startsWith(`${build.output}/`)) return isLoaded && !DECLARATIONS.test(place) ? 'reload' : 'none';
  return build.script === 'build' && isBuildSource(build, place) ? 'build' : 'none';
}

function effectOfLinked({ linked, build }: DevCodebase, path: string): ChangeEffect {
  const folder = linked.find((one) => path.startsWith(`${one}${sep}`));
  if (folder === undefined || isIgnored(folder, path)) return 'none';
  if (LOCK_FILE.test(path) || DECLARATIONS.test(path) || !isModule(extname(path))) return 'none';
  return build?.script === 'build' ? 'both' : 'reload';
}

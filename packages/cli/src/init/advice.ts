/**
 * Finds settings of the project that include the new folder by mistake, such as a `tsconfig.json`. The user must change them,
 * because `init` does not edit them. Pure.
 */
import { isMembers } from './json.ts';
import type { Project } from './project.ts';
import { isIncluded } from './tsconfig.ts';

interface AddedFolder {
  readonly name: string;
  /** Paths of the files in the folder. */
  readonly files: readonly string[];
}

/** Default `ignore` of firebase-tools. */
const IGNORED_BY_DEFAULT = ['node_modules', '.git'];

/** The folder of `firebase.json`, as firebase-tools reads it. */
const WHOLE = /^\.\/?$/;

/** Returns sentences; for most projects none. */
export function adviceOf(
  { codebases, compiled, firebaseJson, workspaces }: Project,
  { name, files }: AddedFolder,
): string[] {
  const whole = codebases.filter(({ source }) => WHOLE.test(source));
  const added = [name, '.cairn'];
  return [
    ...(compiled && files.some((path) => isTypeScript(path) && isIncluded(path, compiled))
      ? [
          `The tsconfig.json beside firebase.json includes ${name}/, which has its own: add "${name}" to its "exclude".`,
        ]
      : []),
    ...(workspaces && isIncluded(`${workspaces.project}${name}/package.json`, workspaces.members)
      ? [
          `The workspaces of ${workspaces.file} include ${name}/, which has its own lock file: add "!${workspaces.project}${name}" to them. Without it, installations that only read the lock file of the project, such as npm ci, fail.`,
        ]
      : []),
    ...whole.flatMap(({ name: codebase, ignore }) => {
      if (added.every((one) => listed(ignore).some((pattern) => plain(pattern) === one))) return [];
      const what =
        ignore === undefined
          ? `set its "ignore" in firebase.json to ${JSON.stringify([...IGNORED_BY_DEFAULT, ...added])}`
          : `add "${name}" and ".cairn" to its "ignore" in firebase.json`;
      return `The codebase '${codebase}' is this whole folder: ${what}, or its deployments upload them too.`;
    }),
    ...sitesIn(firebaseJson.read.hosting).flatMap((site) => {
      const missing = added.filter((folder) => !isUnpublished(folder, site));
      if (missing.length === 0) return [];
      const patterns = missing.map((folder) => `"${folder}/**"`).join(' and ');
      return `The site${nameOf(site)} is this whole folder: add ${patterns} to its "ignore" in firebase.json, or its deployments publish these folders to everybody.`;
    }),
  ];
}

type Site = Readonly<Record<string, unknown>>;

/** Sites of which the whole project is published. */
function sitesIn(hosting: unknown): Site[] {
  return [hosting].flat().filter((one): one is Site => isMembers(one) && WHOLE.test(String(one.public)));
}

/**
 * Hosting takes patterns of `glob`: the name of a folder leaves out none of its files, nor does the usual pattern of dot files,
 * whose folders are published.
 */
function isUnpublished(folder: string, { ignore }: Site): boolean {
  const patterns = listed(ignore).map((one) => one.replace(/^(?:\.|\*\*)\//, ''));
  if (folder.startsWith('.') && patterns.includes('.*/**')) return true;
  return patterns.some((one) => [`${folder}/**`, `${folder}/**/*`].includes(one));
}

function nameOf({ target, site }: Site): string {
  const name = target ?? site;
  return typeof name === 'string' ? ` '${name}'` : '';
}

const isTypeScript = (path: string) => /\.[mc]?ts$/.test(path);

const listed = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** `./cairn/` and `cairn/**` count as `cairn`. */
const plain = (path: string) => path.replace(/^\.\//, '').replace(/(?<=.)\/(?:\*.*)?$/, '');

/** Finds the folders that the package manager takes for packages of the project. Changes nothing. */
import { posix, relative, sep } from 'node:path';
import { readableJson } from './firebase-json.ts';
import { isMembers } from './json.ts';
import type { IncludedFiles } from './tsconfig.ts';

export interface Workspaces {
  /** The file that names them, relative to the project. */
  readonly file: string;
  /** Patterns of their manifests, relative to the folder of that file. */
  readonly members: IncludedFiles;
  /** Folder of the project, relative to the folder of that file: empty, or with a slash at the end. */
  readonly project: string;
}

/** The list of `packages` in YAML, in lines or in brackets. */
const PNPM_PACKAGES = /^packages:[ \t]*(\[[^\]]*\]|(?:\r?\n[ \t]*(?:-.*|#.*)?)*)/m;
/** An item of it, without the comment behind it. */
const PNPM_ITEM = /(?:^[ \t]*-[ \t]+|[[,]\s*)(?:(['"])(.+?)\1|([^\s'",\]#]+))/gm;

/**
 * The workspaces that the nearest file names, upwards.
 *
 * @param folders the folder of the project and its parents
 * @param read reads a file of a path relative to the project
 */
export function workspacesAbove(
  [root = '', ...parents]: readonly string[],
  read: (path: string) => string | undefined,
): Workspaces | undefined {
  for (const folder of [root, ...parents]) {
    const project = relative(folder, root).replaceAll(sep, '/');
    const up = project === '' ? '' : '../'.repeat(project.split('/').length);
    const found = workspacesIn((name) => read(up + name));
    if (found) return { ...found, file: up + found.file, project: project && `${project}/` };
  }
  return undefined;
}

/** @returns undefined if there are none */
function workspacesIn(read: (name: string) => string | undefined): Omit<Workspaces, 'project'> | undefined {
  // pnpm reads only its own file.
  const [, list] = PNPM_PACKAGES.exec(read('pnpm-workspace.yaml') ?? '') ?? [];
  if (list !== undefined) {
    const items = [...list.matchAll(PNPM_ITEM)].map(([, , quoted, plain]) => quoted ?? plain);
    return { file: 'pnpm-workspace.yaml', members: membersOf(items) };
  }
  const manifest = readableJson(read('package.json') ?? '');
  const { workspaces } = isMembers(manifest) ? manifest : {};
  const named = isMembers(workspaces) ? workspaces.packages : workspaces;
  return Array.isArray(named) ? { file: 'package.json', members: membersOf(named) } : undefined;
}

function membersOf(patterns: readonly unknown[]): IncludedFiles {
  const texts = patterns.filter((one) => typeof one === 'string');
  return {
    include: texts.filter((one) => !one.startsWith('!')).map((one) => posix.join(one, 'package.json')),
    exclude: texts.filter((one) => one.startsWith('!')).map((one) => one.slice(1)),
  };
}

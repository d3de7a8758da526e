/** Finds the folders that the package manager takes for packages of the project. Changes nothing. */
import { posix } from 'node:path';
import { readableJson } from './firebase-json.ts';
import { isMembers } from './json.ts';
import type { IncludedFiles } from './tsconfig.ts';

export interface Workspaces {
  /** The file that names them. */
  readonly file: string;
  /** Patterns of their manifests. */
  readonly members: IncludedFiles;
}

/** The list of `packages` in YAML, in lines or in brackets. */
const PNPM_PACKAGES = /^packages:[ \t]*(\[[^\]]*\]|(?:\r?\n[ \t]*(?:-.*|#.*)?)*)/m;
/** An item of it, without the comment behind it. */
const PNPM_ITEM = /(?:^[ \t]*-[ \t]+|[[,]\s*)(?:(['"])(.+?)\1|([^\s'",\]#]+))/gm;

/** @returns undefined if there are none */
export function workspacesOf(read: (path: string) => string | undefined): Workspaces | undefined {
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

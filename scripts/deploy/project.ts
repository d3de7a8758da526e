/** Settings of the deployment in the files of a project. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { parseJsonc } from '../../packages/local/src/jsonc.ts';

export interface LocalProject {
  readonly folder: string;
  /** Project id, resolved from an alias. */
  readonly project: string;
  readonly codebases: readonly Codebase[];
  /** The first database of `firebase.json`, which firebase-tools creates; undefined if it has none. */
  readonly createdDatabase: string | undefined;
}

export interface Codebase {
  readonly name: string;
  readonly source: string;
}

/** @throws Error naming the file that cannot be read */
export function readProject(root: string, config: string | undefined, project: string): LocalProject {
  const file = resolve(root, config ?? 'firebase.json');
  const folder = dirname(file);
  const { functions = [], firestore = [] } = read(file) as Configuration;
  const [first] = [firestore].flat();
  return {
    folder,
    project: idOf(folder, project),
    createdDatabase: first && (first.database ?? '(default)'),
    codebases: [functions]
      .flat()
      .flatMap(({ codebase = 'default', source }) => (source ? [{ name: codebase, source }] : [])),
  };
}

interface Configuration {
  readonly functions?: Entry | Entry[];
  readonly firestore?: Database | Database[];
}

interface Database {
  readonly database?: string;
}

interface Entry {
  readonly codebase?: string;
  readonly source?: string;
}

function idOf(folder: string, given: string): string {
  const file = join(folder, '.firebaserc');
  if (!existsSync(file)) return given;
  const { projects = {} } = read(file) as { projects?: Record<string, string> };
  return projects[given] ?? given;
}

function read(file: string): unknown {
  try {
    return parseJsonc(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Value of a parameter in the environment files of a codebase, read like firebase-tools; undefined if it is not set. */
export function parameterOf({ folder, project, codebases }: LocalProject, name: string): string | undefined {
  const files = codebases.flatMap(({ source }) =>
    [`.env.${project}`, '.env'].map((file) => join(folder, source, file)),
  );
  for (const file of files) {
    const value = existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))[name] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

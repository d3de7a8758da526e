/** Values for parameters and secrets from the files beside a codebase, as firebase-tools reads them. */
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { DevProblem } from './problem.ts';
import type { Files } from './project.ts';

/** A later file wins. */
const filesFor = (projectId: string) => ['.env', `.env.${projectId}`, '.env.local', '.secret.local'];

/** @throws DevProblem ENV_FILE_INVALID */
export function envOf(folder: string, projectId: string, files: Files): Record<string, string> {
  const found = filesFor(projectId)
    .map((name) => join(folder, name))
    .filter((file) => files.exists(file));
  return Object.assign({}, ...found.map((file) => valuesIn(file, files)));
}

function valuesIn(file: string, files: Files): Record<string, string> {
  try {
    return parseEnv(files.read(file)) as Record<string, string>;
  } catch (error) {
    throw new DevProblem(
      'ENV_FILE_INVALID',
      `${file} cannot be read: ${(error as Error).message}`,
      'Write one NAME=value a line.',
    );
  }
}

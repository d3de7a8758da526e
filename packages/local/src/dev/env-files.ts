/** Values for parameters and secrets from the files beside a codebase, as firebase-tools reads them. */
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { DevProblem } from './problem.ts';
import { type DevCodebase, type ProjectFiles, SECRETS } from './project.ts';

/** A later file wins. */
const settingsFor = (projectId: string) => ['.env', `.env.${projectId}`, '.env.local'];

/** @throws DevProblem ENV_FILE_INVALID */
export function envOf(
  { folder, settings, env }: Pick<DevCodebase, 'folder' | 'settings' | 'env'>,
  projectId: string,
  files: ProjectFiles,
): Record<string, string> {
  const found = [...settingsFor(projectId).map((name) => join(settings, name)), join(folder, SECRETS)].filter(
    (file) => files.exists(file),
  );
  return Object.assign({}, ...found.map((file) => valuesIn(file, files)), env);
}

function valuesIn(file: string, files: ProjectFiles): Record<string, string> {
  try {
    // Windows editors begin a file with a byte order mark, which would be part of the first name.
    return parseEnv(files.read(file).replace(/^\uFEFF/, '')) as Record<string, string>;
  } catch (error) {
    throw new DevProblem(
      'ENV_FILE_INVALID',
      `${file} cannot be read: ${(error as Error).message}`,
      'Write one NAME=value per line.',
    );
  }
}

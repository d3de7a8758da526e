/** Values for parameters and secrets from the files beside a codebase, as firebase-tools reads them. */
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { DevProblem } from './problem.ts';
import { type DevCodebase, type ProjectFiles, SECRETS } from './project.ts';

/** A later file wins. */
const settingsFor = (projectId: string) => ['.env', `.env.${projectId}`, '.env.local'];

interface CodebaseValues {
  readonly env: Record<string, string>;
  /** Given only to functions that declare them, as in production. */
  readonly secrets: Record<string, string>;
}

/** @throws DevProblem ENV_FILE_INVALID */
export function valuesOf(
  { folder, settings, env }: Pick<DevCodebase, 'folder' | 'settings' | 'env'>,
  projectId: string,
  files: ProjectFiles,
): CodebaseValues {
  const parameters = settingsFor(projectId).map((name) => valuesIn(join(settings, name), files));
  return { env: Object.assign({}, ...parameters, env), secrets: valuesIn(join(folder, SECRETS), files) };
}

/** @param settings folder of the `.env` files, as a person writes it */
export function unsetMessage(codebase: string, parameters: readonly string[], settings: string): string {
  const [have, them] = parameters.length === 1 ? ['has', 'it'] : ['have', 'them'];
  return (
    `'${codebase}': ${parameters.join(', ')} ${have} no value, so functions read an empty string. A deployment would ask for ${them}. ` +
    `Add to ${settings}/.env, or for this machine only to ${settings}/.env.local:\n` +
    parameters.map((name) => `  ${name}=…`).join('\n')
  );
}

function valuesIn(file: string, files: ProjectFiles): Record<string, string> {
  if (!files.exists(file)) return {};
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

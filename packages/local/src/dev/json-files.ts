/** Reads the JSON files of a project. */
import { parseJsonc } from '../jsonc.ts';
import { DevProblem } from './problem.ts';
import type { ProjectFiles } from './project.ts';

/** @throws DevProblem if the file is not a JSON object */
export function membersIn(
  file: string,
  files: ProjectFiles,
  code: 'FIREBASE_JSON_INVALID' | 'MANIFEST_INVALID',
): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJsonc(files.read(file));
  } catch (error) {
    throw new DevProblem(code, `${file} cannot be read: ${(error as Error).message}`, 'Correct the file.');
  }
  if (isMembers(value)) return value;
  throw new DevProblem(code, `${file} is not a JSON object`, 'Correct the file.');
}

export const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

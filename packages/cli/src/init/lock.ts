/**
 * Lets one `init` at a time work in a project, by a file with its process id in the folder for temporary files. A file of a process
 * that has died counts for nothing.
 */
import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InitProblem } from './problem.ts';
import { sha256 } from './record.ts';

/** Characters of the hash of a path. */
const HASH_CHARS = 16;

/** @throws InitProblem UNDER_WAY, WRITE_FAILED, and what `work` throws */
export async function alone<T>(root: string, work: () => Promise<T>): Promise<T> {
  const file = lockFileOf(root);
  take(file, root);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

export function lockFileOf(root: string): string {
  return join(tmpdir(), `cairn-init-${sha256(realpathSync(root)).slice(0, HASH_CHARS)}.lock`);
}

function take(file: string, root: string): void {
  if (created(file)) return;
  removeLeft(file);
  if (created(file)) return;
  throw new InitProblem(
    'UNDER_WAY',
    `another cairn init is at work in ${root}`,
    `Wait until it has ended, then run the command again. If there is none, delete ${file}. Nothing was changed.`,
  );
}

/** Removes the file of a process that has died. */
function removeLeft(file: string): void {
  if (!isLeft(file)) return;
  // Moved before it is read again: another init may have taken the place of the dead one meanwhile.
  const moved = `${file}.${process.pid}`;
  try {
    renameSync(file, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw unwritable(file, error);
  }
  if (isLeft(moved)) rmSync(moved);
  else renameSync(moved, file);
}

function created(file: string): boolean {
  try {
    writeFileSync(file, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(file, error);
  }
}

/** True if its process has died, or if it is gone. */
function isLeft(file: string): boolean {
  try {
    return !isAlive(Number(readFileSync(file, 'utf8')));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function isAlive(pid: number): boolean {
  // Empty: just created.
  if (!(pid > 0)) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function unwritable(file: string, error: unknown): InitProblem {
  return new InitProblem(
    'WRITE_FAILED',
    `${file} cannot be written: ${(error as Error).message}`,
    'Correct the named problem, then run the command again. Nothing was changed.',
  );
}

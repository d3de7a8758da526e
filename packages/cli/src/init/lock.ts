/**
 * Lets one `init` at a time work in a project, by a file with its process id in the folder for temporary files. A file of a process
 * that has died, or from before the machine started, counts for nothing.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { InitProblem } from './problem.ts';
import { sha256 } from './record.ts';

/** Characters of the hash of a path. */
const HASH_CHARS = 16;
/** Each must have been left by another `init` that was killed in its few file operations, one after the other. */
const MAX_REMOVALS = 3;

/** @throws InitProblem UNDER_WAY, WRITE_FAILED, and what `work` throws */
export async function alone<T>(root: string, work: () => Promise<T>): Promise<T> {
  const file = lockFileOf(root);
  const obstacle = take(file);
  if (obstacle !== undefined) throw underWay(obstacle, root);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

export function lockFileOf(root: string): string {
  return join(tmpdir(), `cairn-init-${sha256(realpathSync(root)).slice(0, HASH_CHARS)}.lock`);
}

/** @returns the file that keeps this one away; undefined: it holds `file` */
function take(file: string, depth = 0): string | undefined {
  if (created(file)) return undefined;
  if (depth === MAX_REMOVALS) return file;
  // A second lock protects the removal of a left file: without it two processes could judge the same file, and the slower one would
  // remove the new file of the faster. A killed process leaves this lock too, and it is removed in the same way.
  const removal = `${file}.removal`;
  const obstacle = take(removal, depth + 1);
  if (obstacle !== undefined) return obstacle;
  try {
    // Just created: its time is the current one, by the clock that dates the other.
    if (isLeft(file, statSync(removal).mtimeMs)) remove(file);
    return created(file) ? undefined : file;
  } finally {
    rmSync(removal, { force: true });
  }
}

/** The file is whole once it has its name. */
function created(file: string): boolean {
  const unnamed = `${file}.${randomUUID()}`;
  try {
    writeFileSync(unnamed, `${process.pid}`, { flag: 'wx' });
    linkSync(unnamed, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw unwritable(
      `${file} cannot be written: ${(error as Error).message}`,
      'Correct the named problem, then run the command again.',
    );
  } finally {
    rmSync(unnamed, { force: true });
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    // In a folder for temporary files that users share, only its owner may.
    throw unwritable(
      `a cairn init that has died left ${file}, which cannot be removed: ${(error as Error).message}`,
      `Delete ${file}, as the user it belongs to, then run the command again.`,
    );
  }
}

/**
 * True if its process has died.
 *
 * @param now epoch ms
 */
function isLeft(file: string, now: number): boolean {
  try {
    const { mtimeMs, uid } = statSync(file);
    if (mtimeMs < now - uptime() * 1_000) return true;
    const pid = Number(readFileSync(file, 'utf8'));
    return !(pid > 0 && isAlive(pid, uid));
  } catch (error) {
    // Gone: nothing is to be removed. Unreadable: nothing is known.
    if (codeOf(error) !== undefined) return false;
    throw error;
  }
}

/** @param owner user id of the file: another user's process with that id is not the one that wrote it */
function isAlive(pid: number, owner: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM' && owner !== process.getuid?.();
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function underWay(file: string, root: string): InitProblem {
  return new InitProblem(
    'UNDER_WAY',
    `another cairn init is at work in ${root}`,
    `Wait until it has ended, then run the command again. If there is none, delete ${file}. Nothing was changed.`,
  );
}

function unwritable(message: string, help: string): InitProblem {
  return new InitProblem('WRITE_FAILED', message, `${help} Nothing was changed.`);
}

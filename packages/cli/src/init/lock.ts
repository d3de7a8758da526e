/**
 * Lets one `init` at a time work in a project, by a lock file with its process id in the folder for temporary files. A lock of a
 * dead process, or from before the last boot, is ignored.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { InitProblem } from './problem.ts';
import { sha256 } from './record.ts';

/** Characters of the hash of a path. */
const HASH_CHARS = 16;
/** Each removal is for one more `init` that was killed during its few file operations. */
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

/** @returns the lock of another process; undefined if `file` was acquired */
function take(file: string, depth = 0): string | undefined {
  if (created(file)) return undefined;
  if (depth === MAX_REMOVALS) return file;
  // A second lock protects the removal of an old lock. Without it, two processes could find the same old lock, and the slower one
  // would remove the new lock of the faster. A killed process may leave this second lock too; it is removed in the same way.
  const removal = `${file}.removal`;
  const obstacle = take(removal, depth + 1);
  if (obstacle !== undefined) return obstacle;
  try {
    // The file was just created, so its time is now by the clock of the file system.
    if (isAbandoned(file, statSync(removal).mtimeMs)) remove(file);
    return created(file) ? undefined : file;
  } finally {
    rmSync(removal, { force: true });
  }
}

/** Writes under another name first, so that the file is complete once it exists. */
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
    // In a shared folder for temporary files, only the owner may remove it.
    throw unwritable(
      `a cairn init that has died left ${file}, which cannot be removed: ${(error as Error).message}`,
      `Delete ${file}, as the user it belongs to, then run the command again.`,
    );
  }
}

/**
 * True if the process of the lock has died.
 *
 * @param now epoch ms
 */
function isAbandoned(file: string, now: number): boolean {
  try {
    const { mtimeMs, uid } = statSync(file);
    if (mtimeMs < now - uptime() * 1_000) return true;
    const pid = Number(readFileSync(file, 'utf8'));
    return !(pid > 0 && isAlive(pid, uid));
  } catch (error) {
    // The lock is gone, or it cannot be read, so its process is unknown.
    if (codeOf(error) !== undefined) return false;
    throw error;
  }
}

/** @param owner user id of the file; a process of another user did not write it */
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

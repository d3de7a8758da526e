/**
 * Time and size of the first command in a fresh clone: everything that a newcomer waits for before anything is shown. Needs git and the
 * npm registry.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Installed {
  /** With an empty cache of npm; the network sets the pace. */
  readonly coldMs: number;
  /** With the cache that the first one filled, in another clone. */
  readonly cachedMs: number;
  /** Everything in the folder of the clone. */
  readonly folderMb: number;
}

const ROOT = join(import.meta.dirname, '..');

/** @throws Error with what a command has printed */
export function installation(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-install-'));
  try {
    const [cold, cached] = [join(folder, 'cold'), join(folder, 'cached')];
    const coldMs = clonedAndInstalled(cold, folder);
    const cachedMs = clonedAndInstalled(cached, folder);
    const folderMb = Math.round(Number(run('du', ['-sk', cold]).split('\t')[0]) / 1024);
    return { coldMs, cachedMs, folderMb };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function clonedAndInstalled(clone: string, folder: string): number {
  run('git', ['clone', '--quiet', ROOT, clone]);
  const startedAt = performance.now();
  // Prints a line and ends, once everything is installed.
  run('node', [join(clone, 'scripts/run.mjs'), 'bench', '--help'], { npm_config_cache: join(folder, 'npm') });
  return Math.round(performance.now() - startedAt);
}

function run(command: string, args: readonly string[], more: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    env: { ...process.env, ...more },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr || stdout}`);
  return stdout;
}

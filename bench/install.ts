/** Measures time and size of the first command in a fresh clone, including the installation. Needs git and the npm registry. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Installed {
  /** With an empty npm cache; depends on the network. */
  readonly coldMs: number;
  /** In another clone, with the cache of the first. */
  readonly cachedMs: number;
  /** Size of the folder of the clone. */
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
  // Installs everything, then prints a line and ends.
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

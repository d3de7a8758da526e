/**
 * Processes beside the cloud: type checkers and builds. They end with it, also if it is killed. Each has its own process group,
 * because children of npm outlive npm.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { OrphanKiller } from '../host/workers/orphan-killer.ts';

interface ChildProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  line(text: string): void;
}

const GRACE_MS = 3_000;

export class Children {
  readonly #orphanKiller = new OrphanKiller();
  readonly #running = new Set<ChildProcess>();
  #isStopping = false;

  /** True from the call of `stop`: a process that ends then has not failed. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Resolves with its exit code; 127 if it cannot be started, which is logged. */
  run({ command, args, cwd, env, line }: ChildProcessOptions): Promise<number> {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const { pid } = child;
    if (pid !== undefined) {
      this.#running.add(child);
      this.#orphanKiller.watch(-pid);
    }
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', line);
    return new Promise((resolve) => {
      child.once('error', (error) => {
        line(`${command} cannot be started: ${error.message}`);
        resolve(127);
      });
      child.once('close', (code) => {
        this.#running.delete(child);
        if (pid !== undefined) this.#orphanKiller.forget(-pid);
        resolve(code ?? 1);
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const children = [...this.#running];
    const ended = Promise.all(
      children.map((child) => new Promise((resolve) => child.once('close', resolve))),
    );
    for (const child of children) signal(child, 'SIGTERM');
    const killer = setTimeout(() => {
      for (const child of children) signal(child, 'SIGKILL');
    }, GRACE_MS);
    await ended;
    clearTimeout(killer);
    this.#orphanKiller.close();
  }
}

/** Signals the whole group, which may already have ended. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

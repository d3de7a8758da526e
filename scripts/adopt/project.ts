/** The copy of the app: its files, and commands that run in it. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** Contents as base64, by path; without packages and the local cloud's state. */
export type Snapshot = Readonly<Record<string, string>>;

const UNSEEN = new Set(['node_modules', '.cairn']);
const STOP_LIMIT_MS = 30_000;

export interface Started<Ready = { readonly pids: { readonly cloud: number } }> {
  readonly ready: Ready;
  /** @returns the exit code */
  stop(): Promise<number | null>;
}

export class AdoptingProject {
  readonly root: string;
  readonly #env: NodeJS.ProcessEnv;

  /** @param env added to the environment of commands */
  constructor(example: string, env: Readonly<Record<string, string>>) {
    this.root = mkdtempSync(join(tmpdir(), 'cairn-adopt-'));
    cpSync(example, this.root, { recursive: true, filter: (path) => !isUnseen(relative(example, path)) });
    this.#env = { ...ownEnvironment(), ...env };
  }

  /**
   * @param folder from the project's
   * @returns standard output
   * @throws Error with what the command printed
   */
  run(command: string, args: readonly string[], folder = '.'): string {
    const cwd = resolve(this.root, folder);
    const shell = process.platform === 'win32';
    return execFileSync(command, args, { cwd, env: this.#env, encoding: 'utf8', shell, stdio: 'pipe' });
  }

  /** Starts a command that prints lines of JSON, including a ready line, until its process gets SIGTERM. */
  async start<Ready extends Started['ready']>(
    command: string,
    args: readonly string[],
  ): Promise<Started<Ready>> {
    const line = `${command} ${args.join(' ')}`;
    const child = spawn(command, args, {
      cwd: this.root,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
      // A separate process group, so that processes started by npx end too.
      detached: true,
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const early = ended.then((code) => {
      throw new Error(`${line} ended with ${code} before it was ready`);
    });
    // Read to the end, because a full pipe would block the command.
    const saying = new Promise<Ready>((resolve) =>
      createInterface(child.stdout).on('line', (text) => {
        const stdout = saidIn(text);
        if (stdout.event === 'ready') resolve(stdout as unknown as Ready);
        if (stdout.severity === 'ERROR') process.stderr.write(`adopt: ${line} says: ${stdout.message}\n`);
      }),
    );
    const ready = await Promise.race([saying, early]);
    const stop = async () => {
      // A signal to npx would end only npx, without the exit code of the command.
      if (child.exitCode === null) process.kill(ready.pids.cloud, 'SIGTERM');
      const code = await Promise.race([ended, delay(STOP_LIMIT_MS, 'late' as const, { ref: false })]);
      if (code !== 'late') return code;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      throw new Error(`${line} did not end within ${STOP_LIMIT_MS / 1000} s of SIGTERM`);
    };
    return { ready, stop };
  }

  /** The project's own files. */
  snapshot(): Snapshot {
    return contentsOf(this.root, (path) => !isUnseen(path));
  }

  /** The packages of Cairn, as they are installed. */
  installed(): Snapshot {
    return contentsOf(join(this.root, 'node_modules'), (path) => /^@?cairn[\\/]/.test(path));
  }

  /** Copies one folder of the project elsewhere, as a deployment uploads it. */
  upload(folder: string, to: string): void {
    cpSync(join(this.root, folder), to, {
      recursive: true,
      filter: (path) => !isUnseen(relative(this.root, path)),
    });
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Paths that differ or are in only one of them. */
export function changedBetween(before: Snapshot, after: Snapshot): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

function contentsOf(root: string, wanted: (path: string) => boolean): Snapshot {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter(wanted);
  return Object.fromEntries(
    paths.sort().map((path) => [path, readFileSync(join(root, path)).toString('base64')]),
  );
}

export function isUnseen(path: string): boolean {
  return path.split(/[\\/]/).some((name) => UNSEEN.has(name));
}

/** npm tells scripts where they were called; commands in another project must not go there. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => name !== 'INIT_CWD' && !name.startsWith('npm_'));
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

interface Said {
  readonly event?: string;
  readonly severity?: string;
  readonly message?: string;
}

function saidIn(line: string): Said {
  return line.startsWith('{') ? (JSON.parse(line) as Said) : {};
}

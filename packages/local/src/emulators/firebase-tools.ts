/** Runs firebase-tools as a process: location, non-interactive start without telemetry, stop. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Path of its main, relative to the project. It is not a dependency, because it is larger than all dependencies together. */
const MAIN = 'emulators/node_modules/firebase-tools/lib/bin/firebase.js';
const PRELOAD = new URL('./end-with-parent.mjs', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** Until functions are discovered, in seconds; its own 10 are too few on a busy machine. */
const DISCOVERY_TIMEOUT_S = 60;
/** Output of the pinned version when all emulators serve and all functions are known. */
const READY = 'All emulators ready!';
/** Time for functions to release their runs: they handle SIGTERM, but do not end, and firebase-tools does not end them. */
const RELEASE_MS = 1_000;
/** firebase-tools waits for functions that hang. All limits together are below the grace period of a worker. */
const END_LIMIT_MS = 4_000;

export const NOT_INSTALLED = 'firebase-tools is not installed; `npm run emulators` installs it';

export const isInstalled = (root = ROOT): boolean => existsSync(join(root, MAIN));

interface FirebaseToolsOptions {
  readonly root: string;
  /** Holds the `firebase.json`; its logs and its settings go there too. */
  readonly folder: string;
  readonly projectId: string;
  /** The value of `--only`. */
  readonly only: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives its output. */
  readonly output: NodeJS.WritableStream;
}

export interface FirebaseTools {
  /** Resolves when its emulators serve; rejects if it ends before. firebase-tools has its own time limit. */
  readonly ready: Promise<void>;
  readonly ended: Promise<unknown>;
  /** Lets functions finish, within limits. Idempotent. */
  stop(): Promise<void>;
}

export function startFirebaseTools(options: FirebaseToolsOptions): FirebaseTools {
  const { root, folder, projectId, only, env, output } = options;
  const argv = ['emulators:start', '--only', only, '--project', projectId];
  const child: ChildProcess = spawn(process.execPath, ['--import', PRELOAD, join(root, MAIN), ...argv], {
    cwd: folder,
    // Its own process group, so that Ctrl-C does not end it before the requests, and a signal to the group reaches its functions.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...env,
      FUNCTIONS_DISCOVERY_TIMEOUT: String(DISCOVERY_TIMEOUT_S),
      // A file instead of a port, which another start might take in the meantime.
      FIREBASE_FUNCTIONS_DISCOVERY_OUTPUT_PATH: 'true',
      // No update check, no usage reports, and no login of firebase-tools.
      CI: '1',
      XDG_CONFIG_HOME: join(folder, 'settings'),
    },
  });
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]);
  ended.catch(() => {});
  const ready = new Promise<void>((resolve, reject) => {
    let tail = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output.write(chunk);
      tail = (tail + chunk.toString('utf8')).slice(-4 * READY.length - chunk.length);
      if (tail.includes(READY)) resolve();
    });
    child.stderr?.on('data', (chunk: Buffer) => output.write(chunk));
    const over = () => reject(new Error('firebase-tools exited; see its output above'));
    ended.then(over, over);
  });
  ready.catch(() => {});
  return {
    ready,
    ended,
    async stop() {
      child.kill('SIGTERM');
      await Promise.race([ended, delay(END_LIMIT_MS, undefined, { ref: false })]);
      if (!signalGroup(child, 'SIGTERM')) return;
      await delay(RELEASE_MS);
      signalGroup(child, 'SIGKILL');
    },
  };
}

/** False: the group has no process left. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Runs `npm start` like a script: the process, its ready line and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FUNCTIONS } from '../host/cloud-fixture.ts';

const MAIN = fileURLToPath(new URL('../../../packages/local/src/main.ts', import.meta.url));

export interface Ready {
  readonly ready: true;
  readonly gateway: string;
  readonly firestore: string;
  readonly tasks: string;
  readonly pubsub: string;
  readonly control: string;
  readonly projectId: string;
  readonly apiKey: string;
  readonly secrets: Record<string, string>;
  readonly pids: {
    readonly cloud: number;
    readonly workers: number[];
    readonly roles: Record<string, number[]>;
  };
}

export interface StartedProcess {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** The first line of standard output; rejects if the process ends before it. */
  readonly ready: Promise<Ready>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export const freshFolder = () => mkdtempSync(join(tmpdir(), 'cairn-start-'));

export function startProcess(args: readonly string[], env: Record<string, string> = {}): StartedProcess {
  const argv = ['--disable-warning=ExperimentalWarning', MAIN, '--functions', FUNCTIONS, ...args];
  // Otherwise the server of an earlier test would count as the user's own.
  const { PUBSUB_EMULATOR_HOST: _, ...surroundings } = process.env;
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...surroundings, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended: StartedProcess['ended'] = new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const ready = new Promise<Ready>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      if (stdout.includes('\n')) resolve(JSON.parse(stdout.slice(0, stdout.indexOf('\n'))));
    });
    void ended.then(() => reject(new Error(`ended before it was ready: ${stderr}`)));
  });
  ready.catch(() => {});
  return { child, stdout: () => stdout, stderr: () => stderr, ready, ended };
}

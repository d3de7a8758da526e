/** The real firebase-tools, and `npm run deploy`, against the pretended Google. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Google } from '../google/model.ts';
import { type GoogleServer, serveGoogle } from '../google/server.ts';
import { Terminal } from './terminal.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PRELOAD = new URL('../google/preload.mjs', import.meta.url).href;
const FIREBASE = join(ROOT, 'emulators/node_modules/firebase-tools/lib/bin/firebase.js');
const DEPLOY = join(ROOT, 'scripts/deploy/main.ts');
const DAY_MS = 86_400_000;

export interface Ended {
  readonly code: number | null;
  /** Both outputs. */
  readonly output: string;
}

interface DeploymentOptions {
  /** State of the project; left out: a new one. */
  readonly folder?: string;
  /** False: nobody is logged in. */
  readonly loggedIn?: boolean;
}

/** A folder with a project, a Google, and programs that are run in the one against the other. */
export class Deployment {
  readonly folder: string;
  readonly google: Google;
  readonly #terminals: Terminal[] = [];
  readonly #running = new Set<ChildProcess>();
  #server: GoogleServer | undefined;

  constructor(google: Google, { folder, loggedIn = true }: DeploymentOptions = {}) {
    this.google = google;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'cairn-deploy-'));
    this.write('home/configstore/firebase-tools.json', JSON.stringify(loggedIn ? account() : {}));
  }

  write(path: string, content: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /** firebase-tools as it is, without a terminal. */
  firebase(...args: string[]): Promise<Ended> {
    return this.#node(FIREBASE, args);
  }

  /** `npm run deploy`, without a terminal, as on a build server. */
  deploy(...args: string[]): Promise<Ended> {
    return this.#node(DEPLOY, ['--config', join(this.folder, 'firebase.json'), ...args]);
  }

  /** `npm run deploy` in a terminal, as on a person's machine. */
  async deployInTerminal(...args: string[]): Promise<Terminal> {
    const argv = [process.execPath, DEPLOY, '--config', join(this.folder, 'firebase.json'), ...args];
    const terminal = new Terminal(argv, { cwd: this.folder, env: await this.#env() });
    this.#terminals.push(terminal);
    return terminal;
  }

  /** Sends a signal to the programs without a terminal that are running. */
  signal(signal: NodeJS.Signals): void {
    for (const child of this.#running) child.kill(signal);
  }

  async #node(file: string, args: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, [file, ...args], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: await this.#env(),
    });
    this.#running.add(child);
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const [stdout, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    this.#running.delete(child);
    return { code, output: stdout + errors };
  }

  async #env(): Promise<NodeJS.ProcessEnv> {
    this.#server ??= await serveGoogle(this.google);
    return {
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
      HOME: join(this.folder, 'home'),
      XDG_CONFIG_HOME: join(this.folder, 'home'),
      // Else the machine's own credentials are asked for on the network.
      METADATA_SERVER_DETECTION: 'none',
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${PRELOAD}`,
      PRETENDED_GOOGLE: this.#server.url,
      NO_UPDATE_NOTIFIER: '1',
      // It asks npm for the newest SDK, and waits ten seconds for an answer.
      npm_config_offline: 'true',
      FUNCTIONS_DISCOVERY_TIMEOUT: '120',
      FIREBASE_FUNCTIONS_DISCOVERY_OUTPUT_PATH: 'true',
    };
  }

  /** Also ends what is left of a terminal whose test failed. */
  async close(): Promise<void> {
    for (const terminal of this.#terminals) terminal.kill();
    await this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function account() {
  const tokens = { access_token: 'token', refresh_token: 'refresh', expires_at: Date.now() + 30 * DAY_MS };
  return { user: { email: 'owner@example.com' }, tokens: { ...tokens, scopes: [] } };
}

/** A program in a pseudo-terminal of `script` (util-linux), and the keys that a person presses there. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export const KEYS = { enter: '\r', interrupt: '\u0003', eraseLine: '\u0015' } as const;

/** Generous: firebase-tools loads for seconds on a busy machine. */
const PATIENCE_MS = 120_000;

export interface TerminalEnd {
  readonly code: number | null;
  readonly output: string;
}

/** Undefined: programs can be run in a terminal. Otherwise why not. */
export function terminalMissing(): string | undefined {
  const { stdout = '' } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return stdout?.includes('util-linux') ? undefined : 'there is no `script` of util-linux';
}

export class Terminal {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #said = '';
  /** Everything before it has been looked for and found. */
  #seen = 0;
  #onOutput = () => {};

  constructor(argv: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
    const words = argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    // Long lines, so that no text is broken over two.
    const command = `stty rows 50 cols 1000; exec ${words}`;
    this.#child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
      ...options,
      env: { ...options.env, TERM: 'xterm', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#said += chunk;
      this.#onOutput();
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** All that was shown, without colours and movements. */
  get said(): string {
    return stripVTControlCharacters(this.#said);
  }

  /** Waits for a text after those that were waited for before. @throws Error if it does not come */
  async shows(text: string): Promise<void> {
    const until = Promise.withResolvers<void>();
    const look = () => {
      const at = this.said.indexOf(text, this.#seen);
      if (at === -1) return;
      this.#seen = at + text.length;
      until.resolve();
    };
    const fail = (why: string) =>
      until.reject(new Error(`${why} before it showed ${JSON.stringify(text)}:\n${this.said}`));
    const timer = setTimeout(() => fail('the time was over'), PATIENCE_MS);
    this.#onOutput = look;
    void this.#ended.then(() => fail('it ended'));
    look();
    try {
      await until.promise;
    } finally {
      clearTimeout(timer);
      this.#onOutput = () => {};
    }
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async end(): Promise<TerminalEnd> {
    const code = await this.#ended;
    return { code, output: this.said };
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

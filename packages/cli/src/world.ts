/** All access of the command line to its machine, so that tests can replace it. */

export interface Terminal {
  write(text: string): void;
  /** True for a terminal. */
  readonly isTty: boolean;
  /** Undefined: unlimited. */
  readonly columns: number | undefined;
}

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory: relative paths begin here. */
  readonly cwd: string;
  /** Folder of the current project: its local cloud keeps its state here. */
  readonly projectDir: string;
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** @throws the error of the file system */
  readFile(path: string): string;
  readStdin(): Promise<string>;
  /** Reads a line from the terminal. Undefined: not a terminal. */
  ask(question: string): Promise<string | undefined>;
  runProgram(command: string, args: readonly string[], cwd: string): Promise<ProgramEnd>;
  /** Version of this package. */
  readonly version: string;
  /** `process.versions.node` */
  readonly nodeVersion: string;
  /** Epoch ms. */
  now(): number;
  /** 128 random bits, as letters and digits. */
  token(): string;
  /** Ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface ProgramEnd {
  /** Undefined: it could not be run, or was ended by a signal. */
  readonly code: number | undefined;
  /** Both streams. */
  readonly output: string;
}

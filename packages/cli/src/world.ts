/** All that the command line needs of the machine it runs on, so that a test can be that machine. */

export interface Terminal {
  write(text: string): void;
  /** Somebody looks at it. */
  readonly isTty: boolean;
  /** Undefined: as wide as it likes. */
  readonly columns: number | undefined;
}

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory: relative paths begin here. */
  readonly cwd: string;
  /** Folder of the project that the person stands in: its local cloud keeps its state here. */
  readonly projectDir: string;
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** @throws the error of the file system */
  readFile(path: string): string;
  readStdin(): Promise<string>;
  /** A line that a person types. Undefined: not a terminal. */
  ask(question: string): Promise<string | undefined>;
  /** A program that is run to its end. */
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

/** Exit codes. Scripts branch on these, so codes are only added. docs/cli.md lists them. */

export const EXIT = {
  /** Success; for a watched run: `completed`. */
  ok: 0,
  /** Refused, or the watched run ended as `failed`. */
  failed: 1,
  /** The arguments are invalid, or no address or key is configured. Nothing was sent. */
  usage: 2,
  /** There is no such run, step, schedule, client or record. */
  notFound: 3,
  /** No answer, or temporarily unavailable. A change may or may not have been made. */
  unreachable: 4,
  /** The key is wrong, or its role does not allow this. */
  notAllowed: 5,
  /** The watched run ended as `cancelled`. */
  cancelled: 6,
  /** `doctor`, `check`, `repair` or `sweep` worked, and found something wrong. */
  found: 7,
  /** Ctrl-C, by the convention of shells. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command was refused before any request was sent. The message has the reason. */
export class Declined extends Error {
  override readonly name: string = 'Declined';
  readonly exitCode: ExitCode;
  readonly help: string | undefined;
  /** Error code for programs. */
  readonly code: string;

  constructor(message: string, help?: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.help = help;
    this.exitCode = exitCode;
    this.code = exitCode === EXIT.usage ? 'USAGE' : 'DECLINED';
  }
}

/** The arguments are invalid. The message names the argument and the reason. */
export class UsageError extends Declined {
  override readonly name = 'UsageError';

  constructor(message: string, help?: string) {
    super(message, help, EXIT.usage);
  }
}

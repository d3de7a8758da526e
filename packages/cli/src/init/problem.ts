/**
 * Error of an `init` or undo that changed nothing. Programs branch on the codes, so codes are only added. docs/adopt.md lists
 * them.
 */
import { Declined, EXIT } from '../exit.ts';

export const INIT_CODES = [
  'NODE_TOO_OLD',
  'NAME_INVALID',
  'REGION_INVALID',
  'NO_PROJECT',
  'FIREBASE_JSON_INVALID',
  'NOT_INSTALLED',
  'ALREADY_ADOPTED',
  'NAME_TAKEN',
  'RECORD_DAMAGED',
  'INIT_INTERRUPTED',
  'NO_RECORD',
  'NOT_CONFIRMED',
  'CHANGED_MEANWHILE',
  'READ_FAILED',
  'UNDER_WAY',
  'WRITE_FAILED',
  'INSTALL_FAILED',
] as const;
type InitCode = (typeof INIT_CODES)[number];

/** The command line is invalid. */
const USAGE: ReadonlySet<InitCode> = new Set<InitCode>(['NAME_INVALID', 'REGION_INVALID', 'NOT_CONFIRMED']);

/** A file cannot be read, because of its permissions or its content. */
export function unreadable(path: string, error: unknown): InitProblem {
  return new InitProblem(
    'READ_FAILED',
    `${path} cannot be read: ${(error as Error).message}`,
    'Correct the named problem, then run the command again.',
  );
}

export class InitProblem extends Declined {
  override readonly name = 'InitProblem';
  override readonly code: InitCode;

  constructor(code: InitCode, message: string, help: string) {
    super(message, help, USAGE.has(code) ? EXIT.usage : EXIT.failed);
    this.code = code;
  }
}

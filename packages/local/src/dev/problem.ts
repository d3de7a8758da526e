/** The error of a project that `cairn dev` cannot serve. The message has the problem, `help` the advice. */
type DevCode =
  | 'PROJECT_NOT_FOUND'
  | 'FIREBASE_JSON_INVALID'
  | 'NO_FUNCTIONS'
  | 'CODEBASE_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'NOT_INSTALLED'
  | 'ENTRY_NOT_FOUND'
  | 'ENV_FILE_INVALID'
  | 'PORT_TAKEN'
  | 'DATA_IN_USE'
  | 'DATA_NOT_WRITABLE'
  | 'DATA_TOO_NEW'
  | 'DATA_DAMAGED';

export class DevProblem extends Error {
  override readonly name = 'DevProblem';
  readonly code: DevCode;
  readonly help: string;

  constructor(code: DevCode, message: string, help: string) {
    super(message);
    this.code = code;
    this.help = help;
  }
}

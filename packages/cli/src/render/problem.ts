/** An error as text: the error, its place, and the next step. Pure. */
import { isUncertain, type Problem, Refusal, Unreachable } from '@cairn/client';
import type { DifferentVersions } from '../api/versions.ts';
import { Declined, EXIT, type ExitCode } from '../exit.ts';
import { asCalled, PLAIN_CALL } from '../invocation.ts';
import { withCommands } from './requests.ts';
import type { Style } from './style.ts';
import { clean } from './width.ts';

interface ErrorReport {
  readonly exitCode: ExitCode;
  readonly text: string;
  /** For programs, with `--json`. */
  readonly json: object;
}

/** @throws the error itself, if it is not an expected failure */
export function errorReport(error: unknown, style: Style, call = PLAIN_CALL): ErrorReport {
  const hint = (help: string | undefined) => (help === undefined ? undefined : asCalled(help, call));
  if (error instanceof Declined) return declined(error, style, hint);
  if (error instanceof Refusal) return refusal(error, style, hint);
  if (error instanceof Unreachable) return unreachable(error, style);
  throw error;
}

/** Adds to a refusal the versions that may explain it. */
export function withVersions(report: ErrorReport, versions: DifferentVersions): ErrorReport {
  const { installation, commandLine } = versions;
  return {
    ...report,
    text: `${report.text}The installation has Cairn ${clean(installation)}, this command line is ${commandLine}: they may not support the same requests.
If that is the cause, use the command line of ${clean(installation)}, or deploy ${commandLine}.
`,
    json: { ...report.json, versions },
  };
}

/** Adapts the commands of a hint to the way this program was called. */
type Hint = (help: string | undefined) => string | undefined;

function declined({ message, help, exitCode, code }: Declined, style: Style, hint: Hint): ErrorReport {
  // Shows the specific code, if there is one, because a person can look it up.
  const name = code === 'USAGE' || code === 'DECLINED' ? 'cairn:' : code;
  return {
    exitCode,
    text: lines([`${style.paint('bad', name)} ${clean(message)}`, hint(help)]),
    json: { error: { code, detail: message, help }, exitCode },
  };
}

function refusal(error: Refusal, style: Style, hint: Hint): ErrorReport {
  const { problem, key } = error;
  const { code, title, detail, field, stepId, help, details, status } = problem;
  const exitCode = exitCodeOf(problem);
  const facts = Object.entries(details ?? {}).map(
    ([name, value]) => `  ${name}: ${clean(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  return {
    exitCode,
    text: lines([
      `${style.paint('bad', code)} ${clean(detail ?? title)} ${style.dim(`(${status})`)}`,
      field === undefined ? undefined : `  field: ${clean(field)}`,
      stepId === undefined ? undefined : `  step: ${clean(stepId)}`,
      ...facts,
      hint(help && withCommands(clean(help))),
      repetition(error, style),
    ]),
    json: { error: problem, exitCode, key },
  };
}

function unreachable(error: Unreachable, style: Style): ErrorReport {
  const { message, key } = error;
  return {
    exitCode: EXIT.unreachable,
    text: lines([`${style.paint('bad', 'cairn:')} ${clean(message)}`, repetition(error, style)]),
    json: {
      error: { code: 'UNREACHABLE', detail: message },
      exitCode: EXIT.unreachable,
      key,
    },
  };
}

/** Hint after a change with an unknown outcome: how to repeat it safely. */
function repetition(error: Refusal | Unreachable, style: Style): string | undefined {
  if (error.key === undefined || !isUncertain(error)) return undefined;
  return `The request may have been carried out. To repeat it safely, add ${style.bold(`--key ${error.key}`)}`;
}

function lines(parts: readonly (string | undefined)[]): string {
  return `${parts.filter((part) => part !== undefined).join('\n')}\n`;
}

function exitCodeOf({ status }: Problem): ExitCode {
  if (status === 401 || status === 403) return EXIT.notAllowed;
  if (status === 404) return EXIT.notFound;
  return status === 429 || status >= 500 ? EXIT.unreachable : EXIT.failed;
}

/**
 * Log lines in the format of Cloud Logging: one JSON object per line, with `severity` and `message`. A field that is
 * an error becomes its text. A value that JSON cannot represent never prevents the line.
 */
import { boundedJson } from '../core/encoding/bounded-json.ts';
import { loggable, messageOf } from '../core/thrown.ts';
import type { Log, LogFields } from '../ports/log.ts';
import { logLevel } from './settings/parameters.ts';

export type LogSeverity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

const ORDER: readonly LogSeverity[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

/** Longest line that Cloud Logging does not split. */
const MAX_LINE_CHARS = 256 * 1024;

interface JsonLogOptions {
  /** Lines below it are dropped. Called for each line, because parameters have values only once the platform runs a function. */
  readonly least: () => LogSeverity;
  write(line: string): void;
}

export function jsonLog({ least, write }: JsonLogOptions): Log {
  const line =
    (severity: LogSeverity) =>
    (event: string, fields: LogFields = {}) => {
      if (ORDER.indexOf(severity) >= ORDER.indexOf(least())) write(`${text(severity, event, fields)}\n`);
    };
  return { debug: line('DEBUG'), info: line('INFO'), warn: line('WARNING'), error: line('ERROR') };
}

/** Lowest severity to log; lines are billed, so the default is `INFO`. */
function leastWanted(): LogSeverity {
  wanted ??= ORDER.find((severity) => severity === logLevel.value().toUpperCase()) ?? 'INFO';
  return wanted;
}

let wanted: LogSeverity | undefined;

/** Writes to standard output, where Cloud Run collects lines. */
export const platformLog: Log = jsonLog({
  least: leastWanted,
  write: (line) => void process.stdout.write(line),
});

/**
 * `severity`, `message` and `event` are reserved: a field of that name would hide them. The text of a field `message` is
 * appended to the event, because people search lists of lines for it.
 */
function text(severity: LogSeverity, event: string, fields: LogFields): string {
  const message = fields.message;
  const own = { severity, message: typeof message === 'string' ? `${event}: ${message}` : event, event };
  try {
    return boundedJson({ ...fields, ...own }, { most: MAX_LINE_CHARS, plain: loggable }) as string;
  } catch (error) {
    return JSON.stringify({ severity, message: event, event, fieldsLost: messageOf(error) });
  }
}

/**
 * Log lines in the form Cloud Logging reads: one JSON object a line, with `severity` and `message`. A field that is
 * an error becomes its text; a value that JSON cannot carry never costs the line.
 */
import { messageOf, stackOf } from '../core/thrown.ts';
import type { Log, LogFields } from '../ports/log.ts';
import { logLevel } from './settings/parameters.ts';

export type LogSeverity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

const ORDER: readonly LogSeverity[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

export interface JsonLogOptions {
  /** Lines below it are dropped. Asked with each, since parameters have values only once the platform runs a function. */
  readonly least: () => LogSeverity;
  /** @param isUrgent for warnings and errors: the process may be about to end */
  write(line: string, isUrgent: boolean): void;
}

export function jsonLog({ least, write }: JsonLogOptions): Log {
  const line = (severity: LogSeverity) => {
    const isUrgent = ORDER.indexOf(severity) >= ORDER.indexOf('WARNING');
    return (event: string, fields: LogFields = {}) => {
      if (ORDER.indexOf(severity) >= ORDER.indexOf(least()))
        write(`${text(severity, event, fields)}\n`, isUrgent);
    };
  };
  return { debug: line('DEBUG'), info: line('INFO'), warn: line('WARNING'), error: line('ERROR') };
}

/** Lowest severity to log; lines are billed, so the default is `INFO`. */
function leastWanted(): LogSeverity {
  wanted ??= ORDER.find((severity) => severity === logLevel.value().toUpperCase()) ?? 'INFO';
  return wanted;
}

let wanted: LogSeverity | undefined;

/** To standard output, which is where Cloud Run collects lines. */
export const platformLog: Log = jsonLog({
  least: leastWanted,
  write: turnWriter((text) => void process.stdout.write(text)),
});

/**
 * `severity`, `message` and `event` are ours: a field of that name would hide them. But what a field `message` says is what
 * people look for in a list of lines, so it stands there behind the event.
 */
function text(severity: LogSeverity, event: string, fields: LogFields): string {
  const said = fields.message;
  const own = { severity, message: typeof said === 'string' ? `${event}: ${said}` : event, event };
  try {
    return JSON.stringify({ ...fields, ...own }, (_name, value: unknown) => plain(value));
  } catch (error) {
    return JSON.stringify({ severity, message: event, event, fieldsLost: messageOf(error) });
  }
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return stackOf(value) ?? messageOf(value);
  return typeof value === 'bigint' ? String(value) : value;
}

/** Longer text is not held until the end of the turn. */
const MAX_HELD_CHARS = 64 * 1024;

/**
 * Writes the lines of one turn of the event loop together: a write to a pipe is synchronous and wakes its reader, which took a
 * sixth of the processor time of a repeated start. Urgent lines, and those of a process that exits, are written at once, after the
 * lines before them. A process that is killed loses the lines of its last turn.
 */
export function turnWriter(write: (text: string) => void): JsonLogOptions['write'] {
  let held = '';
  let isScheduled = false;
  const flush = () => {
    const text = held;
    held = '';
    if (text !== '') write(text);
  };
  process.once('exit', flush);
  return (line, isUrgent) => {
    held += line;
    if (isUrgent || held.length > MAX_HELD_CHARS) return flush();
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      flush();
    });
  };
}

/**
 * A line of the log of `cairn dev` and `npm start`: parsed from the output of functions and tools, and printed for a person or
 * as JSON. Pure.
 */
import { causesAndFrames } from './readable-error.ts';

export type Severity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

export interface ParsedLogLine {
  readonly severity: Severity;
  readonly message: string;
  /** All other members, as logged. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Colours the text, or leaves it as it is. */
export type Paint = (tone: 'bad' | 'warn' | 'busy' | 'dim' | 'bold', text: string) => string;

const SEVERITIES: readonly string[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];
/** Severities of Cloud Logging that are shown as another severity. */
const OTHERS: Readonly<Record<string, Severity>> = {
  NOTICE: 'INFO',
  CRITICAL: 'ERROR',
  ALERT: 'ERROR',
  EMERGENCY: 'ERROR',
};

/** Reads a line that a function printed: JSON with `severity` and `message` as in Cloud Logging, or any text. */
export function readLine(text: string): ParsedLogLine {
  const members = membersOf(text);
  if (typeof members?.message !== 'string') return { severity: 'INFO', message: text, fields: {} };
  const { severity, message, ...fields } = members;
  const level = typeof severity === 'string' ? severity : 'INFO';
  return { severity: isSeverity(level) ? level : (OTHERS[level] ?? 'INFO'), message, fields };
}

/** Members that are not shown, because they are the same on all lines or shown elsewhere in the line. */
const LEFT_OUT = new Set([
  'event',
  'runId',
  'stepId',
  'item',
  'tenantId',
  'traceId',
  'attempt',
  'seq',
  'resumable',
  'initiator',
  'cause',
  'epoch',
  'stack',
]);
/** Events that are irrelevant to a user who watches steps. */
const SILENT = new Set(['run_claimed', 'run_checkpoint', 'runs_sampled']);

interface ShownLine {
  /** Source of the line: a codebase, its type check, its build, or `cairn`. */
  readonly source: string;
  /** Epoch ms, by the clock of the local cloud. */
  readonly at: number;
  /** Folder to which paths of a stack are relative; default: paths are absolute. */
  readonly root?: string;
}

/** Undefined for a line that is not shown. */
export function forPerson(
  line: ParsedLogLine,
  { source, at, root }: ShownLine,
  paint: Paint,
): string | undefined {
  const { severity, message, fields } = line;
  const event = typeof fields.event === 'string' ? fields.event : undefined;
  if (event !== undefined && severity === 'INFO' && SILENT.has(event)) return undefined;
  const step = typeof fields.stepId === 'string' ? stepOf(fields) : '';
  const run = typeof fields.runId === 'string' ? fields.runId : '';
  const words = [
    paint('dim', timeOf(at)),
    paint('dim', source),
    ...(run === '' ? [] : [paint('busy', run)]),
    ...(step === '' ? [] : [paint('bold', step)]),
    painted(severity, textOf(event, message, fields), paint),
    paint('dim', restOf(event, fields)),
  ];
  const frames = typeof fields.stack === 'string' ? causesAndFrames(fields.stack, root) : [];
  return [words.filter((word) => word !== '').join('  '), ...frames.map((frame) => paint('dim', frame))].join(
    '\n',
  );
}

/** One line of JSON. */
export function forMachine({ severity, message, fields }: ParsedLogLine, { source, at }: ShownLine): string {
  return JSON.stringify({ ...fields, time: new Date(at).toISOString(), source, severity, message });
}

function stepOf({ stepId, item, attempt }: ParsedLogLine['fields']): string {
  const name = `${String(stepId)}${item === undefined ? '' : `[${String(item)}]`}`;
  return typeof attempt === 'number' && attempt > 1 ? `${name} (attempt ${attempt})` : name;
}

function textOf(event: string | undefined, message: string, fields: ParsedLogLine['fields']): string {
  if (event === 'step_log') return message.replace(/^step_log: /, '');
  if (event === 'run_transition') return `${String(fields.from)} → ${String(fields.to)}`;
  if (event === 'run_completed')
    return `${String(fields.type)} ${String(fields.status)} after ${String(fields.durationMs)} ms`;
  return message;
}

const SHOWN_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  run_transition: ['from', 'to'],
  run_completed: ['type', 'status', 'durationMs'],
};

function restOf(event: string | undefined, fields: ParsedLogLine['fields']): string {
  const shown = (event !== undefined && SHOWN_MEMBERS[event]) || [];
  return Object.entries(fields)
    .filter(([name, value]) => !LEFT_OUT.has(name) && !shown.includes(name) && value !== undefined)
    .map(([name, value]) => `${name}=${shownValue(name, value)}`)
    .join(' ');
}

/** Members with a point in time as epoch ms. */
const TIME = /(?:At|Heartbeat|Until|^until)$/;
/** Epoch ms of 2001; smaller numbers are not times. */
const EARLIEST = 1e12;

function shownValue(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  const isTime = typeof value === 'number' && value >= EARLIEST && value < 10 * EARLIEST && TIME.test(name);
  return isTime ? new Date(value).toISOString() : JSON.stringify(value);
}

function painted(severity: Severity, text: string, paint: Paint): string {
  if (severity === 'ERROR') return paint('bad', text);
  if (severity === 'WARNING') return paint('warn', text);
  return severity === 'DEBUG' ? paint('dim', text) : text;
}

/** In UTC, like the times in tables of the command line. */
function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`;
}

function isSeverity(text: string): text is Severity {
  return SEVERITIES.includes(text);
}

function membersOf(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/**
 * Lines that step bodies log, as stored beside the run. Pure: limits, and the stored form of a line.
 *
 * Must not: fail for any logged value. A line that cannot be stored is shortened.
 */
import { boundedJson } from '../encoding/bounded-json.ts';
import { isRecord } from '../is-record.ts';
import type { RunningStep } from '../run/now/running.ts';
import { cut } from '../run/records.ts';
import type { Mask } from '../secrets/mask.ts';
import { messageOf, stackOf } from '../thrown.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Kept levels, least first. Lines of `debug` are only in the process log: they cost no write. */
export const KEPT_LEVELS = ['info', 'warn', 'error'] as const;
export type KeptLevel = (typeof KEPT_LEVELS)[number];

/** Longest message: a stack trace of about twenty frames. */
export const MAX_MESSAGE_CHARS = 2_000;
/** Most bytes of the fields of one line, as JSON. Larger values belong into the output of the step. */
export const MAX_FIELDS_BYTES = 4 * 1024;
/** Texts within fields that are too large are cut to this. */
const CUT_FIELD_CHARS = 200;

/** The attempt that logs. */
export type LoggedBy = Pick<RunningStep, 'step' | 'revision' | 'attempt' | 'undoes'>;

/**
 * `log`: a line of a body. `dropped`: replaces the first line of an attempt that was not kept. Readers ignore unknown kinds.
 */
type LogKind = 'log' | 'dropped';

export interface LogLine extends LoggedBy {
  readonly kind: LogKind;
  /** Epoch ms. */
  readonly at: number;
  readonly level: KeptLevel;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** Message or fields were longer. */
  readonly cut?: true | undefined;
}

export interface Logged {
  readonly at: number;
  readonly level: KeptLevel;
  readonly message: unknown;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** Masks secret values in a text. */
  readonly mask?: Mask | undefined;
}

/** The stored line: every value is JSON, within the limits of one line. */
export function lineOf(by: LoggedBy, { at, level, message, fields, mask = String }: Logged): LogLine {
  const whole = mask(messageOf(message));
  const text = cut(whole, MAX_MESSAGE_CHARS);
  const stored = storedFields(fields, mask);
  const isCut = text !== whole || stored.isCut;
  return {
    kind: 'log',
    at,
    level,
    ...by,
    message: text,
    ...(stored.fields === undefined ? {} : { fields: stored.fields }),
    ...(isCut ? { cut: true } : {}),
  };
}

/** The line that replaces the first line of an attempt that is not kept. */
export function droppedLine(by: LoggedBy, at: number): LogLine {
  const message = 'Later lines of this attempt are only in the log of the process: a bound was reached';
  return { kind: 'dropped', at, level: 'warn', ...by, message };
}

type LineFields = Readonly<Record<string, unknown>>;

function storedFields(
  fields: LineFields | undefined,
  mask: Mask,
): { readonly fields?: LineFields; readonly isCut: boolean } {
  if (fields === undefined) return { isCut: false };
  for (const most of [undefined, CUT_FIELD_CHARS]) {
    const text = textOf(fields, { mask, most });
    if (text === undefined) continue;
    if (Buffer.byteLength(text) > MAX_FIELDS_BYTES) continue;
    const parsed: unknown = JSON.parse(text);
    if (!isRecord(parsed)) return { isCut: true };
    const isCut = most !== undefined;
    return Object.keys(parsed).length === 0 ? { isCut } : { fields: parsed, isCut };
  }
  return { isCut: true };
}

interface LineForm {
  readonly mask: Mask;
  /** Longest text; undefined: any. */
  readonly most: number | undefined;
}

/** Undefined if the fields are not JSON or too large. */
function textOf(fields: LineFields, form: LineForm): string | undefined {
  try {
    return boundedJson(fields, { most: MAX_FIELDS_BYTES, plain: (value) => plain(value, form) });
  } catch {
    return undefined;
  }
}

function plain(value: unknown, { mask, most }: LineForm): unknown {
  const text = value instanceof Error ? (stackOf(value) ?? messageOf(value)) : value;
  if (typeof text === 'object' || typeof text === 'boolean' || text === undefined) return text;
  const whole = String(text);
  const shown = mask(whole);
  if (typeof text === 'number' && shown === whole) return text;
  return most === undefined ? shown : cut(shown, most);
}

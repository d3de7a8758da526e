/**
 * Reads untrusted request bodies: bounded in size and depth, and limited to values that can be stored unchanged.
 *
 * Must not: know what a body means.
 */

import type { Json } from '../core/encoding/json.ts';
import { CairnError } from '../core/errors.ts';
import { firstIssue } from '../core/first-issue.ts';
import { isRecord } from '../core/is-record.ts';
import { BufferedRequest } from './buffered.ts';
import { assertShape } from './json-shape.ts';

/** Help for an error at a member whose name is empty. */
export const NAMELESS_HELP = 'Correct the member whose name is empty, or leave it out.';
/** Help for an error of the whole body. */
const BODY_HELP = 'Send one JSON object as the body, in UTF-8.';

/** Begins files of some Windows programs. JSON forbids it, and editors do not show it. */
const BOM = '\ufeff';

export type JsonObject = { readonly [name: string]: Json };

/**
 * The body's bytes.
 *
 * @param maxBytes a larger body is refused before anything is read if its `content-length` says so
 *
 * @throws CairnError PAYLOAD_TOO_LARGE
 */
export async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  assertSize(Number(request.headers.get('content-length') ?? 0), maxBytes);
  const bytes = request instanceof BufferedRequest ? request.whole : Buffer.from(await request.arrayBuffer());
  assertSize(bytes.length, maxBytes);
  return bytes;
}

/**
 * Text of a body.
 *
 * @throws CairnError INVALID_INPUT for bytes that are not UTF-8: guessing would change the stored value
 */
export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CairnError('INVALID_INPUT', 'the body is not UTF-8', { help: BODY_HELP, cause });
  }
}

/** Media type of the request, lower case, without parameters; a charset other than UTF-8 is refused. */
export function mediaType(request: Request): string {
  const [type = '', ...parameters] = (request.headers.get('content-type') ?? '').toLowerCase().split(';');
  for (const parameter of parameters) {
    const [, charset] = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter) ?? [];
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
      throw new CairnError('UNSUPPORTED_MEDIA_TYPE', `the charset ${charset} is not supported; use UTF-8`, {
        field: 'Content-Type',
      });
    }
  }
  return type.trim();
}

/**
 * @throws CairnError INVALID_INPUT unless the text is a JSON object that can be stored as it is; PAYLOAD_TOO_LARGE for one
 *   of too many values
 */
export function parseObject(text: string): JsonObject {
  assertShape(text);
  const value = parse(text);
  if (!isRecord(value)) {
    throw new CairnError('INVALID_INPUT', 'the body must be a JSON object', { help: BODY_HELP });
  }
  assertStorable(value as JsonObject);
  return value as JsonObject;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const detail = text.startsWith(BOM) ? 'the body begins with a byte order mark' : 'the body is not JSON';
    throw new CairnError('INVALID_INPUT', detail, { help: BODY_HELP, cause });
  }
}

/** Refuses values that JSON allows and canonical JSON does not: a lone surrogate, and a number out of range (`1e400`). */
function assertStorable(body: JsonObject): void {
  const violation = violationIn(body);
  if (!violation) return;
  const { field } = firstIssue([{ path: violation.path.reverse(), message: violation.description }]);
  const named = field === '' ? { help: NAMELESS_HELP } : { field };
  throw new CairnError('INVALID_INPUT', `the body contains ${violation.description}`, named);
}

/** The path is built while returning, innermost part first, so that a valid body costs nothing. */
interface BodyViolation {
  readonly description: string;
  readonly path: PropertyKey[];
}

function violationIn(value: unknown): BodyViolation | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : loneSurrogate();
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { description: 'a number that is out of range', path: [] };
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      const found = violationIn(member);
      if (found) return within(found, index);
    }
    return undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    const found = name.isWellFormed() ? violationIn(member) : loneSurrogate();
    if (found) return within(found, name);
  }
  return undefined;
}

function within(inner: BodyViolation, part: PropertyKey): BodyViolation {
  inner.path.push(part);
  return inner;
}

function loneSurrogate(): BodyViolation {
  return { description: 'a lone surrogate', path: [] };
}

function assertSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) {
    throw new CairnError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`);
  }
}

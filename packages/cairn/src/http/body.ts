/**
 * Reads request bodies from strangers: bounded in size, in depth, and only what can be stored unchanged.
 *
 * Must not: know what a body means.
 */

import type { Json } from '../core/encoding/json.ts';
import { CairnError } from '../core/errors.ts';
import { BufferedRequest } from './buffered.ts';
import { assertShape } from './json-shape.ts';

export type JsonObject = { readonly [name: string]: Json };

/**
 * The body's bytes.
 *
 * @param maxBytes a larger body is refused, by its announced length before anything is read
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
    throw new CairnError('INVALID_INPUT', 'the body is not UTF-8', { cause });
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CairnError('INVALID_INPUT', 'the body must be a JSON object');
  }
  assertStorable(value);
  return value as JsonObject;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CairnError('INVALID_INPUT', 'the body is not JSON', { cause });
  }
}

/**
 * Refuses values that JSON allows and canonical JSON does not: a lone surrogate, and a number out of range (`1e400`).
 */
function assertStorable(value: unknown): void {
  if (typeof value === 'string') assertWellFormed(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new CairnError('INVALID_INPUT', 'the body contains a number that is out of range');
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const member of value) assertStorable(member);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    assertWellFormed(name);
    assertStorable(member);
  }
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new CairnError('INVALID_INPUT', 'the body contains a lone surrogate');
}

function assertSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) {
    throw new CairnError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`);
  }
}

/** Page tokens: the position at which a list continues. Opaque to clients. */
import { invalid } from '../model/status.ts';

/** @param list kind and order of the list, for which alone the token is valid */
export function encodePageToken(list: string, place: readonly string[]): string {
  return Buffer.from(JSON.stringify([list, ...place])).toString('base64url');
}

/** Undefined for the first page. @throws INVALID_ARGUMENT for a token of a list of another kind or order */
export function decodePageToken(token: string, list: string): readonly string[] | undefined {
  if (token === '') return undefined;
  const parts = parse(Buffer.from(token, 'base64url').toString());
  if (!isTexts(parts) || parts[0] !== list) throw invalid('invalid page token');
  return parts.slice(1);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isTexts(parts: unknown): parts is readonly string[] {
  return Array.isArray(parts) && parts.every((part) => typeof part === 'string');
}

/**
 * Stored values for people and external programs: times as ISO text instead of milliseconds, user values as JSON
 * instead of text. One rule by member name, for the API and published events.
 */
import type { Json } from '../encoding/json.ts';

/** Members that are times although their name does not end in `At`. */
const TIMES: ReadonlySet<string> = new Set(['at', 'until']);

/** @param ms epoch milliseconds */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoIf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : iso(ms);
}

/** A stored value that this software cannot have written. The message shows no content. */
export class UnreadableText extends Error {
  override readonly name = 'UnreadableText';
}

/** @throws UnreadableText */
export function fromText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new UnreadableText('a stored value is not JSON', { cause });
  }
}

/**
 * A stored record for reading: `startedAt: 1700000000000` becomes ISO text, `payloadText: "{}"` becomes `payload: {}`, a value
 * kept elsewhere stays `{ checkpoint: seq }`. Must not be called with user values, whose members may have any meaning.
 */
export function readableValue(value: unknown): Json {
  if (Array.isArray(value)) return value.map(readableValue);
  if (typeof value !== 'object' || value === null) return value as Json;
  const view: Record<string, Json> = {};
  for (const name of Object.keys(value)) {
    const member: unknown = value[name as keyof object];
    if (member === undefined) continue;
    if (typeof member === 'number' && isTime(name)) view[name] = iso(member);
    else if (typeof member === 'string' && name.endsWith('Text')) view[name.slice(0, -4)] = fromText(member);
    else if (isInline(member)) view[name] = fromText(member.text);
    else view[name] = readableValue(member);
  }
  return view;
}

function isTime(name: string): boolean {
  return name.endsWith('At') || TIMES.has(name);
}

/** A `StoredValue` that is stored inline. */
function isInline(value: unknown): value is { readonly text: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    Object.keys(value).length === 1
  );
}

/**
 * Writes canonical JSON (RFC 8785), byte for byte like `canonicalize`, in half the time: every event, output and checkpoint is
 * written here, several times per step. Values with a `toJSON` method, and values nested so deep that they may be cycles, are
 * left to `canonicalize`.
 *
 * Must not: decide which values are accepted; that is json.ts.
 */
import canonicalize from 'canonicalize';

/** Deeper values are rare; `canonicalize` detects the cycles among them. */
const MAX_DEPTH = 50;

/** Characters that JSON escapes, and surrogates, which may be lone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them
const UNUSUAL = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** Undefined for a value without a JSON form. @throws Error for a number that is not finite, a lone surrogate or a cycle */
export function writeCanonical(value: unknown, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Number.isFinite(value) ? `${value}` : canonicalize(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      break;
    default:
      return canonicalize(value);
  }
  if (value === null) return 'null';
  if (depth > MAX_DEPTH || typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return canonicalize(value);
  return Array.isArray(value)
    ? writeArray(value, depth + 1)
    : writeRecord(value as Record<string, unknown>, depth + 1);
}

function writeArray(values: readonly unknown[], depth: number): string {
  let text = '[';
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (i > 0) text += ',';
    text += value === undefined || typeof value === 'symbol' ? 'null' : (writeCanonical(value, depth) ?? '');
  }
  return `${text}]`;
}

function writeRecord(record: Record<string, unknown>, depth: number): string {
  let text = '';
  for (const name of sorted(Object.keys(record))) {
    const value = record[name];
    if (value === undefined || typeof value === 'symbol') continue;
    text += `${text === '' ? '' : ','}${quoted(name)}:${writeCanonical(value, depth)}`;
  }
  return `{${text}}`;
}

/** More names are sorted by `Array.sort`. */
const FEW_NAMES = 16;

/**
 * Sorts the given list by UTF-16 code units, as the RFC requires. Most objects have few members, often in order, for which
 * `Array.sort` is slower because it copies them.
 */
function sorted(names: string[]): string[] {
  if (names.length > FEW_NAMES) return names.sort();
  for (let i = 1; i < names.length; i += 1) {
    const name = names[i] as string;
    let at = i;
    for (; at > 0 && (names[at - 1] as string) > name; at -= 1) names[at] = names[at - 1] as string;
    names[at] = name;
  }
  return names;
}

function quoted(text: string): string {
  if (!UNUSUAL.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : (canonicalize(text) as string);
}

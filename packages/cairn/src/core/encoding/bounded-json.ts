/**
 * JSON text of values of foreign code, up to a length. Objects that refer to the same object many times are small in memory, and
 * their text may have more characters than there is memory: here their reading ends at the bound.
 */

export class JsonTooLong extends Error {}

interface BoundedJson {
  /** Most characters, without those of punctuation. */
  readonly most: number;
  /** Replaces each value, as the replacer of `JSON.stringify` does; default: none is replaced. */
  readonly plain?: (value: unknown) => unknown;
}

/**
 * Undefined: there is no text, as of a function.
 *
 * @throws JsonTooLong, and what `JSON.stringify` throws: of a cycle, for example, or by a getter
 */
export function boundedJson(
  value: unknown,
  { most, plain = (same) => same }: BoundedJson,
): string | undefined {
  let left = most;
  return JSON.stringify(value, (name: string, found: unknown) => {
    const shown = plain(found);
    left -= name.length + (typeof shown === 'string' ? shown.length : 1);
    if (left < 0) throw new JsonTooLong(`more than ${most} characters`);
    return shown;
  });
}

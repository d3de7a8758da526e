/**
 * JSON text of values of foreign code, up to a length. Objects that refer to the same object many times are small in memory, and
 * their text may have more characters than there is memory: here their reading ends at the bound.
 */

/** Most members that are read and have no text, such as undefined ones: an object with them may be referred to many times. */
const MAX_WITHOUT_TEXT = 10_000;

class JsonTooLong extends Error {}

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
  let leftWithoutText = MAX_WITHOUT_TEXT;
  return JSON.stringify(value, function (this: unknown, name: string, found: unknown) {
    const shown = plain(found);
    const isElement = Array.isArray(this);
    if (!isElement && !hasText(shown)) {
      leftWithoutText -= 1;
      if (leftWithoutText < 0) throw new JsonTooLong(`more than ${MAX_WITHOUT_TEXT} members without text`);
      return undefined;
    }
    left -= (isElement ? 0 : name.length) + (typeof shown === 'string' ? shown.length : 1);
    if (left < 0) throw new JsonTooLong(`more than ${most} characters`);
    return shown;
  });
}

/**
 * JSON text whose values after the first `most` characters are left out; then it ends with an ellipsis. Undefined: there is no text.
 *
 * @throws what `JSON.stringify` throws
 */
export function beginningOfJson(value: unknown, most: number): string | undefined {
  let left = most;
  let isCut = false;
  const text = JSON.stringify(value, function (this: unknown, name: string, found: unknown) {
    // Elements are paid for by their array: what is left of it is `null`.
    const isElement = Array.isArray(this);
    const room = isElement ? left : left - name.length - 1;
    const isTooLarge = room < 0 || (room === 0 && typeof found === 'object' && found !== null);
    if (isTooLarge && hasText(found)) isCut = true;
    if (isTooLarge || !hasText(found)) return undefined;
    left = room;
    if (typeof found !== 'string' && !Array.isArray(found)) return found;
    const shown = found.length > left ? found.slice(0, left) : found;
    isCut ||= shown !== found;
    left -= shown.length;
    return shown;
  }) as string | undefined;
  return isCut && text !== undefined ? `${text}…` : text;
}

function hasText(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

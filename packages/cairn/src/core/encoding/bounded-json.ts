/**
 * JSON text of untrusted values, up to a length. A small object that refers to another object many times can have a text larger
 * than memory, so reading ends at the limit.
 */

/**
 * Maximum of members without text that are read, such as undefined ones, because an object with them may be referred to many
 * times.
 */
const MAX_WITHOUT_TEXT = 10_000;

class JsonTooLong extends Error {}

interface BoundedJson {
  /** Maximum of characters, without punctuation. */
  readonly most: number;
  /** Replaces each value, as the replacer of `JSON.stringify` does. */
  readonly plain?: (value: unknown) => unknown;
}

/**
 * Undefined if the value has no text, like a function.
 *
 * @throws JsonTooLong, and the errors of `JSON.stringify`, for example for a cycle or from a getter
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
 * JSON text without the values after the first `most` characters; a truncated text ends with an ellipsis. Undefined if there is
 * no text.
 *
 * @throws the errors of `JSON.stringify`
 */
export function beginningOfJson(value: unknown, most: number): string | undefined {
  let left = most;
  let isCut = false;
  const text = JSON.stringify(value, function (this: unknown, name: string, found: unknown) {
    // An omitted element leaves `null`, whose length was counted with its array.
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

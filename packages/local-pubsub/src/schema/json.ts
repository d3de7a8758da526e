/** A message that is JSON, as a value, and the members of its objects. Unlike JSON.parse it keeps large integers exact, and the first of equal keys. */

/** No integer of 64 bits has more digits with its sign. Longer ones stay numbers, since they fit into no type. */
const LONGEST_INTEGER = 20;
const INTEGER = /^-?\d+$/;
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[^\s"[\]{},:]+|[[\]{},:])/sy;

/** Avro's reader takes the first of equal keys, protobuf's refuses them. */
type RepeatedKeys = 'first' | 'refused';

/**
 * Integers that a number of JavaScript does not hold exactly are bigints.
 *
 * @throws Error for bytes that are no UTF-8, no JSON, or have a key twice that is refused
 */
export function jsonOf(data: Uint8Array, repeatedKeys: RepeatedKeys): unknown {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  // It finds every error of the syntax, so that the reader need not.
  JSON.parse(text);
  return new JsonReader(text, repeatedKeys).value();
}

class JsonReader {
  readonly #text: string;
  readonly #repeatedKeys: RepeatedKeys;
  #at = 0;

  constructor(text: string, repeatedKeys: RepeatedKeys) {
    this.#text = text;
    this.#repeatedKeys = repeatedKeys;
  }

  value(): unknown {
    return this.#valueFrom(this.#token());
  }

  #token(): string {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text)?.[1] ?? '';
    this.#at = TOKEN.lastIndex;
    return token;
  }

  #valueFrom(token: string): unknown {
    if (token === '{') return this.#object();
    if (token === '[') return this.#list();
    const value: unknown = JSON.parse(token);
    const isExact = typeof value !== 'number' || Number.isSafeInteger(value);
    return isExact || !INTEGER.test(token) || token.length > LONGEST_INTEGER ? value : BigInt(token);
  }

  #object(): object {
    const members = new Map<string, unknown>();
    for (let token = this.#token(); token !== '}'; token = this.#token()) {
      if (token === ',') continue;
      const key = JSON.parse(token) as string;
      this.#token();
      const value = this.value();
      if (!members.has(key)) members.set(key, value);
      else if (this.#repeatedKeys === 'refused') throw new Error(`it has the key '${key}' twice`);
    }
    return Object.fromEntries(members);
  }

  #list(): unknown[] {
    const elements: unknown[] = [];
    for (let token = this.#token(); token !== ']'; token = this.#token()) {
      if (token !== ',') elements.push(this.#valueFrom(token));
    }
    return elements;
  }
}

/** @throws Error with the place if it is not an object */
export function entriesOf(value: unknown, path: string): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new Error(`${path} is not an object`);
}

/** A message that is JSON, as a value, and the members of its objects. Unlike JSON.parse it keeps large integers exact, and the first of equal keys. */

/** No integer of 64 bits has more digits with its sign. Longer ones stay numbers, since they fit into no type. */
const LONGEST_INTEGER = 20;
const INTEGER = /^-?\d+$/;
/** A number, true, false or null. */
const WORD = /[^\s,\]}]+/y;
const SIGNS = new Set([...'{}[],:'].map((sign) => sign.charCodeAt(0)));
/** The other spaces of JSON are below it. */
const SPACE = ' '.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);

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
    let begin = this.#at;
    while (this.#text.charCodeAt(begin) <= SPACE) begin++;
    const code = this.#text.charCodeAt(begin);
    if (code === QUOTE) this.#at = this.#endOfString(begin);
    else this.#at = SIGNS.has(code) ? begin + 1 : this.#endOfWord(begin);
    return this.#text.slice(begin, this.#at);
  }

  #endOfWord(begin: number): number {
    WORD.lastIndex = begin;
    WORD.test(this.#text);
    return WORD.lastIndex;
  }

  /** Without a pattern, whose repetitions would exceed the stack in a long text. */
  #endOfString(begin: number): number {
    let at = begin + 1;
    for (let code = this.#text.charCodeAt(at); code !== QUOTE; code = this.#text.charCodeAt(at)) {
      at += code === BACKSLASH ? 2 : 1;
    }
    return at + 1;
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

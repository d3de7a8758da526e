/** Parses JSON messages. Unlike JSON.parse, keeps large integers exact, and the first of duplicate keys. */

import { visit } from 'jsonc-parser';

/** Most characters of a 64-bit integer with its sign. Longer integers stay numbers, because they fit no type. */
const LONGEST_INTEGER = 20;
const INTEGER = /^-?\d+$/;
/** Avro's reader uses the first of duplicate keys; protobuf's refuses them. */
type RepeatedKeys = 'first' | 'refused';

/**
 * Integers that a JavaScript number cannot represent exactly become bigints.
 *
 * @throws Error if the bytes are not UTF-8 or not JSON, or have a duplicate key that is refused
 */
export function jsonOf(data: Uint8Array, repeatedKeys: RepeatedKeys): unknown {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  // Finds all syntax errors, because the visitor accepts more than JSON, such as comments.
  JSON.parse(text);
  return readJson(text, repeatedKeys);
}

/** An object or list that is being read. The outermost one is a list with the value as its only element. */
class Container {
  readonly members = new Map<string, unknown>();
  readonly elements: unknown[] = [];
  /** Name of the member that is being read; undefined in a list. */
  key: string | undefined;

  put(value: unknown): void {
    if (this.key === undefined) this.elements.push(value);
    else if (!this.members.has(this.key)) this.members.set(this.key, value);
  }
}

function readJson(text: string, repeatedKeys: RepeatedKeys): unknown {
  const root = new Container();
  const outer: Container[] = [];
  let inner = root;
  const begin = () => {
    outer.push(inner);
    inner = new Container();
  };
  const end = (value: unknown) => {
    inner = outer.pop() ?? root;
    inner.put(value);
  };
  visit(text, {
    onObjectBegin: begin,
    onObjectProperty(key) {
      if (repeatedKeys === 'refused' && inner.members.has(key))
        throw new Error(`it has the key '${key}' twice`);
      inner.key = key;
    },
    onObjectEnd: () => end(Object.fromEntries(inner.members)),
    onArrayBegin: begin,
    onArrayEnd: () => end(inner.elements),
    onLiteralValue(value, offset, length) {
      inner.put(typeof value === 'number' ? numberOf(value, text.slice(offset, offset + length)) : value);
    },
  });
  return root.elements[0];
}

function numberOf(value: number, text: string): number | bigint {
  const isExact = Number.isSafeInteger(value) || !INTEGER.test(text) || text.length > LONGEST_INTEGER;
  return isExact ? value : BigInt(text);
}

/** @throws Error with the place if it is not an object */
export function entriesOf(value: unknown, path: string): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new Error(`${path} is not an object`);
}

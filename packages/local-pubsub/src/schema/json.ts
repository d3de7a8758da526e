/** A message that is JSON, as a value, and the members of its objects. Unlike JSON.parse it keeps large integers exact, and the first of equal keys. */

import { visit } from 'jsonc-parser';

/** No integer of 64 bits has more digits with its sign. Longer ones stay numbers, since they fit into no type. */
const LONGEST_INTEGER = 20;
const INTEGER = /^-?\d+$/;
/** Avro's reader takes the first of equal keys, protobuf's refuses them. */
type RepeatedKeys = 'first' | 'refused';

/**
 * Integers that a number of JavaScript does not hold exactly are bigints.
 *
 * @throws Error for bytes that are no UTF-8, no JSON, or have a key twice that is refused
 */
export function jsonOf(data: Uint8Array, repeatedKeys: RepeatedKeys): unknown {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  // It finds every error of the syntax. The visitor takes more than JSON, such as comments.
  JSON.parse(text);
  return readJson(text, repeatedKeys);
}

/** An object or a list that is being read; the outermost is a list of the value alone. */
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

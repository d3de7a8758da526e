/** Ranges of keys under a prefix, narrowed by inequalities and cursors. Pure. */
import { ByteWriter, prefixEnd } from '../byte-writer.ts';
import { isNaNValue, type Value } from '../value.ts';
import { typeKeyRange, writeValueKey } from '../value-key.ts';
import type { Comparison } from './query.ts';

/** `to` is exclusive; undefined means no bound. */
export interface Bounds {
  readonly from: Uint8Array;
  readonly to: Uint8Array | undefined;
}

export function wholePrefix(prefix: Uint8Array): Bounds {
  return { from: prefix, to: prefixEnd(prefix) };
}

export function narrow(bounds: Bounds, other: Partial<Bounds>): Bounds {
  const from = other.from && Buffer.compare(other.from, bounds.from) > 0 ? other.from : bounds.from;
  const lower = other.to && (!bounds.to || Buffer.compare(other.to, bounds.to) < 0);
  return { from, to: lower ? other.to : bounds.to };
}

export function isEmpty({ from, to }: Bounds): boolean {
  return to !== undefined && Buffer.compare(from, to) >= 0;
}

/** Key range of an inequality on the next value of the key. */
export function comparisonBounds(
  prefix: Uint8Array,
  comparison: Comparison,
  inverted: boolean,
): Partial<Bounds> {
  if (comparison.op === '!=' || comparison.op === 'not-in') return {};
  const value = encoded(prefix, comparison.value, inverted);
  if (isNaNValue(comparison.value)) return { from: value, to: value };
  const range = typeKeyRange(comparison.value);
  const lowest = withByte(prefix, range.from, inverted);
  const beyond = withByte(prefix, range.to, inverted);
  switch (comparison.op) {
    case '<':
      return inverted ? { from: after(value), to: after(lowest) } : { from: lowest, to: value };
    case '<=':
      return inverted ? { from: value, to: after(lowest) } : { from: lowest, to: after(value) };
    case '>':
      return inverted ? { from: after(beyond), to: value } : { from: after(value), to: beyond };
    case '>=':
      return inverted ? { from: after(beyond), to: after(value) } : { from: value, to: beyond };
    default:
      return {};
  }
}

/** The position of a cursor in key order: before or after every key that starts with `key`. */
export function cursorBounds(
  key: Uint8Array,
  cursor: { before: boolean; start: boolean },
  reverse: boolean,
): Partial<Bounds> {
  const position = cursor.before !== reverse ? key : after(key);
  return cursor.start !== reverse ? { from: position } : { to: position };
}

function after(prefix: Uint8Array): Uint8Array {
  return prefixEnd(prefix) ?? prefix;
}

function encoded(prefix: Uint8Array, value: Value, inverted: boolean): Buffer {
  const writer = new ByteWriter();
  writer.raw(prefix);
  writeValueKey(writer, value);
  if (inverted) writer.invertFrom(prefix.length);
  return writer.take();
}

function withByte(prefix: Uint8Array, byte: number, inverted: boolean): Buffer {
  return Buffer.concat([prefix, Buffer.from([inverted ? 255 - byte : byte])]);
}

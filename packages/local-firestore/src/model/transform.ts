/** Field transforms: server time, numbers and array elements. Pure. */

import { ByteWriter } from './byte-writer.ts';
import type { FieldPath } from './field-path.ts';
import { compareValues, NULL, type Value } from './value.ts';
import { writeValueKey } from './value-key.ts';

export type FieldTransform = { readonly path: FieldPath } & (
  | { readonly kind: 'serverTime' }
  | { readonly kind: 'increment' | 'maximum' | 'minimum'; readonly operand: Value }
  | { readonly kind: 'append' | 'remove'; readonly values: readonly Value[] }
);

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Returns the stored field value and the transform result of the write. `time` in microseconds since 1970. */
export function applyTransform(
  current: Value | undefined,
  transform: FieldTransform,
  time: number,
): { stored: Value; result: Value } {
  switch (transform.kind) {
    case 'serverTime': {
      const stored = serverTime(time);
      return { stored, result: stored };
    }
    case 'increment': {
      const stored = add(current, transform.operand);
      return { stored, result: stored };
    }
    case 'maximum':
    case 'minimum': {
      const stored = extreme(current, transform.operand, transform.kind === 'maximum' ? 1 : -1);
      return { stored, result: stored };
    }
    case 'append':
      return { stored: { kind: 'array', values: union(elements(current), transform.values) }, result: NULL };
    case 'remove': {
      const removed = new Set(transform.values.map(keyOf));
      const remaining = elements(current).filter((e) => !removed.has(keyOf(e)));
      return { stored: { kind: 'array', values: remaining }, result: NULL };
    }
  }
}

/** Request time has millisecond precision (google.firestore.v1.DocumentTransform). */
function serverTime(time: number): Value {
  const millis = Math.floor(time / 1000);
  return {
    kind: 'timestamp',
    seconds: Math.floor(millis / 1000),
    nanos: (((millis % 1000) + 1000) % 1000) * 1_000_000,
  };
}

function add(current: Value | undefined, operand: Value): Value {
  if (current?.kind === 'integer' && operand.kind === 'integer') {
    const sum = current.value + operand.value;
    return { kind: 'integer', value: sum > MAX_INT64 ? MAX_INT64 : sum < MIN_INT64 ? MIN_INT64 : sum };
  }
  if (isNumber(current) && isNumber(operand)) {
    return { kind: 'double', value: Number(current.value) + Number(operand.value) };
  }
  return operand;
}

function extreme(current: Value | undefined, operand: Value, sign: number): Value {
  if (!isNumber(current) || !isNumber(operand)) return operand;
  if (current.kind === 'double' && Number.isNaN(current.value)) return current;
  if (operand.kind === 'double' && Number.isNaN(operand.value)) return operand;
  return compareValues(operand, current) * sign > 0 ? operand : current;
}

function isNumber(value: Value | undefined): value is Value & { kind: 'integer' | 'double' } {
  return value?.kind === 'integer' || value?.kind === 'double';
}

function elements(value: Value | undefined): readonly Value[] {
  return value?.kind === 'array' ? value.values : [];
}

function union(current: readonly Value[], added: readonly Value[]): Value[] {
  const result = [...current];
  const keys = new Set(current.map(keyOf));
  for (const value of added) {
    const key = keyOf(value);
    if (keys.has(key)) continue;
    keys.add(key);
    result.push(value);
  }
  return result;
}

const writer = new ByteWriter();

/** The same key for values that compare equal. Comparing each pair would take seconds for lists of tens of thousands. */
function keyOf(value: Value): string {
  writer.truncate(0);
  writeValueKey(writer, value);
  return writer.take().toString('latin1');
}

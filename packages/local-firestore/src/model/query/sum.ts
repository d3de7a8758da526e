/** Sums and averages of numbers: integers are bigints here, doubles numbers. */
import { NULL, type Value } from '../value.ts';

/** Adds integers exactly. The sum is a double if a value is one, or if it exceeds 64 bits. */
export function sum(values: readonly (number | bigint)[]): Value {
  const exact = values.reduce<bigint>((total, v) => (typeof v === 'bigint' ? total + v : total), 0n);
  const doubles = values.filter((v) => typeof v === 'number');
  if (doubles.length === 0 && BigInt.asIntN(64, exact) === exact) return { kind: 'integer', value: exact };
  return { kind: 'double', value: sumOfDoubles([Number(exact), ...doubles]) };
}

export function average(values: readonly (number | bigint)[]): Value {
  if (values.length === 0) return NULL;
  const total = sum(values);
  const number = total.kind === 'integer' || total.kind === 'double' ? Number(total.value) : Number.NaN;
  return { kind: 'double', value: number / values.length };
}

/**
 * Adds the rounding error of each addition at the end (Kahan–Babuška summation in Neumaier's form), so that the sum of prices is the
 * same in every order, as clients' tests expect of production.
 */
function sumOfDoubles(doubles: readonly number[]): number {
  let total = 0;
  let roundedOff = 0;
  for (const value of doubles) {
    const next = total + value;
    roundedOff += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return Number.isFinite(total) ? total + roundedOff : total;
}

/** Statistics of the benchmark. Pure. */

/** @throws Error for an empty list, so that no meaningless figure is reported */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The smallest value that at least the share `p` (0 to 1) of the values does not exceed (nearest rank). */
export function percentile(values: readonly number[], p: number): number {
  const sorted = ascending(values);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] as number;
}

/** Rounds to the precision of the measurement. */
export function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}

function ascending(values: readonly number[]): number[] {
  if (values.length === 0) throw new Error('there is nothing to take a figure of');
  return [...values].sort((a, b) => a - b);
}

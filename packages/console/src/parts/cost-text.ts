/** Cost of a run as text. Pure. Amounts are so small that a fixed number of decimals would show zero. */

const SIGNIFICANT = 2;
/** Smaller sums are shown as less than this. */
const MIN_USD = 0.000_000_1;

/** `$0`, `$0.000012`, `$1.30`: two significant digits, and at least cents. */
export function usdText(usd: number): string {
  if (!(usd > 0)) return '$0';
  if (usd < MIN_USD) return `<$${MIN_USD.toFixed(7)}`;
  const before = Math.floor(Math.log10(usd));
  return `$${usd.toFixed(Math.max(2, SIGNIFICANT - 1 - before))}`;
}

interface OperationCounts {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
  readonly tasks: number;
}

/** The cost in the form of the API's run views. */
export interface CostView extends OperationCounts {
  readonly usd: number;
}

/** `1,040 writes, 3 reads, 2 tasks`; zeros are left out. */
export function operationsText({ reads, writes, deletes, tasks }: OperationCounts): string {
  const counted = [
    [writes, 'write'],
    [reads, 'read'],
    [deletes, 'delete'],
    [tasks, 'task'],
  ] as const;
  const texts = counted.flatMap(([count, word]) =>
    count > 0 ? [`${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`] : [],
  );
  return texts.length === 0 ? 'nothing yet' : texts.join(', ');
}

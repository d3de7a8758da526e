/**
 * Finds the known word that is closest to a mistyped one. Pure. The CLI, which may not import the engine, has its own version.
 */

/** More differences make another word. */
const MAX_SLIPS = 2;

/** @returns the nearest of the known words, or undefined if none is near */
export function closest(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, slips: distance(word, candidate) }))
    .filter(({ slips }) => slips <= MAX_SLIPS && slips < word.length)
    .toSorted((a, b) => a.slips - b.slips);
  return near[0]?.candidate;
}

/** Levenshtein distance: letters inserted, deleted or changed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Which entries of two lists are the same, in order: as many as there can be. Pure. For items of arrays and lines of texts. */

/** Entries between what is the same at both ends: the work grows with the square of it. Longer lists go by their index. */
const MOST_MATCHED = 700;

export type Match = readonly [left: number, right: number];

/** Pairs of indexes, both rising. */
export function matched(left: readonly string[], right: readonly string[]): readonly Match[] {
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head += 1;
  let tail = 0;
  const room = Math.min(left.length, right.length) - head;
  while (tail < room && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail += 1;
  const middle = matchedBetween(left.slice(head, left.length - tail), right.slice(head, right.length - tail));
  return [
    ...Array.from({ length: head }, (_, at): Match => [at, at]),
    ...middle.map(([l, r]): Match => [l + head, r + head]),
    ...Array.from({ length: tail }, (_, at): Match => [left.length - tail + at, right.length - tail + at]),
  ];
}

function matchedBetween(left: readonly string[], right: readonly string[]): readonly Match[] {
  if (left.length > MOST_MATCHED || right.length > MOST_MATCHED) return matchedByIndex(left, right);
  return longest(left, right);
}

function matchedByIndex(left: readonly string[], right: readonly string[]): readonly Match[] {
  return left.flatMap((entry, at): Match[] => (entry === right[at] ? [[at, at]] : []));
}

/** The longest common subsequence, by the table of its lengths. */
function longest(left: readonly string[], right: readonly string[]): readonly Match[] {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (l: number, r: number) => lengths[l * width + r] ?? 0;
  for (let l = left.length - 1; l >= 0; l -= 1) {
    for (let r = right.length - 1; r >= 0; r -= 1) {
      lengths[l * width + r] =
        left[l] === right[r] ? at(l + 1, r + 1) + 1 : Math.max(at(l + 1, r), at(l, r + 1));
    }
  }
  const matches: Match[] = [];
  for (let l = 0, r = 0; l < left.length && r < right.length; ) {
    if (left[l] === right[r]) {
      matches.push([l, r]);
      l += 1;
      r += 1;
    } else if (at(l + 1, r) >= at(l, r + 1)) l += 1;
    else r += 1;
  }
  return matches;
}

/** Matches the equal entries of two lists, in order: items of arrays, lines of texts. Pure. */

type Match = readonly [left: number, right: number];

/** Limit of the table for the longest common subsequence, a few milliseconds. Larger inputs are first split at unique items. */
const MAX_CELLS = 500_000;

/** Pairs of rising indexes of equal entries. Their number is maximal, unless the lists are long and differ much. */
export function matched(left: readonly string[], right: readonly string[]): readonly Match[] {
  const matches: Match[] = [];
  match({ entries: left, from: 0, to: left.length }, { entries: right, from: 0, to: right.length }, matches);
  return matches;
}

/** A stretch of a list. */
interface EntryStretch {
  readonly entries: readonly string[];
  readonly from: number;
  readonly to: number;
}

function match(left: EntryStretch, right: EntryStretch, matches: Match[]): void {
  let { from: l, to: leftEnd } = left;
  let { from: r, to: rightEnd } = right;
  for (; l < leftEnd && r < rightEnd && left.entries[l] === right.entries[r]; l += 1, r += 1)
    matches.push([l, r]);
  const tail: Match[] = [];
  while (leftEnd > l && rightEnd > r && left.entries[leftEnd - 1] === right.entries[rightEnd - 1]) {
    leftEnd -= 1;
    rightEnd -= 1;
    tail.push([leftEnd, rightEnd]);
  }
  matchMiddle({ ...left, from: l, to: leftEnd }, { ...right, from: r, to: rightEnd }, matches);
  for (const pair of tail.reverse()) matches.push(pair);
}

function matchMiddle(left: EntryStretch, right: EntryStretch, matches: Match[]): void {
  if ((left.to - left.from) * (right.to - right.from) <= MAX_CELLS) {
    for (const pair of longest(left, right)) matches.push(pair);
    return;
  }
  let [l, r] = [left.from, right.from];
  // Without an anchor all entries of the stretch count as different.
  const anchors = anchorsOf(left, right);
  if (anchors.length === 0) return;
  for (const [nextL, nextR] of [...anchors, [left.to, right.to] as const]) {
    match({ ...left, from: l, to: nextL }, { ...right, from: r, to: nextR }, matches);
    if (nextL < left.to) matches.push([nextL, nextR]);
    [l, r] = [nextL + 1, nextR + 1];
  }
}

/** Matches entries that occur once on each side: the largest set in the same order. */
function anchorsOf(left: EntryStretch, right: EntryStretch): readonly Match[] {
  const places = onceIn(right);
  const pairs = [...onceIn(left)]
    .flatMap(([entry, l]): Match[] => {
      const r = places.get(entry);
      return r === undefined ? [] : [[l, r]];
    })
    .sort(([a], [b]) => a - b);
  return risingOf(pairs);
}

function onceIn({ entries, from, to }: EntryStretch): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const several = new Set<string>();
  for (let at = from; at < to; at += 1) {
    const entry = entries[at] ?? '';
    if (places.has(entry)) several.add(entry);
    places.set(entry, at);
  }
  for (const entry of several) places.delete(entry);
  return places;
}

/** The longest sequence of pairs with rising right indexes, by patience sorting. */
function risingOf(pairs: readonly Match[]): readonly Match[] {
  const ends: number[] = [];
  const before: number[] = [];
  for (const [at, [, right]] of pairs.entries()) {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < right) low = middle + 1;
      else high = middle;
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] ?? -1);
    ends[low] = at;
  }
  const rising: Match[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) rising.push(pairs[at] as Match);
  return rising.reverse();
}

/** The longest common subsequence, by the table of its lengths. */
function longest(left: EntryStretch, right: EntryStretch): readonly Match[] {
  const height = left.to - left.from;
  const width = right.to - right.from;
  const lengths = new Uint16Array((height + 1) * (width + 1));
  const at = (l: number, r: number) => lengths[l * (width + 1) + r] ?? 0;
  const isSame = (l: number, r: number) => left.entries[left.from + l] === right.entries[right.from + r];
  for (let l = height - 1; l >= 0; l -= 1) {
    for (let r = width - 1; r >= 0; r -= 1) {
      lengths[l * (width + 1) + r] = isSame(l, r)
        ? at(l + 1, r + 1) + 1
        : Math.max(at(l + 1, r), at(l, r + 1));
    }
  }
  const matches: Match[] = [];
  for (let l = 0, r = 0; l < height && r < width; ) {
    if (isSame(l, r)) {
      matches.push([left.from + l, right.from + r]);
      l += 1;
      r += 1;
    } else if (at(l + 1, r) >= at(l, r + 1)) l += 1;
    else r += 1;
  }
  return matches;
}

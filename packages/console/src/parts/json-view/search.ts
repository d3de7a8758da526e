/** Finds text in a JSON value: in names of members, and in the text of scalar values. Pure. */
import { ancestorsOf, isBranch, madeChildrenOf, type TreeNode } from './tree.ts';

/** Nodes between two pauses, about ten milliseconds. */
const BREATH = 10_000;
/** Limit of the hits, more than a person steps through. */
const MAX_HITS = 1_000;

/** Yields the hits from the top, and undefined when the caller may pause. */
export function* hitsOf(root: TreeNode, wanted: string): Generator<TreeNode | undefined> {
  const needle = wanted.toLowerCase();
  const ahead: TreeNode[] = [root];
  let looked = 0;
  let hits = 0;
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    if (holds(node, needle)) {
      yield node;
      hits += 1;
      if (hits === MAX_HITS) return;
    }
    looked += 1;
    if (looked % BREATH === 0) yield undefined;
    if (!isBranch(node)) continue;
    const below = madeChildrenOf(node);
    for (let at = below.length - 1; at >= 0; at -= 1) ahead.push(below[at] as TreeNode);
  }
}

function holds({ key, value, range }: TreeNode, needle: string): boolean {
  if (range) return false;
  if (typeof key === 'string' && key.toLowerCase().includes(needle)) return true;
  if (typeof value === 'object' && value !== null) return false;
  return String(value).toLowerCase().includes(needle);
}

/** Returns the open branches with the ancestors of the node added. */
export function openTo(open: ReadonlySet<string>, node: TreeNode): ReadonlySet<string> {
  return new Set([...open, ...ancestorsOf(node).map(({ id }) => id)]);
}

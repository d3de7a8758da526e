/**
 * A JSON value as a lazy tree for large values: nothing below a closed branch is read, and a branch of many members opens
 * into ranges. Pure.
 */

export interface TreeNode {
  /** Unique in its tree, and the same each time the node is made. */
  readonly id: string;
  readonly parent: TreeNode | undefined;
  /** 0 for the root. */
  readonly depth: number;
  /** Undefined for the root and for ranges. */
  readonly key: string | number | undefined;
  readonly value: unknown;
  /** Set if the node stands for the members `from` to `to` (exclusive) of its parent. */
  readonly range?: { readonly from: number; readonly to: number };
}

/** Largest number of members that a branch shows without ranges: more than a person reads, and fast to make. */
export const RANGE = 1_000;

export function rootOf(value: unknown): TreeNode {
  return { id: '$', parent: undefined, depth: 0, key: undefined, value };
}

export function isBranch({ value }: TreeNode): boolean {
  return sizeOf(value) > 0;
}

/** Number of members or items; 0 for other values. */
export function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? keysOf(value).length : 0;
}

const keys = new WeakMap<object, readonly string[]>();

function keysOf(value: object): readonly string[] {
  const known = keys.get(value) ?? Object.keys(value);
  keys.set(value, known);
  return known;
}

const children = new WeakMap<TreeNode, readonly TreeNode[]>();

/** The children, made at the first call and kept as long as the node. */
export function childrenOf(node: TreeNode): readonly TreeNode[] {
  const known = children.get(node) ?? madeChildrenOf(node);
  children.set(node, known);
  return known;
}

/** The same without caching, for passes over a large value. */
export function madeChildrenOf(node: TreeNode): readonly TreeNode[] {
  const from = node.range?.from ?? 0;
  const to = node.range?.to ?? sizeOf(node.value);
  const width = widthOf(to - from);
  const made: TreeNode[] = [];
  for (let at = from; at < to; at += width) {
    made.push(width === 1 ? member(node, at) : range(node, at, Math.min(at + width, to)));
  }
  return made;
}

/** Members per child: 1, 1,000, 1,000,000, …, so that no node has more than 1,000 children. */
function widthOf(count: number): number {
  let width = 1;
  while (count > width * RANGE) width *= RANGE;
  return width;
}

function member(node: TreeNode, at: number): TreeNode {
  const { value, id, depth } = node;
  const key = Array.isArray(value) ? at : (keysOf(value as object)[at] ?? '');
  const own = (value as Record<string | number, unknown>)[key];
  return { id: `${id}/${at}`, parent: node, depth: depth + 1, key, value: own };
}

function range(node: TreeNode, from: number, to: number): TreeNode {
  const { value, id, depth } = node;
  return {
    id: `${id}/${from}-${to}`,
    parent: node,
    depth: depth + 1,
    key: undefined,
    value,
    range: { from, to },
  };
}

export function visibleRows(root: TreeNode, isOpen: (id: string) => boolean): readonly TreeNode[] {
  const rows: TreeNode[] = [];
  const ahead: TreeNode[] = [root];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    rows.push(node);
    if (!isBranch(node) || !isOpen(node.id)) continue;
    const below = childrenOf(node);
    for (let at = below.length - 1; at >= 0; at -= 1) ahead.push(below[at] as TreeNode);
  }
  return rows;
}

/** The branches to open, level by level, while no more than `most` rows are visible. */
export function openWithin(root: TreeNode, most: number): ReadonlySet<string> {
  const open = new Set<string>();
  let seen = 1;
  let level: readonly TreeNode[] = [root];
  while (level.length > 0) {
    const next: TreeNode[] = [];
    for (const node of level) {
      if (!isBranch(node)) continue;
      const below = node.range || sizeOf(node.value) > most ? undefined : childrenOf(node);
      // The root is always opened, because a closed root shows nothing.
      if (node !== root && (!below || seen + below.length > most)) continue;
      open.add(node.id);
      seen += (below ?? childrenOf(node)).length;
      next.push(...(below ?? []));
    }
    level = next;
  }
  return open;
}

/** The ancestors of the node, the root first. */
export function ancestorsOf(node: TreeNode): readonly TreeNode[] {
  const above: TreeNode[] = [];
  for (let at = node.parent; at; at = at.parent) above.unshift(at);
  return above;
}

const NAME = /^[A-Za-z_$][\w$]*$/;

/** The path in the form `$.findings[3]["a b"]`. */
export function pathOf(node: TreeNode): string {
  let path = '';
  for (let at: TreeNode | undefined = node; at; at = at.parent) {
    if (at.key !== undefined) path = `${stepText(at.key)}${path}`;
  }
  return `$${path}`;
}

export function stepText(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return NAME.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** The step that an arrow key selects: along the edges up and down, along the layer to the sides. Pure. */
import type { Layout, PlacedNode } from './layout.ts';

export type Arrow = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight' | 'Home' | 'End';

const ARROWS: ReadonlySet<string> = new Set([
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Home',
  'End',
]);

export function isArrow(key: string): key is Arrow {
  return ARROWS.has(key);
}

export class Walk {
  readonly #nodes: readonly PlacedNode[];
  readonly #byId: ReadonlyMap<string, PlacedNode>;
  readonly #above = new Map<string, PlacedNode[]>();
  readonly #below = new Map<string, PlacedNode[]>();
  readonly #rows = new Map<number, PlacedNode[]>();

  constructor({ nodes, edges }: Layout) {
    this.#nodes = nodes;
    this.#byId = new Map(nodes.map((node) => [node.id, node]));
    for (const { from, to } of edges) {
      push(this.#below, from, this.#byId.get(to));
      push(this.#above, to, this.#byId.get(from));
    }
    for (const node of nodes) push(this.#rows, node.y, node);
    for (const row of this.#rows.values()) row.sort((a, b) => a.x - b.x);
  }

  placed(id: string): PlacedNode | undefined {
    return this.#byId.get(id);
  }

  get first(): string | undefined {
    return this.#nodes[0]?.id;
  }

  /** Undefined where there is nothing in that direction. */
  from(id: string, arrow: Arrow): string | undefined {
    const here = this.#byId.get(id);
    if (!here) return this.first;
    switch (arrow) {
      case 'ArrowDown':
        return nearest(here, this.#below.get(id));
      case 'ArrowUp':
        return nearest(here, this.#above.get(id));
      case 'ArrowLeft':
        return this.#beside(here, -1);
      case 'ArrowRight':
        return this.#beside(here, 1);
      case 'Home':
        return this.first;
      case 'End':
        return this.#nodes.at(-1)?.id;
    }
  }

  #beside(here: PlacedNode, by: number): string | undefined {
    const row = this.#rows.get(here.y) ?? [];
    return row[row.indexOf(here) + by]?.id;
  }
}

/** The nearest by x; of two at the same distance, the left one. */
function nearest(here: PlacedNode, others: readonly PlacedNode[] = []): string | undefined {
  const away = ({ x }: PlacedNode) => Math.abs(x - here.x);
  return others.toSorted((a, b) => away(a) - away(b) || a.x - b.x)[0]?.id;
}

function push<K>(map: Map<K, PlacedNode[]>, key: K, node: PlacedNode | undefined): void {
  if (!node) return;
  const list = map.get(key);
  if (list) list.push(node);
  else map.set(key, [node]);
}

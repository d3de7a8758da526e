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

/** Searches the whole layout for each key, which is faster than building an index for the first view. */
export class Walk {
  readonly #layout: Layout;
  readonly #byId: ReadonlyMap<string, PlacedNode>;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#byId = new Map(layout.nodes.map((node) => [node.id, node]));
  }

  placed(id: string): PlacedNode | undefined {
    return this.#byId.get(id);
  }

  get first(): string | undefined {
    return this.#layout.nodes[0]?.id;
  }

  /** Undefined where there is nothing in that direction. */
  from(id: string, arrow: Arrow): string | undefined {
    const here = this.#byId.get(id);
    if (!here) return this.first;
    const { nodes, edges } = this.#layout;
    switch (arrow) {
      case 'ArrowDown':
        return this.#nearest(
          here,
          edges.filter(({ from }) => from === id).map(({ to }) => to),
        );
      case 'ArrowUp':
        return this.#nearest(
          here,
          edges.filter(({ to }) => to === id).map(({ from }) => from),
        );
      case 'ArrowLeft':
        return this.#beside(here, -1);
      case 'ArrowRight':
        return this.#beside(here, 1);
      case 'Home':
        return this.first;
      case 'End':
        return nodes.at(-1)?.id;
    }
  }

  /** The nearest by x; of two at the same distance, the left one. */
  #nearest(here: PlacedNode, ids: readonly string[]): string | undefined {
    const away = ({ x }: PlacedNode) => Math.abs(x - here.x);
    return ids.flatMap((id) => this.#byId.get(id) ?? []).sort((a, b) => away(a) - away(b) || a.x - b.x)[0]
      ?.id;
  }

  #beside(here: PlacedNode, by: number): string | undefined {
    const row = this.#layout.nodes.filter(({ y }) => y === here.y).sort((a, b) => a.x - b.x);
    return row[row.indexOf(here) + by]?.id;
  }
}

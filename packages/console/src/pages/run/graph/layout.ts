/**
 * Positions of the steps of a plan. Pure. Plans of at most {@link DAGRE_MOST} steps without wide layers are laid out by dagre,
 * which would take seconds for more. Other plans are laid out by layers in linear time; large ones are folded into columns,
 * so that a long chain does not become a needle.
 *
 * Must not: know of states; a plan is laid out once.
 */
import dagre from '@dagrejs/dagre';

export interface PlanNode {
  readonly id: string;
  readonly kind: string;
  readonly needs: readonly string[];
}

export interface PlacedNode {
  readonly id: string;
  /** Upper left corner. */
  readonly x: number;
  readonly y: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** Bends of the edge between the steps of the layers that it passes. */
  readonly through?: readonly Point[];
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly Edge[];
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 58;
const GAP_X = 28;
const GAP_Y = 44;
/** dagre takes up to a quarter of a second for this number, and two seconds for three times as many. */
export const DAGRE_MOST = 100;
/** Limit of the steps in a row; wider layers continue below. `dagre`: it never splits a layer. */
const MAX_ACROSS = { dagre: 4, small: 6, large: 24 };
/** Least number of steps in a row of a split layer. */
const MIN_ACROSS = 3;
/** Space for a graph beside the timeline in a window of 1280 px. */
const FRAME = { width: 480, height: 420 };

export function layOut(plan: readonly PlanNode[]): Layout {
  const known = new Set(plan.map(({ id }) => id));
  const nodes = plan.map((node) => ({ ...node, needs: node.needs.filter((id) => known.has(id)) }));
  const edges = nodes.flatMap(({ id, needs }) => needs.map((from) => ({ from, to: id })));
  if (nodes.length > DAGRE_MOST) {
    const rows = rowsOf(layersOf(nodes), MAX_ACROSS.large);
    return { nodes: inColumns(rows, rowsInColumn(rows)), edges };
  }
  const layers = layersOf(nodes);
  if (layers.every(({ length }) => length <= MAX_ACROSS.dagre)) return byDagre(nodes, edges);
  // dagre would put a wide layer into one row, which does not fit the frame at a readable size.
  const rows = largestRows(layers);
  return { nodes: inColumns(rows, rows.length), edges };
}

/** The part of a layout that an area shows: steps, edges that pass it, and the steps at their ends. */
export function partIn({ nodes, edges }: Layout, area: Area): Layout {
  const overlaps = (left: number, top: number, right: number, bottom: number) =>
    left <= area.right && right >= area.left && top <= area.bottom && bottom >= area.top;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const passing = edges.filter((edge) => {
    const from = byId.get(edge.from);
    const to = byId.get(edge.to);
    if (!from || !to) return false;
    const [left, right] = from.x < to.x ? [from.x, to.x] : [to.x, from.x];
    const [top, bottom] = from.y < to.y ? [from.y, to.y] : [to.y, from.y];
    return overlaps(left, top, right + NODE_WIDTH, bottom + NODE_HEIGHT);
  });
  const ends = new Set(passing.flatMap(({ from, to }) => [from, to]));
  const isShown = ({ id, x, y }: PlacedNode) =>
    ends.has(id) || overlaps(x, y, x + NODE_WIDTH, y + NODE_HEIGHT);
  return { nodes: nodes.filter(isShown), edges: passing };
}

/** The bounds of the steps and of the bends of edges, which may lie outside the outermost steps. */
export function boundsOf({ nodes, edges }: Layout): Area {
  const bounds = { left: 0, top: 0, right: 0, bottom: 0 };
  const take = (x: number, y: number, width = 0, height = 0) => {
    bounds.left = Math.min(bounds.left, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.right = Math.max(bounds.right, x + width);
    bounds.bottom = Math.max(bounds.bottom, y + height);
  };
  for (const { x, y } of nodes) take(x, y, NODE_WIDTH, NODE_HEIGHT);
  for (const { through = [] } of edges) for (const { x, y } of through) take(x, y);
  return bounds;
}

function byDagre(nodes: readonly PlanNode[], edges: readonly Edge[]): Layout {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: GAP_X, ranksep: GAP_Y });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  return {
    nodes: nodes.map(({ id }) => {
      const { x, y } = graph.node(id);
      return { id, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
    }),
    edges: edges.map((edge) => {
      // dagre gives a point for each layer and for each gap; the points in the gaps are not needed.
      const points: readonly Point[] = graph.edge(edge.from, edge.to).points;
      const through = points.slice(1, -1).filter((_, at) => at % 2 === 1);
      return through.length === 0 ? edge : { ...edge, through };
    }),
  };
}

const STEP_X = NODE_WIDTH + GAP_X;
const STEP_Y = NODE_HEIGHT + GAP_Y;

/** A row of steps: a layer, or a part of a layer that is too wide. */
type LayerRow = readonly PlanNode[];

function inColumns(rows: readonly LayerRow[], perColumn: number): PlacedNode[] {
  const placed: PlacedNode[] = [];
  const centreOf = new Map<string, number>();
  let left = 0;
  for (let first = 0; first < rows.length; first += perColumn) {
    const column = rows.slice(first, first + perColumn);
    const across = Math.max(...column.map((row) => row.length));
    const width = across * STEP_X;
    column.forEach((row, at) => {
      for (const [place, node] of spread(row, width, centreOf)) {
        centreOf.set(node.id, place);
        placed.push({ id: node.id, x: left + place - NODE_WIDTH / 2, y: at * STEP_Y });
      }
    });
    left += width + STEP_X / 2;
  }
  return placed;
}

/** Puts each step one layer below the lowest step that it needs. The plan must be in topological order. */
function layersOf(nodes: readonly PlanNode[]): LayerRow[] {
  const depths = new Map<string, number>();
  const layers: PlanNode[][] = [];
  for (const node of nodes) {
    let depth = 0;
    for (const id of node.needs) depth = Math.max(depth, (depths.get(id) ?? -1) + 1);
    depths.set(node.id, depth);
    layers[depth] ??= [];
    layers[depth]?.push(node);
  }
  return layers;
}

/** Splits layers that are too wide. */
function rowsOf(layers: readonly LayerRow[], across: number): LayerRow[] {
  return layers.flatMap((layer) => {
    const parts: LayerRow[] = [];
    for (let at = 0; at < layer.length; at += across) parts.push(layer.slice(at, at + across));
    return parts;
  });
}

/** Splits wide layers so that the whole is drawn as large as possible in the frame. */
function largestRows(layers: readonly LayerRow[]): readonly LayerRow[] {
  const zoomOf = (across: number) =>
    Math.min(FRAME.width / (across * STEP_X), FRAME.height / (rowsOf(layers, across).length * STEP_Y));
  let best = MIN_ACROSS;
  for (let across = best + 1; across <= MAX_ACROSS.small; across += 1)
    if (zoomOf(across) > zoomOf(best)) best = across;
  return rowsOf(layers, best);
}

/** The number of rows that makes the layout about as wide as high. */
function rowsInColumn(rows: readonly LayerRow[]): number {
  const across = rows.reduce((sum, row) => sum + row.length, 0) / rows.length;
  return Math.max(1, Math.ceil(Math.sqrt((rows.length * across * STEP_X) / STEP_Y)));
}

/** Places each step near the centre of its needs, without overlaps, and centres the row in its column. */
function spread(row: LayerRow, width: number, centreOf: ReadonlyMap<string, number>): [number, PlanNode][] {
  const [only] = row;
  // This shortcut matters for a chain of thousands of steps, which has as many rows.
  if (only && row.length === 1) return [[width / 2, only]];
  const wanted = row
    .map((node, order) => ({ node, order, at: middle(node, centreOf) ?? width / 2 }))
    .sort((a, b) => a.at - b.at || a.order - b.order);
  const start = (width - row.length * STEP_X) / 2 + STEP_X / 2;
  return wanted.map(({ node }, at) => [start + at * STEP_X, node]);
}

function middle({ needs }: PlanNode, centreOf: ReadonlyMap<string, number>): number | undefined {
  let sum = 0;
  for (const id of needs) sum += centreOf.get(id) ?? 0;
  return needs.length === 0 ? undefined : sum / needs.length;
}

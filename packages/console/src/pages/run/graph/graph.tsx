/**
 * The plan of a run as a live graph. React Flow draws and pans; positions come from `layout.ts`, states from the journal.
 * Only steps in view are in the document.
 */
import {
  type Edge,
  getViewportForBounds,
  type Node,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  useStoreApi,
  type Viewport,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import './graph.css';
import {
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { textScale } from '../../../parts/tables/text-scale.ts';
import type { RunGraphNode } from '../live/events.ts';
import {
  boundsOf,
  DAGRE_MOST,
  type Layout,
  layOut,
  NODE_HEIGHT,
  NODE_WIDTH,
  type PlacedNode,
  partIn,
} from './layout.ts';
import { NeedEdge } from './need-edge.tsx';
import { StepsContext, type StepsShown } from './step-context.ts';
import { StepNode } from './step-node.tsx';
import type { StepView } from './step-view.ts';
import { isArrow, Walk } from './walk.ts';

interface GraphProps {
  /** The same array as long as the plan is the same. */
  readonly plan: readonly RunGraphNode[];
  view(id: string): StepView | undefined;
  readonly selected: string | undefined;
  /** Current step: scrolled into view first if the graph does not fit. */
  readonly current: string | undefined;
  onSelect(id: string): void;
}

const NODE_TYPES = { step: StepNode };
const EDGE_TYPES = { need: NeedEdge };
const UNDESCRIBED = { 'aria-roledescription': undefined };
/** A large plan shows about a hundred steps at most; more are too slow to draw while panning. */
const MIN_ZOOM = { whole: 0.04, small: 0.25, large: 0.5 };
/**
 * Size of text in a step, px. The drawing uses px whatever the browser's font, so its text matches other text at a zoom of
 * `textScale()`.
 */
const DRAWN_PX = 14;
const MAX_ZOOM = 1.6;
const MOVE_MS = 150;
const EDGE = 40;
const PADDING = 0.08;
/** Heights at the default font, px: `margin` around the steps, `bar` for the zoom buttons. */
const HEIGHT = { least: 240, most: 640, margin: 90, bar: 36 };

export function Graph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <GraphCanvas {...props} />
    </ReactFlowProvider>
  );
}

function GraphCanvas({ plan, view, selected, current, onSelect }: GraphProps) {
  const layout = useMemo(() => layOut(plan), [plan]);
  const walk = useMemo(() => new Walk(layout), [layout]);
  const isLarge = layout.nodes.length > DAGRE_MOST;
  const drawn = useDrawn(layout, isLarge);
  const [active, setActive] = useState<string>();
  const focusing = useRef<string>(undefined);
  const start = active ?? selected ?? walk.first;

  const frame = useView({ layout, walk, isLarge, selected });
  const { show } = frame;

  // A step that was selected in the address or the table is scrolled into view.
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (selected === undefined || selected === shown.current) return;
    shown.current = selected;
    setActive(selected);
    if (isLarge) show(selected);
  }, [selected, isLarge, show]);

  const select = useCallback(
    (id: string) => {
      shown.current = id;
      setActive(id);
      onSelect(id);
    },
    [onSelect],
  );
  const steps = useMemo<StepsShown>(
    () => ({
      view,
      active: start,
      selected,
      select,
      takesFocus: (id) => focusing.current === id && start === id,
    }),
    [view, start, selected, select],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    if (!isArrow(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = start === undefined ? walk.first : walk.from(start, event.key);
    if (to === undefined) return;
    focusing.current = to;
    setActive(to);
    show(to);
  };

  const at = walk.placed(selected ?? current ?? walk.first ?? '');
  return (
    <StepsContext.Provider value={steps}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the steps within */}
      <div
        className="graph"
        style={{
          height: heightOf(layout, frame.width),
          gridTemplateRows: `${HEIGHT.bar * textScale()}px minmax(0, 1fr)`,
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          focusing.current = undefined;
        }}
      >
        <Zoom onWhole={frame.showWhole} />
        <ReactFlow
          nodes={drawn.nodes}
          edges={drawn.edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          aria-label="Steps and what they need. Arrow keys move along the edges, Enter selects."
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          panOnScroll
          zoomOnDoubleClick={false}
          deleteKeyCode={null}
          onMove={frame.onMove}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          minZoom={frame.farthest}
          maxZoom={MAX_ZOOM * textScale()}
          {...(isLarge && at && { defaultViewport: viewportAt(at) })}
        />
      </div>
    </StepsContext.Provider>
  );
}

interface ViewOptions {
  readonly layout: Layout;
  readonly walk: Walk;
  readonly isLarge: boolean;
  readonly selected: string | undefined;
}

/** Moves the visible part of the graph: to a step, to the whole, and when the frame changes its size. */
function useView({ layout, walk, isLarge, selected }: ViewOptions) {
  const flow = useReactFlow();
  const store = useStoreApi();
  const show = useCallback(
    (id: string) => {
      const at = walk.placed(id);
      const { width, height } = store.getState();
      // Before the size of the frame is known, the first view shows the step.
      if (!at || width === 0) return;
      const viewport = centred(at, { width, height, zoom: flow.getZoom() }, isLarge);
      // A large plan jumps, because an animation would draw every step on the way.
      const isStill = isLarge || matchMedia('(prefers-reduced-motion: reduce)').matches;
      void flow.setViewport(viewport, { duration: isStill ? 0 : MOVE_MS });
    },
    [flow, store, walk, isLarge],
  );

  // A small graph opens at a readable size, and *fit* shows all of it.
  const farthest = isLarge ? MIN_ZOOM.large : MIN_ZOOM.whole;
  // When the width of the frame changes, for example by an opened panel, the graph is fitted again unless a person has moved it.
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isMoved = useRef(false);
  const leastZoom = useRef<number>(MIN_ZOOM.small * textScale());
  // A moved graph keeps the selected step in view at its place, although the step's panel takes a part of the width.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each size, not for each step
  useLayoutEffect(() => {
    if (width === 0) return;
    if (!isLarge && !isMoved.current)
      void flow.setViewport(wholeOf(layout, { width, height }, leastZoom.current));
    else {
      const [at, view] = [walk.placed(selected ?? ''), flow.getViewport()];
      if (at && !isWithin(at, view, width)) {
        const { zoom, y } = view;
        const whole = centred(at, { width, height, zoom }, isLarge);
        void flow.setViewport(isAtHeight(at, view, height) ? { ...whole, y } : whole);
      }
    }
  }, [width, height, isLarge, flow]);

  return {
    width,
    farthest,
    show,
    showWhole() {
      isMoved.current = false;
      leastZoom.current = farthest;
      void flow.setViewport(wholeOf(layout, { width, height }, farthest));
    },
    onMove(event: unknown) {
      // The page's own moves have no event. A click starts a move as well, but moves nothing.
      if (event) isMoved.current = true;
    },
  };
}

/** Returns the view of the whole graph, or of its beginning if it is too large. A small graph is not enlarged. */
function wholeOf(
  layout: Layout,
  { width, height }: Pick<DOMRect, 'width' | 'height'>,
  least: number,
): Viewport {
  const { left, top, right, bottom } = boundsOf(layout);
  const area = { x: left, y: top, width: right - left, height: bottom - top };
  const { x, y, zoom } = getViewportForBounds(area, width, height, least, textScale(), PADDING);
  // A graph that is wider or higher than the frame shows its beginning, not its middle.
  return {
    x: area.width * zoom > width ? EDGE - left * zoom : x,
    y: area.height * zoom > height ? EDGE - top * zoom : y,
    zoom,
  };
}

/** True if the step is fully within a frame of this width. */
function isWithin(at: PlacedNode, { x, zoom }: Viewport, width: number): boolean {
  const left = at.x * zoom + x;
  return left >= 0 && left + NODE_WIDTH * zoom <= width;
}

/** True if a part of the step is within a frame of this height. */
function isAtHeight(at: PlacedNode, { y, zoom }: Viewport, height: number): boolean {
  const top = at.y * zoom + y;
  return top < height && top + NODE_HEIGHT * zoom > 0;
}

interface FrameSize {
  readonly width: number;
  readonly height: number;
  readonly zoom: number;
}

/** @param isLarge the plan begins at 0, and is larger than the frame */
function centred({ x, y }: PlacedNode, { width, height, zoom }: FrameSize, isLarge: boolean): Viewport {
  const most = isLarge ? EDGE : Number.POSITIVE_INFINITY;
  return {
    x: Math.min(most, width / 2 - (x + NODE_WIDTH / 2) * zoom),
    y: Math.min(most, height / 2 - (y + NODE_HEIGHT / 2) * zoom),
    zoom,
  };
}

/** Approximately centred, before the width of the frame is known, so that the visible part is drawn first. */
function viewportAt(at: PlacedNode): Viewport {
  const width = Math.max(400, window.innerWidth - 240);
  return centred(at, { width, height: HEIGHT.most * textScale(), zoom: 0.8 * textScale() }, true);
}

function Zoom({ onWhole }: { onWhole(): void }) {
  const { zoomIn, zoomOut } = useReactFlow();
  return (
    <fieldset className="graph-zoom" aria-label="Zoom">
      <button type="button" onClick={() => void zoomIn()} aria-label="Closer">
        +
      </button>
      <button type="button" onClick={() => void zoomOut()} aria-label="Farther">
        −
      </button>
      <button type="button" onClick={onWhole} title="Show as much as fits">
        fit
      </button>
    </fieldset>
  );
}

/**
 * React Flow checks all its steps at each movement, so it gets only the steps near the view of a large plan. The plan is
 * divided into squares as large as the view at the smallest zoom, so the view touches at most four.
 */
function useDrawn(layout: Layout, isLarge: boolean): ReturnType<typeof drawnOf> {
  const width = window.innerWidth / MIN_ZOOM.large;
  const height = (HEIGHT.most * textScale()) / MIN_ZOOM.large;
  // The offset puts a view at 0 and a view at the beginning of the plan into the same square.
  const column = useStore(({ transform: [x, , zoom] }) => Math.floor((EDGE * 2 - x / zoom) / width));
  const row = useStore(({ transform: [, y, zoom] }) => Math.floor((EDGE * 2 - y / zoom) / height));
  const [at, down] = isLarge ? [column, row] : [0, 0];
  return useMemo(() => {
    if (!isLarge) return drawnOf(layout);
    const left = at * width - EDGE * 2;
    const top = down * height - EDGE * 2;
    return drawnOf(partIn(layout, { left, top, right: left + 2 * width, bottom: top + 2 * height }));
  }, [layout, isLarge, at, down, width, height]);
}

/** Sizes and handles are given, so that nothing is measured and edges lead to steps that are not drawn. */
function drawnOf({ nodes, edges }: Layout): { readonly nodes: Node[]; readonly edges: Edge[] } {
  const heights = new Map(nodes.map(({ id, y }) => [id, y]));
  const handle = { x: NODE_WIDTH / 2, width: 1, height: 1 };
  return {
    nodes: nodes.map(({ id, x, y }) => ({
      id,
      type: 'step',
      position: { x, y },
      data: {},
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      style: { fontSize: DRAWN_PX },
      // Without a size, React Flow would count only steps drawn before as the whole graph.
      measured: { width: NODE_WIDTH, height: NODE_HEIGHT },
      // React Flow labels each step as a "node", which is invalid on an element without a role; the button within has one.
      domAttributes: UNDESCRIBED,
      handles: [
        { ...handle, type: 'target', position: Position.Top, y: 0 },
        { ...handle, type: 'source', position: Position.Bottom, y: NODE_HEIGHT },
      ],
    })),
    edges: edges.map(({ from, to, through }) => ({
      id: `${from} ${to}`,
      ...(through ? { type: 'need', data: { through } } : {}),
      source: from,
      target: to,
      // The edge leads up to the next column of a folded plan.
      ...((heights.get(to) ?? 0) <= (heights.get(from) ?? 0) ? { className: 'upwards' } : {}),
    })),
  };
}

/** @param width of the frame; 0: not known yet */
function heightOf({ nodes, edges }: Layout, width: number): number {
  const isLarge = nodes.length > DAGRE_MOST;
  const { left, right, bottom } = boundsOf({
    nodes: nodes.slice(0, DAGRE_MOST + 1),
    edges: isLarge ? [] : edges,
  });
  const isFitted = width > 0 && !isLarge;
  const fitting = isFitted ? (width * (1 - 2 * PADDING)) / (right - left) : Number.POSITIVE_INFINITY;
  const drawn = bottom * Math.min(1, fitting / textScale()) + HEIGHT.margin;
  return textScale() * (HEIGHT.bar + Math.min(HEIGHT.most, Math.max(HEIGHT.least, drawn)));
}

/** The first tab of a run: its steps as a graph or a table, with the timeline or the selected step beside it. */
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Segments } from '../../../parts/segments.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { useQueryState } from '../../../shell/address.ts';
import { type GraphStepState, type RunGraphNode, stepIdOf } from '../live/events.ts';
import { isOperation } from '../live/operations.ts';
import { useRunData } from '../live/run-data.ts';
import type { StepHistory } from '../live/span.ts';
import { hasTimelineBeside, TimelineBeside, TimelineElsewhere } from '../timeline/beside.tsx';
import { Graph } from './graph.tsx';
import { StepPanel } from './step-panel.tsx';
import { StepTable } from './step-table.tsx';
import { itemCounts, planOf, type StepView, stepView, underWay } from './step-view.ts';
import { innerCounts, stepCountText } from './table-rows.ts';
import './overview.css';

export function OverviewTab() {
  const { graph, steps, histories, events, run, isOver, undone, head, error, again } = useRunData();
  const [selected, setSelected] = useQueryState('step');
  const [requestedView, setView] = useQueryState('view');
  const [turns, setTurns] = useQueryState('turns');
  const plan = usePlan(graph?.nodes, steps, histories);
  // A graph of a flow has only one step, so the table is more useful.
  const usual = plan.length === 1 && plan[0]?.kind === 'flow' ? 'table' : 'graph';
  const view = requestedView ?? usual;
  // The button reacts at once, while a graph of thousands of steps takes a moment to draw.
  const drawn = useDeferredValue(view);
  // The box of a clicked step reacts at once too, before its panel opens.
  const opened = useDeferredValue(selected);
  const counts = useMemo(() => innerCounts(steps), [steps]);
  const items = useMemo(() => itemCounts(steps, undone), [steps, undone]);
  const working = useMemo(() => underWay(graph?.nodes, steps, run), [graph?.nodes, steps, run]);
  const byId = useMemo(() => new Map(plan.map((node) => [node.id, node])), [plan]);
  const progress = run?.progress;
  // A step's view is the same object until it changes, so that moving the focus redraws two steps, not all.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const viewOf = useMemo(() => {
    const views = new Map<string, StepView>();
    return (id: string) => {
      const node = byId.get(id);
      if (!node || views.has(id)) return views.get(id);
      const view = stepView(node, { steps, histories, items, working, undone, progress, isOver });
      views.set(id, view);
      return view;
    };
  }, [byId, steps, histories, items, working, undone, progress, isOver, events]);
  const body = useRef<HTMLDivElement>(null);
  const isAsked = useRef(false);
  const select = useCallback(
    (id: string) => {
      if (id === opened) showPanel(body.current);
      else isAsked.current = true;
      setSelected(id);
    },
    [setSelected, opened],
  );
  useEffect(() => {
    if (opened !== undefined && isAsked.current) showPanel(body.current);
    isAsked.current = false;
  }, [opened]);

  if (!graph) return error ? <Failure error={error} again={again} /> : <Loading what="the steps" />;
  const isTable = drawn === 'table';
  const isBeside = !isTable || usual === 'table';
  const hasTimeline = isBeside && hasTimelineBeside(head);
  const current = run?.currentStep === undefined ? undefined : stepIdOf(run.currentStep);
  return (
    <section aria-label="Steps" className="overview">
      <div className="row overview-bar">
        <FindStep plan={plan} steps={steps} selected={selected} onFound={select} />
        <span className="dim">{stepCountText(plan.length, counts, graph.nodes !== undefined)}</span>
        {isTable && counts.repeated > 0 && (
          <label className="toggle">
            <input
              type="checkbox"
              checked={turns !== 'shown'}
              onChange={({ target }) => setTurns(target.checked ? undefined : 'shown', 'replace')}
            />
            Fold repeated operations
          </label>
        )}
        <Segments
          label="Show the steps as"
          names={['graph', 'table']}
          chosen={view}
          onChoose={(name) => setView(name === usual ? undefined : name, 'replace')}
        />
      </div>
      {!graph.nodes && (
        <p className="note">
          Version {graph.planVersion} of <bdi>{graph.type}</bdi> is not deployed as it was when the run
          started, so its plan is unknown. Only steps that have started are shown, without their dependencies.
        </p>
      )}
      {isBeside && !hasTimeline && head > 0 && <TimelineElsewhere head={head} />}
      <div ref={body} className={bodyClass(opened !== undefined, hasTimeline && !isTable)}>
        {isTable ? (
          <StepTable
            plan={plan}
            viewOf={viewOf}
            selected={selected}
            isFolded={turns !== 'shown'}
            onSelect={select}
          />
        ) : (
          <Graph
            plan={plan}
            view={viewOf}
            selected={selected === undefined ? undefined : stepIdOf(selected)}
            current={current}
            onSelect={select}
          />
        )}
        {hasTimeline && opened === undefined && <TimelineBeside />}
        {opened !== undefined && (
          <StepPanel
            stepKey={opened}
            viewOf={viewOf}
            onSelect={select}
            onClose={() => setSelected(undefined)}
          />
        )}
      </div>
    </section>
  );
}

/** Scrolls to the panel of a step, which opens out of view below the graph on a narrow page. */
function showPanel(body: HTMLElement | null): void {
  const [steps, panel] = body?.children ?? [];
  if (!steps || !panel) return;
  const { top } = panel.getBoundingClientRect();
  const isBelow = top >= steps.getBoundingClientRect().bottom;
  if (isBelow && top > window.innerHeight / 2) panel.scrollIntoView({ block: 'start' });
}

function bodyClass(hasPanel: boolean, isBeside: boolean): string {
  if (hasPanel) return 'overview-body with-panel';
  return isBeside ? 'overview-body with-timeline' : 'overview-body';
}

/** Stays the same array while the plan is the same, so that the layout is kept as steps move. */
function usePlan(
  nodes: readonly RunGraphNode[] | undefined,
  steps: ReadonlyMap<string, GraphStepState>,
  histories: ReadonlyMap<string, StepHistory>,
): readonly RunGraphNode[] {
  const begun = nodes ? 0 : planOf({ nodes, steps, histories }).length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: without a plan it changes only as more steps begin
  return useMemo(() => planOf({ nodes, steps, histories }), [nodes, begun]);
}

interface FindStepProps {
  readonly plan: readonly RunGraphNode[];
  readonly steps: ReadonlyMap<string, GraphStepState>;
  readonly selected: string | undefined;
  onFound(id: string): void;
}

/** Enter goes to the next step or operation whose name has the text, or to an item such as `row[7]`. */
function FindStep({ plan, steps, selected, onFound }: FindStepProps) {
  const [text, setText] = useState('');
  const found = useMemo(() => matching(plan, steps, text), [plan, steps, text]);
  return (
    <form
      className="find-step"
      onSubmit={(event) => {
        event.preventDefault();
        const next = found[(found.indexOf(selected ?? '') + 1) % found.length];
        if (next !== undefined) onFound(next);
      }}
    >
      <input
        type="search"
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder="Find a step"
        aria-label="Find a step; Enter jumps to the next"
      />
      {text.trim() !== '' && (
        <span className="dim" role="status">
          {found.length === 0 ? 'none' : `${found.length} found`}
        </span>
      )}
    </form>
  );
}

function matching(
  plan: readonly RunGraphNode[],
  steps: ReadonlyMap<string, GraphStepState>,
  text: string,
): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  // A map has up to a thousand items, so the name of the map alone does not find them.
  const isInner = wanted.includes('[') ? (key: string) => key.includes('[') : isOperation;
  const keys = [...plan.map(({ id }) => id), ...[...steps.keys()].filter(isInner)];
  return keys.filter((key) => key.toLowerCase().includes(wanted));
}

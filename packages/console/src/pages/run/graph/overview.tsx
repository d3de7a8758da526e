/** The first tab of a run: its steps as a graph or a table, with the timeline or the selected step beside it. */
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { Failure, Loading } from '../../../parts/states.tsx';
import { useQueryState } from '../../../shell/address.ts';
import { type GraphNode, type StepState, stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import type { StepHistory } from '../live/span.ts';
import { hasTimelineBeside, TimelineBeside } from '../timeline/beside.tsx';
import { Graph } from './graph.tsx';
import { StepPanel } from './step-panel.tsx';
import { StepTable } from './step-table.tsx';
import { itemCounts, planOf, stepView, underWay } from './step-view.ts';
import './overview.css';

export function OverviewTab() {
  const { graph, steps, histories, events, run, undone, head, error, again } = useRunData();
  const [selected, setSelected] = useQueryState('step');
  const [view = 'graph', setView] = useQueryState('view');
  // The button answers at once; a graph of thousands of steps takes a moment to be made.
  const drawn = useDeferredValue(view);
  const plan = usePlan(graph?.nodes, steps, histories);
  const items = useMemo(() => itemCounts(steps, undone), [steps, undone]);
  const working = useMemo(() => underWay(graph?.nodes, steps, run), [graph?.nodes, steps, run]);
  const byId = useMemo(() => new Map(plan.map((node) => [node.id, node])), [plan]);
  const progress = run?.progress;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const viewOf = useCallback(
    (id: string) => {
      const node = byId.get(id);
      return node && stepView(node, { steps, histories, items, working, undone, progress });
    },
    [byId, steps, histories, items, working, undone, progress, events],
  );
  const select = useCallback((id: string) => setSelected(id), [setSelected]);

  if (!graph) return error ? <Failure error={error} again={again} /> : <Loading what="the steps" />;
  const isBeside = drawn === 'graph' && hasTimelineBeside(head);
  const current = run?.currentStep === undefined ? undefined : stepIdOf(run.currentStep);
  return (
    <section aria-label="Steps" className="overview">
      <div className="row overview-bar">
        <FindStep plan={plan} selected={selected} onFound={select} />
        <span className="dim">{countText(plan.length, graph.nodes !== undefined)}</span>
        <fieldset className="segments" aria-label="Show the steps as">
          {['graph', 'table'].map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={view === name}
              onClick={() => setView(name === 'graph' ? undefined : name, 'replace')}
            >
              {name}
            </button>
          ))}
        </fieldset>
      </div>
      {!graph.nodes && (
        <p className="note">
          Version {graph.planVersion} of <bdi>{graph.type}</bdi> is not deployed, so its plan is unknown. Only
          steps that have started are shown, without their dependencies.
        </p>
      )}
      <div className={bodyClass(selected !== undefined, isBeside)}>
        {drawn === 'table' ? (
          <StepTable plan={plan} viewOf={viewOf} selected={selected} onSelect={select} />
        ) : (
          <Graph
            plan={plan}
            view={viewOf}
            selected={selected === undefined ? undefined : stepIdOf(selected)}
            current={current}
            onSelect={select}
          />
        )}
        {isBeside && selected === undefined && <TimelineBeside />}
        {selected !== undefined && (
          <StepPanel
            stepKey={selected}
            viewOf={viewOf}
            onSelect={select}
            onClose={() => setSelected(undefined)}
          />
        )}
      </div>
    </section>
  );
}

function bodyClass(hasPanel: boolean, isBeside: boolean): string {
  if (hasPanel) return 'overview-body with-panel';
  return isBeside ? 'overview-body with-timeline' : 'overview-body';
}

/** Stays the same array while the plan is the same, so that nothing is laid out anew as steps move. */
function usePlan(
  nodes: readonly GraphNode[] | undefined,
  steps: ReadonlyMap<string, StepState>,
  histories: ReadonlyMap<string, StepHistory>,
): readonly GraphNode[] {
  const begun = nodes ? 0 : planOf({ nodes, steps, histories }).length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: without a plan it changes only as more steps begin
  return useMemo(() => planOf({ nodes, steps, histories }), [nodes, begun]);
}

function countText(count: number, isPlanned: boolean): string {
  return `${count.toLocaleString('en')} step${count === 1 ? '' : 's'}${isPlanned ? '' : ' started'}`;
}

interface FindStepProps {
  readonly plan: readonly GraphNode[];
  readonly selected: string | undefined;
  onFound(id: string): void;
}

/** Enter goes to the next step whose name has the text. */
function FindStep({ plan, selected, onFound }: FindStepProps) {
  const [text, setText] = useState('');
  const count = useMemo(() => matching(plan, text).length, [plan, text]);
  return (
    <form
      className="find-step"
      onSubmit={(event) => {
        event.preventDefault();
        const found = matching(plan, text);
        const next = found[(found.findIndex(({ id }) => id === selected) + 1) % found.length];
        if (next) onFound(next.id);
      }}
    >
      <input
        type="search"
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder="Find a step"
        aria-label="Find a step; Enter goes to the next"
      />
      {text.trim() !== '' && (
        <span className="dim" role="status">
          {count === 0 ? 'none' : `${count} found`}
        </span>
      )}
    </form>
  );
}

function matching(plan: readonly GraphNode[], text: string): readonly GraphNode[] {
  const wanted = text.trim().toLowerCase();
  return wanted === '' ? [] : plan.filter(({ id }) => id.toLowerCase().includes(wanted));
}

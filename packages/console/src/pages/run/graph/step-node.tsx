/** One step in the graph: its name, and its status by colour, mark and word. */
import { Handle, type NodeProps, Position } from '@xyflow/react';
import { memo, useEffect, useRef } from 'react';
import { Status, toneOf } from '../../../parts/status.tsx';
import { duration } from '../../../parts/time.ts';
import { NameOnLine } from '../../../parts/value-text.tsx';
import { useNow } from '../../../parts/when.tsx';
import { percentText } from '../live/progress.ts';
import { useSteps } from './step-context.ts';
import { itemsText, NOT_BEGUN, type StepView } from './step-view.ts';

export function StepNode({ id }: NodeProps) {
  const steps = useSteps();
  const view = steps.view(id);
  if (!view) return null;
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <StepBox
        view={view}
        isActive={steps.active === id}
        isSelected={steps.selected === id}
        takesFocus={steps.takesFocus(id)}
        onSelect={steps.select}
      />
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

interface StepBoxProps {
  readonly view: StepView;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly takesFocus: boolean;
  onSelect(id: string): void;
}

const StepBox = memo(function StepBox({ view, isActive, isSelected, takesFocus, onSelect }: StepBoxProps) {
  const { id, kind, status, items } = view;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The graph moves the step into view itself, and scrolling the page as well would make it jump.
    if (takesFocus) button.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <button
      ref={button}
      type="button"
      className={`step-box tone-${toneOf(status)} ${status === NOT_BEGUN ? 'not-begun' : ''}`}
      data-step={id}
      data-status={status}
      tabIndex={isActive ? 0 : -1}
      aria-pressed={isSelected}
      onClick={() => onSelect(id)}
    >
      <span className="step-name">
        <NameOnLine value={id} />
        {kind !== 'step' && <span className="step-kind">{kind}</span>}
      </span>
      <span className="step-state">
        <Status status={status} />
        <Extras view={view} />
      </span>
      {/* A failed map has no bar: only the items that began are known, and a full bar would mean that all are done. */}
      {items?.isWhole && items.total > 0 && (
        <span
          className="step-bar"
          title={itemsText(items, kind)}
          style={{ '--done': items.done / items.total, '--failed': items.failed / items.total } as object}
        />
      )}
    </button>
  );
});

function Extras({
  view: { kind, items, attempts, revision, durationMs, runningSince, share },
}: {
  readonly view: StepView;
}) {
  return (
    <span className="step-extras">
      {items && items.total > 0 && (
        <span title={itemsText(items, kind)}>
          {items.isWhole ? `${items.done}/${items.total}` : `${items.done} done`}
        </span>
      )}
      {attempts > 1 && <span title={`attempt ${attempts}`}>×{attempts}</span>}
      {revision > 1 && <span title={`revision ${revision}`}>r{revision}</span>}
      {share !== undefined && <span title="reported progress">{percentText(share)}</span>}
      {durationMs !== undefined && <span>{duration(durationMs)}</span>}
      {runningSince !== undefined && <Running since={runningSince} />}
    </span>
  );
}

function Running({ since }: { readonly since: number }) {
  return <span>{duration(Math.max(0, useNow() - since))}</span>;
}

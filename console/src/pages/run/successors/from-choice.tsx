/** From where a successor goes on: the usual place, a step, or a checkpoint. */
import { useId } from 'react';
import { known, type RunEvent, stepKey } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { type From, fromOf, type Mode, wordOf } from './request.ts';
import { FROM_ELSEWHERE } from './words.ts';

interface FromChoiceProps {
  readonly mode: Mode;
  readonly from: From | undefined;
  onFrom(from: From | undefined): void;
}

/** Checkpoints to choose from. Others are reached from the tab of the checkpoints. */
const MOST_LISTED = 200;

export function FromChoice({ mode, from, onFrom }: FromChoiceProps) {
  const id = useId();
  const { graph, events } = useRunData();
  const steps = graph?.nodes?.map((node) => node.id) ?? [];
  const checkpoints = events.flatMap(checkpointOf).slice(-MOST_LISTED);
  const chosen = wordOf(from);
  const isListed =
    from === undefined ||
    ('step' in from
      ? steps.includes(from.step)
      : checkpoints.some(({ checkpoint }) => checkpoint === from.checkpoint));
  return (
    <div className="field">
      <label htmlFor={id}>From</label>
      <select id={id} value={chosen ?? ''} onChange={({ target }) => onFrom(fromOf(target.value))}>
        <option value="">{FROM_ELSEWHERE[mode]}</option>
        {!isListed && <option value={chosen}>{chosen?.replace(':', ' ')}</option>}
        <optgroup label="A step: it and what follows it run">
          {steps.map((step) => (
            <option key={step} value={wordOf({ step })}>
              {step}
            </option>
          ))}
        </optgroup>
        <optgroup label="A checkpoint: what had completed by then is taken over">
          {checkpoints.map(({ checkpoint, what }) => (
            <option key={checkpoint} value={wordOf({ checkpoint })}>
              {checkpoint} · {what}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  );
}

/** The events that make one: its number is theirs. */
function checkpointOf(anyEvent: RunEvent): { readonly checkpoint: number; readonly what: string }[] {
  const event = known(anyEvent);
  const { seq: checkpoint } = event;
  switch (event.type) {
    case 'run_started':
      return [{ checkpoint, what: 'the run started' }];
    case 'run_suspended':
      return [{ checkpoint, what: event.data.status.replaceAll('_', ' ') }];
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_reused':
    case 'step_failed':
      return [{ checkpoint, what: `${stepKey(event.data)} ${event.type.slice('step_'.length)}` }];
    default:
      return [];
  }
}

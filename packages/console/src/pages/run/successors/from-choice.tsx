/** Choice of the start of a successor: the default, a step, or a checkpoint. */
import { useId } from 'react';
import { checkpointWords } from '../checkpoints/made-by.ts';
import type { RunEvent } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { fromOf, type Mode, type SuccessorFrom, wordOf } from './request.ts';
import { FROM_ELSEWHERE } from './words.ts';

interface FromChoiceProps {
  readonly mode: Mode;
  readonly from: SuccessorFrom | undefined;
  onFrom(from: SuccessorFrom | undefined): void;
}

/** Checkpoints to choose from. Others are reached from the tab of the checkpoints. */
const MAX_LISTED = 200;

export function FromChoice({ mode, from, onFrom }: FromChoiceProps) {
  const id = useId();
  const { graph, events } = useRunData();
  const steps = graph?.nodes?.map((node) => node.id) ?? [];
  const checkpoints = events.flatMap(checkpointOf).slice(-MAX_LISTED);
  const chosen = from && wordOf(from);
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
        <optgroup label="A checkpoint: what had completed by then is reused">
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

function checkpointOf(event: RunEvent): { readonly checkpoint: number; readonly what: string }[] {
  const what = checkpointWords(event);
  return what === undefined ? [] : [{ checkpoint: event.seq, what }];
}

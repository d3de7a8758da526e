/** Documents of a run, as callers see them. */
import type { EffectRecord } from '../../core/effects/effect.ts';
import type { RunEvent } from '../../core/run/events.ts';
import { fromText, iso, readableValue } from '../../core/run/readable.ts';
import type { Checkpoint } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import type { View } from './run.ts';
import type { ShownStep } from './running.ts';

export function eventView(event: RunEvent): View {
  return readableValue(event) as View;
}

/** `compensated`: the revision that is shown was undone. */
export function stepView(record: ShownStep, { compensationLog }: RunState): View {
  const { startedAtMs, updatedAtMs, ...step } = record;
  const compensated = compensationLog.some(
    ({ stepId, revision, outcome }) =>
      stepId === step.id && revision === step.revision && outcome === 'compensated',
  );
  const times = { startedAt: iso(startedAtMs), updatedAt: iso(updatedAtMs) };
  return { ...(readableValue(step) as View), ...times, compensated };
}

export function checkpointView({ outputText, ...checkpoint }: Checkpoint): View {
  return {
    ...(readableValue(checkpoint) as View),
    ...(outputText === undefined ? {} : { output: fromText(outputText) }),
  };
}

/** A result stored elsewhere is referenced, not shown. */
export function effectView(record: EffectRecord): View {
  return readableValue(record) as View;
}

/** What lies under a run, as callers see it. */
import type { RunEvent } from '../../core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../core/run/records.ts';
import type { View } from './run.ts';
import { fromText, iso, readable } from './values.ts';

export function eventView(event: RunEvent): View {
  return readable(event) as View;
}

export function stepView({ startedAtMs, updatedAtMs, ...step }: StepRecord): View {
  return { ...(readable(step) as View), startedAt: iso(startedAtMs), updatedAt: iso(updatedAtMs) };
}

export function checkpointView({ outputText, ...checkpoint }: Checkpoint): View {
  return {
    ...(readable(checkpoint) as View),
    ...(outputText === undefined ? {} : { output: fromText(outputText) }),
  };
}

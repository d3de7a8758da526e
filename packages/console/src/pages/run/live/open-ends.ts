/** The ends of attempts, waits and dispatches for which no event is loaded. Pure. */
import { type Run, stepIdOf } from './events.ts';
import type { SpanEnd, StepHistory, TimelineSpan } from './span.ts';

export interface LoadedPart {
  /** As last read. */
  readonly run: Pick<Run, 'running' | 'waits' | 'lease'> | undefined;
  /** The run has a final status. */
  readonly isOver: boolean;
  /** Every event up to the newest is loaded. */
  readonly isComplete: boolean;
}

/** The end of a stretch that the loaded events leave open; undefined: it still lasts. */
export function openEnd(
  { isOver, isComplete }: LoadedPart,
  isKnownToLast: boolean,
): Extract<SpanEnd, 'ended' | 'not_loaded'> | undefined {
  if (!isComplete) return isKnownToLast && !isOver ? undefined : 'not_loaded';
  return isOver ? 'ended' : undefined;
}

/** The same object if nothing is left open. */
export function withOpenEnds(history: StepHistory, loaded: LoadedPart): StepHistory {
  const endOf = (span: TimelineSpan) =>
    span.to === undefined && span.end === undefined
      ? openEnd(loaded, isNamed(history, span, loaded.run))
      : undefined;
  if (!history.spans.some((span) => endOf(span) !== undefined)) return history;
  const spans = history.spans.map((span) => {
    const end = endOf(span);
    return end === undefined ? span : { ...span, end };
  });
  return { ...history, spans };
}

/** True if the run itself names the stretch as still open. */
function isNamed({ key, kind }: StepHistory, span: TimelineSpan, run: LoadedPart['run']): boolean {
  if (!run) return false;
  if (span.kind === 'wait') return run.waits.some(({ id }) => id === span.waitId);
  return run.running.some(({ step, revision, attempt, undoes }) => {
    if (undoes) return false;
    if (kind === 'map' && step !== key) return stepIdOf(step) === key;
    return step === key && revision === span.revision && attempt === span.attempt;
  });
}

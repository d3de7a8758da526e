/**
 * The bodies of a run that are under way, as far as its snapshot and the events after it know. A body leaves no event before
 * it ends, unless its step must: the dispatch names it in the volatile part of the snapshot (`soft.running`), with whatever it
 * writes anyway, and in a write of its own once a body has been under way for {@link SHOW_AFTER_MS}. Pure.
 */
import { type RunState, type SoftState, stepKey } from '../state.ts';

/** One attempt of a body that is under way. */
export interface RunningStep {
  /** Key of the step. */
  readonly step: string;
  readonly revision: number;
  readonly attempt: number;
  /** When this attempt began, epoch ms. */
  readonly since: number;
  /** It is the compensation of the step. */
  readonly undoes?: true;
}

/**
 * A body that has been under way for so long, ms, is told of by a write of its own if none has told of it. Shorter bodies cost
 * no write, and a reader knows of longer ones within three seconds.
 */
export const SHOW_AFTER_MS = 2_000;

/**
 * Attempts that one snapshot names, those that began first. A dispatch has at most 64 bodies under way (`concurrentSteps`); of
 * a larger setting the rest is left out, lest the list takes the room of the run itself.
 */
export const MAX_RUNNING_TOLD = 64;

/** As much of a run as is needed here. Of one in a list the steps are not known, and its snapshot is taken as it is. */
type Known = Pick<RunState, 'lease' | 'waits' | 'inFlight' | 'currentStep'> &
  Partial<Pick<RunState, 'steps' | 'compensationLog'>>;

/** The attempts under way, the oldest first. None of a run that nobody drives. */
export function runningNow(
  state: Pick<Known, 'lease' | 'steps' | 'compensationLog'>,
  { running = [] }: Pick<SoftState, 'running'>,
): readonly RunningStep[] {
  const { lease, steps } = state;
  if (!lease) return [];
  const found = new Map<string, RunningStep>();
  for (const entry of running) if (!hasEnded(state, entry)) found.set(entry.step, entry);
  for (const [step, at] of steps ?? []) {
    // A suspect begins the bodies of another dispatch anew, one after the other.
    if (at.phase !== 'running' || found.has(step) || at.seq <= (lease.aloneSince ?? 0)) continue;
    const { revision, attempt, startedAt: since } = at;
    found.set(step, { step, revision, attempt, since });
  }
  return [...found.values()].sort((a, b) => a.since - b.since);
}

/** Events say so that were appended after the snapshot was written. */
function hasEnded(
  { steps, compensationLog = [] }: Pick<Known, 'steps' | 'compensationLog'>,
  { step: key, revision, attempt, undoes }: RunningStep,
): boolean {
  if (undoes) return compensationLog.some((done) => done.stepId === key && done.revision === revision);
  const step = steps?.get(key);
  if (!step || step.revision < revision) return false;
  if (step.revision > revision) return true;
  if (step.phase === 'retrying') return step.attempt >= attempt;
  return step.phase === 'done' || step.phase === 'waiting';
}

/**
 * The key of the step that the run is at: the oldest attempt under way; else the step that it waits for, that a dispatch left
 * unfinished, or that is tried again. Undefined between two short steps, and once the run has ended.
 */
export function currentStepOf(state: Known, soft: Pick<SoftState, 'running'>): string | undefined {
  const [oldest] = runningNow(state, soft);
  if (oldest) return oldest.step;
  const [wait] = state.waits;
  if (wait) return stepKey(wait.execution);
  const [left] = state.lease ? [] : state.inFlight;
  if (left) return stepKey(left);
  const { currentStep: last, steps, lease } = state;
  if (last === undefined) return undefined;
  const isOpen = steps ? steps.get(last)?.phase !== 'done' : !lease;
  return isOpen ? last : undefined;
}

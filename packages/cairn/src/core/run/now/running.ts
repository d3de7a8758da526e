/**
 * Running bodies of a run, as far as its snapshot and the later events know. A body leaves no event before it ends,
 * unless its step must: the dispatch lists it in the volatile metadata (`metadata.running`), with its other writes, and in
 * a separate write once a body has run for {@link SHOW_AFTER_MS}. Pure.
 */
import { type RunState, stepKey, type VolatileMetadata } from '../state.ts';

/** One running attempt of a body. */
export interface RunningStep {
  readonly step: string;
  readonly revision: number;
  readonly attempt: number;
  /** When this attempt began, epoch ms. */
  readonly since: number;
  /** Source location that requested it, as in its execution. */
  readonly location?: string | undefined;
  /** The body is a compensation of the step. */
  readonly undoes?: true | undefined;
}

/**
 * Running time after which a body is reported with a separate write, ms. Shorter bodies cost no write, and readers see
 * longer ones within three seconds.
 */
export const SHOW_AFTER_MS = 2_000;

/**
 * Most attempts in one snapshot, oldest first. A dispatch has at most 64 running bodies (`concurrentSteps`); with a
 * larger setting the rest is omitted, to leave room for the run itself.
 */
export const MAX_RUNNING_REPORTED = 64;

/** The members of a run that are needed here. In a list the steps are not known, and the snapshot is used as it is. */
type KnownRun = Pick<RunState, 'lease' | 'waits' | 'inFlight' | 'currentStep'> &
  Partial<Pick<RunState, 'steps' | 'compensationLog'>>;

/** Running attempts, oldest first. None for a run without a worker. */
export function runningNow(
  state: Pick<KnownRun, 'lease' | 'steps' | 'compensationLog'>,
  { running = [] }: Pick<VolatileMetadata, 'running'>,
): readonly RunningStep[] {
  const { lease, steps } = state;
  if (!lease) return [];
  const found = new Map<string, RunningStep>();
  for (const entry of running) if (!hasEnded(state, entry)) found.set(entry.step, entry);
  for (const [step, at] of steps ?? []) {
    // A suspect restarts the bodies of an earlier dispatch, one after the other.
    if (at.phase !== 'running' || found.has(step) || at.seq <= (lease.aloneSince ?? 0)) continue;
    const { revision, attempt, startedAt: since } = at;
    found.set(step, { step, revision, attempt, since });
  }
  return [...found.values()].sort((a, b) => a.since - b.since);
}

/** True if an event appended after the snapshot ended the attempt. */
function hasEnded(
  { steps, compensationLog = [] }: Pick<KnownRun, 'steps' | 'compensationLog'>,
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
 * Key of the current step: that of the oldest running attempt; else the step that the run waits for, that a dispatch
 * left unfinished, or that will be retried. Undefined between short steps, and after the end.
 */
export function currentStepOf(
  state: KnownRun,
  metadata: Pick<VolatileMetadata, 'running'>,
): string | undefined {
  const [oldest] = runningNow(state, metadata);
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

/**
 * Explains the state of a run: one sentence, since when, until when, and the commands that let it continue. Pure. The console and
 * `cairn explain` show the same text.
 */
import type { Answer } from 'cairn/api/calls';
import { waitingText } from '../wait-text.ts';
import { helpFor } from './help-for.ts';
import { type ExplainedMove, moveOf, needsDecision, UNDECIDABLE } from './moves.ts';
import { explainStop, mayBeStopped } from './stop.ts';

type RunToExplain = Answer<'Run'>;

/** The part of a run that its explanation uses. */
export type ExplainedRun = Pick<
  RunToExplain,
  | 'id'
  | 'status'
  | 'stopKind'
  | 'waits'
  | 'parked'
  | 'blocked'
  | 'error'
  | 'cancellation'
  | 'suspension'
  | 'compensating'
  | 'resumeCount'
  | 'dueAt'
  | 'wakeAt'
  | 'steps'
  | 'source'
  | 'lease'
  | 'running'
  | 'leaseWait'
  | 'silentSince'
  | 'lastHeartbeatAt'
  | 'currentStep'
  | 'supersededBy'
  | 'stopped'
  | 'createdAt'
  | 'completedAt'
> &
  Partial<Pick<RunToExplain, 'compensationLog' | 'failures'>>;

/** A step that a budget defers; it has not failed. */
export interface Deferral {
  /** Such as `other runs hold the rest of what the tenant may spend on this day`. */
  readonly reason: string;
  /** True if the question was answered or the day is over: the execution begins next. */
  readonly isOver: boolean;
}

/** @deprecated Use {@link Deferral}. */
export type Held = Deferral;

/** The active steps that the caller knows; the run document does not name all of them. */
export interface Activity {
  /** Keys of steps with a running body. */
  readonly working: readonly string[];
  readonly retrying: readonly {
    readonly key: string;
    readonly isPolling: boolean;
    readonly deferral?: Deferral | undefined;
  }[];
  /** True if decisions are refused because the version of the run is not deployed. Absent: unknown. */
  readonly isUndecidable?: boolean;
}

export interface Explanation {
  readonly text: string;
  /** ISO. */
  readonly since?: string | undefined;
  /** Time at which the run continues by itself or the wait expires; ISO. */
  readonly until?: string | undefined;
  /** Steps to fix the problem. */
  readonly help?: string | undefined;
  /** The wait that the text names; undefined if it names none or counts several. */
  readonly waitId?: string | undefined;
  readonly moves: readonly ExplainedMove[];
}

/** Further names are counted. */
const MAX_NAMED = 2;

const FAILING_HELP =
  'The run is dispatched again by itself, and continues once the cause is fixed. Otherwise cancel it.';

/** @param activity default: the activity that the run names */
export function explainRun(run: ExplainedRun, activity: Activity = activityOf(run)): Explanation {
  const { status, source, suspension, cancellation, stopped } = run;
  if (suspension && !cancellation) return suspended(run, suspension);
  if (stopped && mayBeStopped(run)) return explainStop(stopped);
  switch (status) {
    case 'pending':
      return {
        text: 'Queued. A worker will pick it up.',
        since: run.createdAt,
        moves: [watching(run)],
      };
    case 'running':
      return deferred(run, activity) ?? withFailures(run, silent(run, activity) ?? moving(run, activity));
    case 'replaying':
      if (run.blocked) return blocked(run, run.blocked);
      return {
        text: `Reusing the completed steps of ${source?.runId ?? 'its source'}.`,
        moves: [watching(run)],
      };
    case 'awaiting_approval':
    case 'waiting_external':
      return waiting(run, activity);
    case 'interrupted':
      return {
        text: run.failures
          ? failedText(run.failures)
          : 'The worker stopped in the middle of a step. The run resumes by itself.',
        ...(run.failures && { help: FAILING_HELP }),
        since: run.lastHeartbeatAt,
        until: run.wakeAt,
        moves: [watching(run), { words: ['runs', 'resume', run.id], what: 'resume it now' }],
      };
    case 'completed':
      return {
        text: doneText(run.steps),
        since: run.completedAt,
        moves: [{ words: ['runs', 'replay', run.id], what: 'run it again' }],
      };
    case 'failed':
      return {
        text: `${run.error?.stepId === undefined ? 'Failed.' : `Failed in step ${run.error.stepId}.`}${undoneText(run)}`,
        since: run.completedAt,
        help: run.supersededBy === undefined ? run.error && helpFor(run.error.code) : RESUMED_HELP,
        moves: afterwards(run),
      };
    case 'cancelled':
      return { text: `${cancelled(run)}${undoneText(run)}`, since: run.completedAt, moves: afterwards(run) };
    default:
      return { text: `${status}.`, moves: [watching(run)] };
  }
}

export function activityOf({
  running,
  steps,
  currentStep,
}: Pick<RunToExplain, 'running' | 'steps' | 'currentStep'>): Activity {
  const working = running.filter(({ undoes }) => !undoes).map(({ step }) => step);
  const isRetrying = working.length === 0 && steps.retrying > 0 && currentStep !== undefined;
  return { working, retrying: isRetrying ? [{ key: currentStep, isPolling: false }] : [] };
}

type Sentence = Omit<Explanation, 'moves'>;

function doneText({ begun, failed, skipped, degraded }: RunToExplain['steps']): string {
  if (begun === 0) return 'Done.';
  const notes = Object.entries({ failed, skipped, degraded }).filter(([, count]) => count > 0);
  // Items of a set, and steps whose failure is skipped, may fail.
  const done = begun - failed - skipped;
  return `${counted(done)} ${done === 1 ? 'step' : 'steps'} done${notes.map(([name, count]) => `, ${counted(count)} ${name}`).join('')}.`;
}

const counted = (count: number): string => count.toLocaleString('en');

/** Undefined if the run has no worker, or its worker sends heartbeats. */
function silent(run: ExplainedRun, { working }: Activity): Sentence | undefined {
  const { lease, leaseWait, silentSince } = run;
  if (!lease || silentSince === undefined) return undefined;
  const ending = endingOf(run);
  const whose = working.length === 0 ? '' : ` that runs ${named(working)}`;
  const when = leaseWait ? `, because ${leaseWait.why}` : ' or its task is delivered again';
  return {
    text: `${ending ? `${ending.text} ` : ''}No heartbeat from the worker${whose}.${resumedText(run)} If it died, the run continues when the lease expires${when}.`,
    since: silentSince,
    until: lease.expiresAt,
  };
}

/** Undefined unless the run is being undone or cancelled. */
function endingOf({ compensating, cancellation, running }: ExplainedRun): Sentence | undefined {
  if (compensating) {
    const undone = running.find(({ undoes }) => undoes);
    const now = undone === undefined ? '' : `, now ${undone.step}`;
    return { text: `Undoing completed steps${now}.`, since: undone?.since };
  }
  if (!cancellation) return undefined;
  return { text: 'Cancelling. The run ends at its next step.', since: cancellation.requestedAt };
}

function moving(run: ExplainedRun, { working, retrying }: Activity): Sentence {
  const { lease, dueAt, steps, running } = run;
  const again = resumedText(run);
  const ending = endingOf(run);
  if (ending) return { ...ending, text: `${ending.text}${again}` };
  if (lease) {
    const wait = leaseWaitText(run, working);
    const first = running.find(({ step }) => step === working[0]);
    return {
      text: `${working.length === 0 ? 'Running.' : `Running ${named(working)}.`}${again}${wait}`,
      since: working.length === 1 && !wait ? first?.since : undefined,
      until: wait ? run.leaseWait?.until : undefined,
    };
  }
  if (steps.retrying > 0) return { text: `${retryText(steps.retrying, retrying)}${again}`, until: dueAt };
  if (run.failures) return { text: `${failedText(run.failures)}${again}`, until: dueAt };
  return { text: `Between steps. The next worker will pick it up.${again}`, until: dueAt };
}

/** Such as `the last 2 dispatches failed: the rules are down`. */
export function failuresText({
  times,
  error,
}: {
  readonly times: number;
  readonly error: { readonly message: string };
}): string {
  return `the last ${times === 1 ? 'dispatch' : `${times} dispatches`} failed: ${error.message}`;
}

function failedText(failures: NonNullable<RunToExplain['failures']>): string {
  const text = failuresText(failures).replace(/\.?$/, '.');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A run without a worker does not move because of the error; a current worker may still succeed. */
function withFailures(run: ExplainedRun, sentence: Sentence): Explanation {
  const { id, failures, lease, dueAt, cancellation, compensating } = run;
  if (!failures || lease) return { ...sentence, moves: [watching(run)] };
  const why = failedText(failures);
  const ending = compensating
    ? { words: ['runs', 'cancel', id, '--without-undo'], what: 'end it without undoing the rest' }
    : { words: ['runs', 'cancel', id], what: 'end it instead' };
  return {
    text: sentence.text.includes(why) ? sentence.text : `${sentence.text} ${why}`,
    since: sentence.since,
    until: sentence.until ?? dueAt,
    help: FAILING_HELP,
    moves: [
      watching(run),
      ...(isBackingOff(run) ? [{ words: ['runs', 'resume', id], what: 'try again now' }] : []),
      ...(cancellation && !compensating ? [] : [ending]),
    ],
  };
}

/** True if the last dispatch failed and the next one is due later, so that a resume brings it forward. */
export function isBackingOff({
  failures,
  lease,
  dueAt,
  cancellation,
  compensating,
}: Pick<ExplainedRun, 'failures' | 'lease' | 'dueAt' | 'cancellation' | 'compensating'>): boolean {
  return failures !== undefined && !lease && dueAt !== undefined && !cancellation && !compensating;
}

/** Undefined unless a budget defers all remaining work of the run. */
function deferred(run: ExplainedRun, activity: Activity): Explanation | undefined {
  const { working, retrying } = activity;
  const [first] = retrying;
  if (run.compensating || run.cancellation || working.length > 0 || first?.deferral === undefined)
    return undefined;
  if (retrying.some((step) => step.deferral?.isOver !== first.deferral?.isOver)) return undefined;
  if (run.waits.some(({ purpose }) => purpose === 'budget')) return waiting(run, activity);
  const { retrying: count } = run.steps;
  const [who, s] = count > 1 ? [`${count} steps`, ''] : [`Step ${first.key}`, 's'];
  const again = resumedText(run);
  if (first.deferral.isOver)
    return { text: `The budget allows more: ${who} begin${s} next.${again}`, moves: [watching(run)] };
  return {
    text: `${who} wait${s}: ${first.deferral.reason}.${again}`,
    until: run.dueAt,
    help: 'It checks again by itself, and starts once other runs of the tenant have released what they reserved, the budget of the day is raised, or the next day (UTC) has begun.',
    moves: [watching(run), { words: ['budgets'], what: 'see what is spent and reserved today' }],
  };
}

function retryText(count: number, retrying: Activity['retrying']): string {
  const polling = retrying.filter(({ isPolling }) => isPolling);
  if (polling.length === count) return 'Polling. The condition does not hold yet.';
  const [first] = retrying;
  if (count > 1) return `${count} steps failed and will be retried.`;
  return `${first === undefined ? 'A step' : `Step ${first.key}`} failed and will be retried.`;
}

function resumedText({ resumeCount }: ExplainedRun): string {
  if (resumeCount === 0) return '';
  return ` Resumed after ${resumeCount === 1 ? 'an interruption' : `${resumeCount} interruptions`}.`;
}

/** The response may be older than the events that list running steps. */
function leaseWaitText({ leaseWait }: ExplainedRun, working: readonly string[]): string {
  const isPast = working.length > 0 && !leaseWait?.steps.some((step) => working.includes(step));
  if (!leaseWait || (isPast && leaseWait.steps.length > 0)) return '';
  return ` If the worker died, the run continues when the lease expires, because ${leaseWait.why}:`;
}

function suspended(
  run: ExplainedRun,
  { actor, reason, requestedAt }: NonNullable<RunToExplain['suspension']>,
): Explanation {
  const by = actor === undefined ? '' : ` by ${actor}`;
  const now = run.lease === undefined ? '' : ' Steps under way finish.';
  return {
    text: `Suspended${by}: ${reason}.${now} No step starts until the run is continued.`,
    since: requestedAt,
    help: 'Continue the run when the reason no longer holds.',
    moves: [{ words: ['runs', 'continue', run.id], what: 'continue it' }],
  };
}

/** `wakeAt` of a blocked run is the time of the next check, not of its continuation. */
function blocked(
  run: ExplainedRun,
  { message, help, since }: NonNullable<RunToExplain['blocked']>,
): Explanation {
  return {
    text: message,
    since,
    help,
    moves: [{ words: ['runs', 'resume', run.id], what: 'continue it now' }],
  };
}

function waiting(run: ExplainedRun, { isUndecidable = false }: Activity): Explanation {
  if (run.blocked) return blocked(run, run.blocked);
  if (run.parked !== undefined)
    return {
      text: `Blocked: ${run.parked}.`,
      help: helpFor(run.parked),
      moves: [{ words: ['runs', 'resume', run.id], what: 'continue it now' }],
    };
  const { waits } = run;
  if (waits.length === 0) return { text: 'Waiting.', until: run.wakeAt, moves: [] };
  const sentence = waitingText(waits);
  const answerable = isUndecidable ? waits.filter((wait) => !needsDecision(wait)) : waits;
  const moves = answerable.slice(0, MAX_MOVES).flatMap((wait) => moveOf(run.id, wait) ?? []);
  if (answerable.length === waits.length) return { ...sentence, moves };
  return {
    ...sentence,
    text: `${sentence.text} ${UNDECIDABLE}`,
    help: helpFor('PLAN_VERSION_UNAVAILABLE'),
    moves,
  };
}

/** Maximum of commands shown for a run with many waits. */
const MAX_MOVES = 5;

function cancelled({ stopKind, cancellation }: ExplainedRun): string {
  const by = cancellation?.actor === undefined ? '' : ` by ${cancellation.actor}`;
  const why = cancellation?.reason === undefined ? '' : `: ${cancellation.reason}`;
  switch (stopKind) {
    case 'halt':
      return `Halted${by || ' by a person'}${why}.`;
    case 'policy':
      return `Stopped by a policy${why}.`;
    case 'system':
      return `Stopped by the installation${why}.`;
    default:
      return `Cancelled${by}${why}.`;
  }
}

/** Each revision of a step is compensated separately. A failure is shown first, because a person has to see it. */
function undoneText({ compensationLog = [] }: ExplainedRun): string {
  const failed = new Set(
    compensationLog.filter(({ outcome }) => outcome === 'failed').map(({ stepId }) => stepId),
  );
  const { size } = new Set(compensationLog.map(({ stepId }) => stepId).filter((id) => !failed.has(id)));
  const undone = size === 0 ? '' : ` ${size} ${size === 1 ? 'step was' : 'steps were'} undone.`;
  return failed.size === 0 ? undone : `${undone} The undo of ${named([...failed])} failed.`;
}

const RESUMED_HELP = 'It was resumed: another run continues it.';

function afterwards({ id, supersededBy }: ExplainedRun): readonly ExplainedMove[] {
  if (supersededBy !== undefined)
    return [{ words: ['explain', supersededBy], what: 'see the run that continues it' }];
  return [
    { words: ['runs', 'preview', id, 'resume'], what: 'see what a resume would do' },
    { words: ['runs', 'resume', id], what: 'resume it from its last checkpoint, as a new run' },
  ];
}

function watching({ id }: ExplainedRun): ExplainedMove {
  return { words: ['runs', 'watch', id], what: 'follow it' };
}

function named(working: readonly string[]): string {
  const more = working.length - MAX_NAMED;
  const [first = '', second] = working;
  if (second === undefined) return first;
  return more > 0 ? `${first}, ${second} and ${more} more` : `${first} and ${second}`;
}

/**
 * What a performance came to, in a form in which two can be compared: the final state of each run, and its journal
 * without lease, recovery, times, drawn ids and starts that were repeated.
 *
 * Must not: say which differences are allowed.
 */
import type { EventType, RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { fold } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { type RunState, stepKey } from '../../packages/cairn/src/core/run/state.ts';
import type { Performance } from './performance.ts';

/** One line of a journal for each subject: the run itself, a step, a wait. Order is kept within a subject. */
export type Story = Readonly<Record<string, readonly string[]>>;

export interface RunOutcome {
  readonly type: string;
  readonly final: Readonly<Record<string, unknown>>;
  readonly story: Story;
}

export interface Outcome {
  readonly runs: readonly RunOutcome[];
  /** What took place outside, in alphabetical order. */
  readonly actions: readonly string[];
  /** Ids of the events that lie ready for whoever asks. */
  readonly early: Readonly<Record<string, readonly string[]>>;
  /** What each operation was answered. */
  readonly answers: Readonly<Record<string, string>>;
  /** Number of times each body began. */
  readonly starts: ReadonlyMap<string, number>;
}

/** Say who drives, that nobody did, or that somebody was looked after: not what became of the work. */
const LEASE_AND_RECOVERY: ReadonlySet<EventType> = new Set<EventType>([
  'run_claimed',
  'run_released',
  'run_suspended',
  'run_resumed',
  'orphan_detected',
  // Every step of a suspect records that it begins.
  'step_started',
  // It is taken in when the answer comes before the wait, and answers the wait at once when it does not.
  'signal_received',
]);

/** Moments, and what is drawn at random or follows from it. */
const INCIDENTAL: ReadonlySet<string> = new Set([
  'at',
  'startedAt',
  'openedAt',
  'dueAt',
  'timeoutAt',
  'lastAt',
  'retryAt',
  'deadlineAt',
  'requestedAt',
  'durationMs',
  'trace',
  'traceId',
  'runId',
  'rootRunId',
  'threadId',
  'announced',
  'checkpoint',
  'checkpointHead',
  'result',
]);

export function outcomeOf({ world, outside, receiver, stage }: Performance): Outcome {
  const runs = [...world.db.runs.values()].map(({ snapshot, events, checkpoints }) => {
    const { result } = snapshot;
    const kept = result && 'checkpoint' in result ? checkpoints.get(result.checkpoint) : undefined;
    // Where it lies depends on how long the journal is; what lies there must not.
    return runOutcome(
      snapshot.id,
      events,
      result && 'text' in result ? result.text : (kept?.outputHash ?? kept?.outputText ?? kept?.outputRef),
    );
  });
  const early = [...world.db.rendezvous.values()].map(({ rendezvous }) => [
    `${rendezvous.event} ${rendezvous.key}`,
    rendezvous.early.map(({ eventId }) => eventId),
  ]);
  return {
    runs: inOrder(runs),
    actions: receiver.applied.map(({ what }) => what).sort(),
    early: Object.fromEntries(early),
    starts: startsOf(stage.begun),
    answers: Object.fromEntries([...outside.answers].map(([name, answer]) => [name, withoutIds(answer)])),
  };
}

/** Sums over the runs of one type and step: their ids are drawn. */
function startsOf(begun: ReadonlyMap<string, number>): Map<string, number> {
  const starts = new Map<string, number>();
  for (const [key, times] of begun) {
    const name = withoutIds(key);
    starts.set(name, (starts.get(name) ?? 0) + times);
  }
  return starts;
}

/** In an order that does not depend on drawn ids. */
export function inOrder(runs: readonly RunOutcome[]): RunOutcome[] {
  return [...runs].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey({ type, final, story }: RunOutcome): string {
  return JSON.stringify([type, final.input, final, story]);
}

/** @param result what the run came to, in any form in which equal results are equal */
export function runOutcome(runId: string, events: readonly RunEvent[], result: unknown): RunOutcome {
  const state = fold(runId, events);
  return { type: state.type, final: { ...finalOf(state), result }, story: storyOf(events) };
}

function finalOf(state: RunState): Record<string, unknown> {
  const { status, stopKind, error, input, inbox, decisions, feedback, cancellation, waits } = state;
  return stripped({
    status,
    stopKind,
    error,
    input,
    inbox: inbox.map(({ signalId }) => signalId),
    received: [...state.received].sort(),
    decisions,
    feedback: feedback.map(({ steps, text }) => ({ steps, text })),
    cancellation,
    waits: waits.map(({ id }) => id),
    compensationLog: state.compensationLog,
    planVersion: state.planVersion,
    steps: Object.fromEntries(
      [...state.steps.sortBy((_, key) => key)]
        // Only a suspect says so of each step that is cut off by the end of its run.
        .filter(([, { phase }]) => phase !== 'running')
        .map(([key, step]) => [
          key,
          step.phase === 'done' ? `${step.outcome}, revision ${step.revision}` : step.phase,
        ]),
    ),
  }) as Record<string, unknown>;
}

function storyOf(events: readonly RunEvent[]): Story {
  const story: Record<string, string[]> = {};
  for (const event of events) {
    if (LEASE_AND_RECOVERY.has(event.type)) continue;
    story[subjectOf(event)] ??= [];
    const lines = story[subjectOf(event)] as string[];
    const { type, initiator, actor } = event;
    const line = JSON.stringify(stripped({ type, initiator, actor, data: event.data }));
    // Asked anew after a recovery.
    const repeatable = type === 'policy_evaluated';
    if (!repeatable || !lines.includes(line)) lines.push(line);
  }
  return story;
}

function subjectOf({ type, data }: RunEvent): string {
  if (type === 'wait_opened') return `wait ${data.wait.id}`;
  if (type === 'wait_resolved' || type === 'wait_expired') return `wait ${data.waitId}`;
  if (type === 'policy_evaluated') return 'policy';
  if ('stepId' in data && typeof data.stepId === 'string') return `step ${stepKey(data as never)}`;
  return 'run';
}

/** Without what differs between two performances of the same. */
function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (typeof value === 'string') return withoutIds(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== undefined && !INCIDENTAL.has(name))
      .map(([name, member]) => [name, stripped(member)]),
  );
}

/** Run ids are drawn, and moments are incidental; what they are said in is not. */
function withoutIds(text: string): string {
  return text.replace(RUN_ID, 'run_…').replace(EPOCH_MS, '…');
}

const RUN_ID = /run_[a-z2-7]{26}/g;
/** Of the years the virtual clock goes through. */
const EPOCH_MS = /\b1[78]\d{11}\b/g;

/**
 * Outcome of a performance in a comparable form: the final state of each run, and its journal without lease, recovery,
 * times, random ids and repeated starts.
 *
 * Must not: say which differences are allowed.
 */
import { canonicalJson, type Json } from '../../packages/cairn/src/core/encoding/json.ts';
import type { EventType, RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { fold } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { type RunState, stepKey } from '../../packages/cairn/src/core/run/state.ts';
import type { Performance } from './performance.ts';

/** The lines of a journal by subject: the run itself, a step, a wait. Order is kept within a subject. */
export type Story = Readonly<Record<string, readonly string[]>>;

export interface RunOutcome {
  readonly type: string;
  readonly final: Readonly<Record<string, unknown>>;
  readonly story: Story;
  /** Starts in the journal. Which of them it records depends on the dispatch: see {@link Trace}. */
  readonly begun: Readonly<Record<string, Trace>>;
  /** Steps that the end of the run interrupted, by key. */
  readonly cutOff: Readonly<Record<string, Trace>>;
}

/**
 * `usual`: every dispatch records this, such as the start of a step that must not run twice, or of a set. `of_a_suspect`: only
 * a dispatch alone records the start of each body, to know which of them killed its process.
 */
export type Trace = 'usual' | 'of_a_suspect';

export interface Outcome {
  readonly runs: readonly RunOutcome[];
  /** External effects in alphabetical order. */
  readonly actions: readonly string[];
  /** Ids of the buffered events. */
  readonly early: Readonly<Record<string, readonly string[]>>;
  /** Responses to each operation. */
  readonly answers: Readonly<Record<string, string>>;
  /** Number of times each body began. */
  readonly starts: ReadonlyMap<string, number>;
}

/** Events about the driver of the run and its recovery, not about the work. */
const LEASE_AND_RECOVERY: ReadonlySet<EventType> = new Set<EventType>([
  'run_claimed',
  'run_released',
  'run_suspended',
  'run_resumed',
  'orphan_detected',
  'worker_lost',
  // Starts are compared as `begun`.
  'step_started',
  // A signal is buffered only if it precedes the wait.
  'signal_received',
]);

/** Times, random values, and values that depend on them. */
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
    // The path of the document depends on the length of the journal; its content must not.
    return runOutcome(
      snapshot.id,
      events,
      result && 'text' in result ? result.text : (kept?.outputHash ?? kept?.outputText ?? kept?.outputRef),
    );
  });
  const early = [...world.db.mailboxes.values()].map(({ mailbox }) => [
    `${mailbox.event} ${mailbox.key}`,
    mailbox.buffered.map(({ eventId }) => eventId),
  ]);
  return {
    runs: inOrder(runs),
    actions: receiver.applied.map(({ what }) => what).sort(),
    early: Object.fromEntries(early),
    starts: startsOf(stage.begun),
    answers: Object.fromEntries([...outside.answers].map(([name, answer]) => [name, withoutIds(answer)])),
  };
}

/** Sums over the runs of one type and step, because their ids are random. */
function startsOf(begun: ReadonlyMap<string, number>): Map<string, number> {
  const starts = new Map<string, number>();
  for (const [key, times] of begun) {
    const name = withoutIds(key);
    starts.set(name, (starts.get(name) ?? 0) + times);
  }
  return starts;
}

/** Sorts runs in an order that does not depend on random ids. */
export function inOrder(runs: readonly RunOutcome[]): RunOutcome[] {
  return [...runs].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey({ type, final, story }: RunOutcome): string {
  return JSON.stringify([type, final.input, final, story]);
}

/** @param result of the run, in a form in which equal results are equal */
export function runOutcome(runId: string, events: readonly RunEvent[], result: unknown): RunOutcome {
  const state = fold(runId, events);
  const final = { ...finalOf(state), result };
  return { type: state.type, final, story: storyOf(events), ...tracesOf(state, events) };
}

function tracesOf(state: RunState, events: readonly RunEvent[]): Pick<RunOutcome, 'begun' | 'cutOff'> {
  const alone = new Set(
    events.flatMap((event) => (event.type === 'run_claimed' && event.data.alone ? event.data.epoch : [])),
  );
  const begun: Record<string, Trace> = {};
  const cutOff: Record<string, Trace> = {};
  for (const event of events) {
    if (event.type !== 'step_started') continue;
    const trace: Trace = alone.has(event.writer?.epoch ?? 0) ? 'of_a_suspect' : 'usual';
    // A store may return members in another order.
    const line = canonicalJson(stripped(event.data) as Json);
    // A start may be repeated after a crash. If one of them is `usual`, the step is.
    if (begun[line] !== 'usual') begun[line] = trace;
    const key = stepKey(event.data);
    const step = state.steps.get(key);
    // A completed run interrupts nothing, whichever dispatch completed it.
    if (step?.phase === 'running') cutOff[key] = state.status === 'completed' ? 'usual' : trace;
  }
  return { begun, cutOff };
}

/** A crash can change the attempt that reaches the budget, so its number is removed. */
function withoutAttempt(waitId: string): string {
  return waitId.replace(/\.\d+\.(budget|day)$/, '.$1');
}

function finalOf(state: RunState): Record<string, unknown> {
  const { status, stopKind, error, input, unread, decisions, feedback, cancellation, waits } = state;
  return stripped({
    status,
    stopKind,
    error,
    input,
    unread: unread.map(({ signalId }) => signalId),
    received: [...state.received].sort(),
    decisions: decisions.map(({ waitId, ...decided }) => ({ ...decided, waitId: withoutAttempt(waitId) })),
    feedback: feedback.map(({ steps, text }) => ({ steps, text })),
    cancellation,
    waits: waits.map(({ id }) => id),
    compensationLog: state.compensationLog,
    planVersion: state.planVersion,
    steps: Object.fromEntries(
      [...state.steps.sortBy((_, key) => key)]
        // Running steps are compared as `cutOff`.
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
    // A recovery evaluates policies again.
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

/** Removes values that differ between two equal performances. */
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

/** Removes run ids and times from the text, because both are incidental. */
function withoutIds(text: string): string {
  return text.replace(RUN_ID, 'run_…').replace(EPOCH_MS, '…');
}

const RUN_ID = /run_[a-z2-7]{26}/g;
/** Times of the virtual clock. */
const EPOCH_MS = /\b1[78]\d{11}\b/g;

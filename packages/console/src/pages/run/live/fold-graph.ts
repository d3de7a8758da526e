/**
 * State of each step after the events of a run, as `GET /v1/runs/{id}/graph` would answer, without a request. Pure.
 * Follows the fold of the journal (`packages/cairn/src/core/run/reduce`), which decides; a test holds the two against each other.
 */
import { stepKey } from '@cairn/client';
import { type GraphStepState, known, type RunEvent, type RunGraph, stepIdOf } from './events.ts';
import { statusAfter } from './status-after.ts';

export interface GraphState {
  readonly status: string;
  /** The run was importing steps when it last ran, and continues that after an interruption. */
  readonly replaying: boolean;
  /** Seq of the last applied event. */
  readonly head: number;
  /** By key, in the order in which they began. */
  readonly steps: ReadonlyMap<string, GraphStepState>;
}

/** @param replaying whether the run was importing steps, which the graph of an interrupted run does not contain */
export function graphState(
  { status, head, steps }: RunGraph,
  replaying = status === 'replaying',
): GraphState {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  return { status, replaying, head, steps: byKey };
}

/** Skips events that it already has, so duplicates do no harm. */
export function foldGraph(state: GraphState, events: readonly RunEvent[]): GraphState {
  const news = events.filter(({ seq }) => seq > state.head);
  const last = news.at(-1);
  if (!last) return state;
  const steps = new Map(state.steps);
  const moving: Moving = { steps, replaying: state.replaying, status: state.status };
  for (const event of news) move(moving, event);
  return { ...moving, head: last.seq };
}

interface Moving {
  readonly steps: Map<string, GraphStepState>;
  replaying: boolean;
  status: string;
}

function move(moving: Moving, anyEvent: RunEvent): void {
  Object.assign(moving, statusAfter(moving, anyEvent));
  const begun = standingAfter(anyEvent);
  if (begun) put(moving, begun);
  const event = known(anyEvent);
  if (event.type === 'feedback_given') sendBack(moving, event.data.again, event.seq);
  if (event.type !== 'replay_started') return;
  for (const [id, revision] of Object.entries(event.data.revisions ?? {}))
    if (!moving.steps.has(id)) moving.steps.set(id, { key: id, phase: 'again', seq: event.seq, revision });
}

/** Returns the state of the event's step after it; undefined for an event without a step. */
function standingAfter(anyEvent: RunEvent): GraphStepState | undefined {
  const event = known(anyEvent);
  const { seq } = event;
  switch (event.type) {
    case 'step_started': {
      const { attempt, revision, startedAt } = event.data;
      return { key: stepKey(event.data), phase: 'running', seq, attempt, revision, startedAt };
    }
    case 'step_retry_scheduled': {
      const { attempt, revision, startedAt, retryAt, whenRoom, polls } = event.data;
      const more = { ...(whenRoom && { whenRoom }), ...(polls !== undefined && { polls }) };
      return {
        key: stepKey(event.data),
        phase: 'retrying',
        seq,
        attempt,
        revision,
        startedAt,
        retryAt,
        ...more,
      };
    }
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_failed':
    case 'step_reused': {
      const { data, type } = event;
      const outcome = type === 'step_reused' && data.skipped ? 'skipped' : OUTCOMES[type];
      return { key: stepKey(data), phase: 'done', seq, revision: data.revision, outcome };
    }
    case 'wait_opened': {
      const { execution } = event.data.wait;
      return { key: stepKey(execution), phase: 'waiting', seq, revision: execution.revision };
    }
    default:
      return undefined;
  }
}

const OUTCOMES = {
  step_succeeded: 'succeeded',
  step_degraded: 'degraded',
  step_skipped: 'skipped',
  step_failed: 'failed',
  step_reused: 'reused',
} as const;

/** Sets the state of a step. Events of an old revision, which was sent back since, are ignored. */
function put({ steps }: Moving, step: GraphStepState): void {
  const { key, revision } = step;
  const newest = Math.max(steps.get(stepIdOf(key))?.revision ?? 0, steps.get(key)?.revision ?? 0);
  if (revision >= newest) steps.set(key, step);
}

function sendBack({ steps }: Moving, ids: readonly string[], seq: number): void {
  const again = new Set(ids);
  const revisions = new Map(ids.map((id) => [id, (steps.get(id)?.revision ?? 1) + 1]));
  for (const key of steps.keys()) if (again.has(stepIdOf(key))) steps.delete(key);
  for (const [id, revision] of revisions) steps.set(id, { key: id, phase: 'again', seq, revision });
}

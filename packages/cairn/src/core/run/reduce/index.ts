/**
 * The one fold (invariant J5): journal in, run state out. Pure and total over valid journals; an event that the
 * state does not allow throws, because a journal that holds it is damaged. Each area has its file; this one keeps
 * what every event moves: head, hash and time.
 */
import { Map as PersistentMap } from 'immutable';
import { budgetAfter } from '../../budget/fold.ts';
import { shardOf } from '../../encoding/ids.ts';
import { COMMON_SCHEMA_VERSION, type EventData, type EventType, type RunEvent } from '../events.ts';
import type { RunState } from '../state.ts';
import { withAllMembers } from '../state-shape.ts';
import { lifecycleReducers } from './lifecycle.ts';
import { stepReducers } from './steps.ts';
import { waitReducers } from './waits.ts';

/** Changes that one event makes, beyond head, hash and `updatedAt`. */
export type Reducer<T extends EventType> = (state: RunState, event: RunEvent<T>) => Partial<RunState>;
export type Reducers<T extends EventType> = { readonly [K in T]: Reducer<K> };

const reducers: { readonly [K in Exclude<EventType, 'run_created'>]: Reducer<K> } = {
  ...lifecycleReducers,
  ...stepReducers,
  ...waitReducers,
};

/** Folds one more event. For speed the state should have every member. Throws on a gap: the caller must bring events in order. */
export function reduce(state: RunState, event: RunEvent): RunState {
  if (event.seq !== state.head + 1) {
    throw new Error(`event ${event.seq} of run ${state.id} cannot follow ${state.head}`);
  }
  const reducer = reducers[event.type as Exclude<EventType, 'run_created'>] as Reducer<EventType> | undefined;
  if (!reducer) throw new Error(`event ${event.seq} of run ${state.id}: a second '${event.type}'`);
  const change = reducer(state, event);
  const schemaVersion = versionAfter(state, event);
  const next = {
    ...state,
    ...change,
    schemaVersion,
    head: event.seq,
    headHash: event.hash,
    updatedAt: event.at,
  };
  if (state.budget === undefined) return next;
  return { ...next, budget: budgetAfter(state.budget, event, state.waits) };
}

/** A worker that cannot fold one of the events must not read the state that they made either. */
function versionAfter({ schemaVersion }: RunState, event: RunEvent): number {
  return event.schemaVersion > COMMON_SCHEMA_VERSION
    ? Math.max(schemaVersion, event.schemaVersion)
    : schemaVersion;
}

export function initialState(runId: string, event: RunEvent<'run_created'>): RunState {
  const identity: EventData['run_created'] = event.data;
  return withAllMembers({
    ...identity,
    id: runId,
    schemaVersion: event.schemaVersion,
    shard: identity.shard ?? shardOf(runId),
    status: 'pending',
    head: event.seq,
    headHash: event.hash,
    checkpointHead: 0,
    epoch: 0,
    inFlight: [],
    steps: PersistentMap(),
    waits: [],
    unread: [],
    received: [],
    decisions: [],
    feedback: [],
    ties: [],
    effects: [],
    policyDue: true,
    compensating: false,
    sentBack: [],
    compensationLog: [],
    resumeCount: 0,
    interruptions: 0,
    createdAt: event.at,
    updatedAt: event.at,
  });
}

/** Folds a whole journal, or the tail of one over an earlier state. */
export function fold(runId: string, events: readonly RunEvent[], from?: RunState): RunState {
  let state = from;
  for (const event of events) {
    if (state) state = reduce(state, event);
    else if (event.type === 'run_created') state = initialState(runId, event);
    else throw new Error(`the journal of run ${runId} begins with '${event.type}'`);
  }
  if (!state) throw new Error(`the journal of run ${runId} is empty`);
  return state;
}

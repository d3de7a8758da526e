/**
 * The members of a run's state in a fixed order; those without a value are undefined. Objects with the same members in the same
 * order share one hidden class in V8, so that code compiled for one run serves all. Without this, states had dozens of classes,
 * and V8 discarded most of the compiled engine when a run of another kind began.
 */
import type { RunIdentity } from './events.ts';
import type { RunState } from './state.ts';

/** Every member of the identity. */
export const NO_IDENTITY: { readonly [K in keyof Required<RunIdentity>]: undefined } = {
  tenantId: undefined,
  environment: undefined,
  type: undefined,
  planVersion: undefined,
  planFingerprint: undefined,
  threadId: undefined,
  repoId: undefined,
  prId: undefined,
  prUrl: undefined,
  tags: undefined,
  trigger: undefined,
  idempotencyKey: undefined,
  a2aCorrelationId: undefined,
  traceId: undefined,
  traceSampled: undefined,
  inputHash: undefined,
  input: undefined,
  inputFrom: undefined,
  secretInput: undefined,
  rootRunId: undefined,
  shard: undefined,
  resumedFrom: undefined,
  source: undefined,
  effectScopes: undefined,
  parent: undefined,
  versions: undefined,
};

const NO_MEMBERS: { readonly [K in keyof Required<RunState>]: undefined } = {
  ...NO_IDENTITY,
  id: undefined,
  schemaVersion: undefined,
  status: undefined,
  stopKind: undefined,
  currentStep: undefined,
  policySnapshotId: undefined,
  policyDue: undefined,
  head: undefined,
  headHash: undefined,
  checkpointHead: undefined,
  lease: undefined,
  epoch: undefined,
  dueAt: undefined,
  deadlineAt: undefined,
  budget: undefined,
  parked: undefined,
  inFlight: undefined,
  steps: undefined,
  waits: undefined,
  unread: undefined,
  received: undefined,
  decisions: undefined,
  feedback: undefined,
  ties: undefined,
  effects: undefined,
  result: undefined,
  error: undefined,
  lastHandoff: undefined,
  cancellation: undefined,
  suspension: undefined,
  sentBack: undefined,
  itemMarks: undefined,
  compensationLog: undefined,
  compensating: undefined,
  supersededBy: undefined,
  replay: undefined,
  resumeCount: undefined,
  interruptions: undefined,
  suspect: undefined,
  failures: undefined,
  createdAt: undefined,
  startedAt: undefined,
  updatedAt: undefined,
  completedAt: undefined,
  durationMs: undefined,
};

/** The same state with every member, in order. */
export function withAllMembers(state: RunState): RunState {
  return { ...NO_MEMBERS, ...state } as RunState;
}

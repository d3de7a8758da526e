/** Texts by which the page of a run shows each member of the API's answer, and the runs that have them. */
import type { Answer } from '../../../packages/cairn/src/api/openapi/calls.ts';

export type Run = Answer<'Run'>;

const at = (minute: number) => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`;
const LATER = '2099-01-02T03:04:00.000Z';

const failed = { code: 'BROKEN', message: 'the press is jammed', stepId: 'post', retryable: true };
const running = { step: 'post', revision: 2, attempt: 1, since: at(20) };
const parent = { runId: 'run_above', stepId: 'print', topRunId: 'run_top' };

/** Members to lay over the API's answer about a run, by state of the run: no single run has all of them at once. */
export const OVERLAYS = {
  waiting: (run: Run): Partial<Run> => ({
    status: 'awaiting_approval',
    waitsFor: 'waiting_external',
    waits: ['1', '2', '3', '4'].map((id) => ({ ...(run.waits[0] as Run['waits'][number]), id })),
    waitCount: 4,
    progress: [{ step: 'stamps', details: 'page 3 of 9', at: at(21) }],
    trigger: { source: 'webhook', userId: 'ada', webhookEventId: 'delivery-1' },
    repoId: 'acme/leaflets',
    prId: 'acme/leaflets#7',
    prUrl: 'https://github.com/acme/leaflets/pull/7',
    threadId: 'thread-1',
    tags: ['customer:42'],
    idempotencyKey: 'key-1',
    startedAt: LATER,
    deadlineAt: LATER,
    lease: { owner: 'worker-1', epoch: 7, expiresAt: LATER },
    lastHeartbeatAt: at(22),
    suspect: { times: 1, alone: true, steps: ['draft'], deaths: [] },
    resumeCount: 2,
    cost: { reads: 3, writes: 41, deletes: 0, tasks: 2, usd: 0.0123 },
    budget: { limits: { tokens: 900 }, spent: { tokens: 12 }, reserved: {}, askedMs: 0 },
    source: { runId: 'run_before', mode: 'resume', stepId: 'draft' },
    resumedFrom: 'run_before',
    rootRunId: 'run_first',
    supersededBy: 'run_after',
    parent,
    compensationLog: [{ stepId: 'facts', revision: 1, outcome: 'compensated', at: at(23) }],
    // The following members are shown only in the JSON of the whole answer.
    a2aCorrelationId: 'task-1',
    versions: { capabilities: '4' },
    policySnapshotId: 'policy-1',
    effectScopes: [{ runId: 'run_before', mode: 'replay' }],
    inputFrom: { runId: 'run_before', checkpoint: 2 },
    planFingerprint: 'abc123',
    itemMarks: { facts: { revision: 1, items: '3 def456' } },
    lastHandoff: [],
    interruptions: 2,
    replay: 'finished',
    currentStep: 'stamps',
    runningCount: 5,
    epoch: 7,
  }),
  running: () => ({
    status: 'running',
    waits: [],
    lease: { owner: 'worker-1', epoch: 7, expiresAt: LATER },
    running: [running],
    leaseWait: { until: LATER, steps: ['post'], why: 'an effect is under way' },
  }),
  silent: () => ({
    status: 'running',
    waits: [],
    lease: { owner: 'worker-1', epoch: 7, expiresAt: LATER },
    running: [running],
    silentSince: at(8),
  }),
  suspended: () => ({ suspension: { reason: 'the paper is wet', requestedAt: at(5), actor: 'bo' } }),
  cancelling: () => ({
    status: 'running',
    waits: [],
    cancellation: { stopKind: 'user', requestedAt: at(6) },
  }),
  compensating: () => ({
    status: 'running',
    waits: [],
    compensating: true,
    running: [{ ...running, undoes: true }],
  }),
  blocked: () => ({
    blocked: {
      code: 'PLAN_VERSION_UNAVAILABLE',
      since: at(7),
      message: 'Version 1 is not deployed.',
      help: 'Deploy it.',
    },
  }),
  stopped: () => ({ status: 'pending', waits: [], stopped: { by: 'restored' } }),
  parked: () => ({ parked: 'PLAN_CHANGED', waits: [] }),
  failing: () => ({ status: 'running', waits: [], failures: { times: 3, error: failed }, dueAt: LATER }),
  stuck: () => ({
    finding: {
      code: 'RUN_STUCK',
      title: 'Dispatches fail',
      reason: 'dispatches',
      message: 'out of ink',
      since: at(8),
      lastAt: at(9),
      help: 'Fill it.',
    },
  }),
  interrupted: () => ({ status: 'interrupted', waits: [], wakeAt: LATER }),
  completed: () => ({
    status: 'completed',
    waits: [],
    completedAt: at(30),
    durationMs: 61_000,
    result: { printed: 300 },
    inbox: [{ signalId: 's-1', name: 'greeting', payload: null, at: at(9) }],
  }),
  failed: () => ({
    status: 'failed',
    waits: [],
    completedAt: at(30),
    error: { ...failed, trace: 'Error: the press is jammed\n    at press (print.ts:1:2)' },
  }),
  halted: () => ({
    status: 'cancelled',
    stopKind: 'halt',
    waits: [],
    completedAt: at(30),
    cancellation: { stopKind: 'halt', requestedAt: at(6), reason: 'the wrong paper' },
  }),
  large: () => ({
    input: undefined,
    result: undefined,
    inputRef: { checkpoint: 4, sha256: 'a', bytes: 2_000_000, chunks: 3 },
    resultRef: { checkpoint: 4, sha256: 'a', bytes: 3_000_000, chunks: 4 },
  }),
} satisfies Readonly<Record<string, (run: Run) => Partial<Run>>>;

export type OverlayName = keyof typeof OVERLAYS;

/** A text to find in the place. A time is shown relative to now. */
export type Shown = string | RegExp | { readonly time: string };

interface MemberShown {
  /** Default: the waiting run. */
  readonly of?: OverlayName;
  /** The step whose panel is opened. */
  readonly step?: string;
  /** Each text is in at least one place of the member, and each place has at least one text. */
  readonly shows: (run: Run) => readonly Shown[];
}

const text =
  (...shows: readonly Shown[]) =>
  () =>
    shows;

/** Members with a place besides the JSON of the whole answer. */
export const SHOWN: { readonly [M in keyof Run]?: MemberShown } = {
  id: { shows: ({ id }) => [id] },
  type: { shows: ({ type }) => [type] },
  planVersion: { shows: ({ planVersion }) => [`v${planVersion}`] },
  status: { shows: text('awaiting approval') },
  stopKind: { of: 'halted', shows: text('Halted by a person: the wrong paper.') },
  waitsFor: { shows: text('waiting external') },
  waits: { step: 'stamps', shows: text("called 'stamps.order', and the outcome is unknown") },
  waitCount: { shows: text('and 1 more: see the waiting steps') },
  running: { of: 'running', shows: text(/Running post|post.*running/) },
  progress: { step: 'stamps', shows: text('page 3 of 9') },
  error: { of: 'failed', shows: text('BROKEN', 'the press is jammed', 'Stack') },
  finding: { of: 'stuck', shows: text('RUN_STUCK', 'Dispatches fail', 'out of ink', 'Fill it.') },
  blocked: { of: 'blocked', shows: text('Version 1 is not deployed.', 'Deploy it.') },
  stopped: { of: 'stopped', shows: text('The database was restored: no run of any tenant moves') },
  parked: { of: 'parked', shows: text('Blocked: PLAN_CHANGED.') },
  failures: { of: 'failing', shows: text('The last 3 dispatches failed: the press is jammed.') },
  dueAt: { of: 'failing', shows: text({ time: LATER }) },
  wakeAt: { of: 'interrupted', shows: text({ time: LATER }) },
  leaseWait: { of: 'running', shows: text('because an effect is under way', { time: LATER }) },
  silentSince: { of: 'silent', shows: text('No heartbeat from the worker that runs', { time: LATER }) },
  suspension: { of: 'suspended', shows: text('Suspended by bo: the paper is wet.') },
  cancellation: { of: 'cancelling', shows: text('Cancelling. The run ends at its next step.') },
  compensating: { of: 'compensating', shows: text('Undoing completed steps, now post.') },
  steps: { of: 'completed', shows: ({ steps }) => [`${steps.begun - steps.skipped} steps done`] },
  inbox: { of: 'completed', shows: text('1 signal was never read: greeting.') },
  input: { shows: text('Kingfishers') },
  inputRef: { of: 'large', shows: text('2.0 MB') },
  result: { of: 'completed', shows: text('300') },
  resultRef: { of: 'large', shows: text('3.0 MB') },
  trigger: { shows: text('webhook by ada', 'delivery-1') },
  repoId: { shows: text('acme/leaflets') },
  prId: { shows: text('acme/leaflets#7') },
  prUrl: { shows: text('acme/leaflets#7') },
  threadId: { shows: text('thread-1') },
  tags: { shows: text('customer:42') },
  idempotencyKey: { shows: text('key-1') },
  createdAt: { shows: ({ createdAt }) => [{ time: createdAt }] },
  startedAt: { shows: text({ time: LATER }) },
  completedAt: { of: 'completed', shows: text({ time: at(30) }) },
  durationMs: { of: 'completed', shows: text('1m 1s') },
  deadlineAt: { shows: text({ time: LATER }) },
  lease: { shows: text('dispatch 7') },
  lastHeartbeatAt: { shows: text({ time: at(22) }) },
  suspect: { shows: text('since its worker died at step draft') },
  resumeCount: { shows: text('2 times') },
  cost: { shows: text('$0.012', '41 writes, 3 reads, 2 tasks') },
  budget: { shows: text('12 of 900 tokens') },
  logs: { shows: text(/^1 line/) },
  source: { shows: text('run_before', 'draft') },
  resumedFrom: { shows: text('run_before') },
  rootRunId: { shows: text('run_first') },
  supersededBy: { shows: text('run_after') },
  parent: { shows: text('run_above', 'print', 'run_top') },
  traceId: { shows: ({ traceId }) => [traceId.slice(0, 8)] },
  decisions: { step: 'review', shows: text('approve') },
  sentBack: { step: 'draft', shows: text('revision 2') },
  feedback: { step: 'draft', shows: text('Say where they nest.') },
  compensationLog: { step: 'facts', shows: text(/undone/i) },
  effects: { step: 'stamps', shows: text('stamps.order') },
  head: { shows: ({ head }) => [`${head} events`] },
  headHash: { shows: ({ headHash }) => [headHash] },
  checkpointHead: { shows: ({ checkpointHead }) => [String(checkpointHead)] },
};

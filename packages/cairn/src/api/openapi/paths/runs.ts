/** The routes of runs and of the events delivered to them. */
import { LINE_SORTS } from '../../../core/logs/filter.ts';
import { KEPT_LEVELS } from '../../../core/logs/line.ts';
import { RUN_ORDERS } from '../../../core/search/order.ts';
import {
  DEFAULT_STREAMED,
  flag,
  limit,
  MAX_WAIT_S,
  oneOf,
  positive,
  requiredText,
  seq,
  text,
  wait,
} from '../../parameters.ts';
import { type OperationTable, PAGE, VOCABULARY, WHICH_RUNS } from './describe.ts';

const FOLLOW = {
  follow: flag(
    '`false`: send the current state and close. For clients behind a proxy that buffers whole responses.',
    true,
  ),
} as const;

const WHICH_LINES = {
  step: text(
    'Only lines of this step, with those of its items and operations, or of one item: `id[itemKey]`.',
  ),
  level: oneOf(
    'Only lines of this level or a higher one. Lines of debug are only in the log of the process.',
    KEPT_LEVELS,
  ),
} as const;

/** Refusals of changes that the state of the run may not allow. */
const ENDED = ['RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION'] as const;
/** Refusals of changes that need the deployed plan of the run. */
const PLAN = ['PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'] as const;

const STARTED_BEFORE = {
  what: 'The run was created by an earlier request with the same key',
  schema: 'RunStarted',
} as const;
const SUCCESSOR_STARTED = {
  what: 'The successor was created; `Location` is its URL',
  schema: 'RunStarted',
} as const;

/** A change of an ended run that only creates a successor. */
const SUCCESSION = {
  role: 'operator',
  answers: { 201: SUCCESSOR_STARTED, 200: STARTED_BEFORE },
  refusals: ['RUN_INVALID_TRANSITION', ...PLAN],
} as const;

export const RUN_OPERATIONS = {
  'GET /v1/runs': {
    id: 'listRuns',
    summary: 'Lists runs, newest first',
    role: 'viewer',
    query: {
      ...WHICH_RUNS,
      topLevel: flag(
        'Only runs without a parent. A page reads at most 1,000 child runs, and can then be short or empty while there is a `next`.',
      ),
      match: text(
        'Only runs with a tag that compares so, such as `amount>100`, or with an id, key, thread, tag or value of a tag that begins so, such as `customer:4*`. A page reads at most 1,000 runs that do not match, and can then be short or empty while there is a `next`.',
      ),
      sort: oneOf(
        '`longest`: by duration, of a live run since its creation. `updated`: changed last first. Default: `newest`. A page of another order than `newest` reads at most 1,000 runs of each kind that it merges, and can then be short or empty while there is a `next`; its `cursor` belongs to that order.',
        ['newest', ...RUN_ORDERS],
      ),
      ...VOCABULARY,
      ...PAGE,
    },
    answers: { 200: { what: 'A page of runs', schema: 'RunPage' } },
  },
  'POST /v1/runs': {
    id: 'startRun',
    summary: 'Starts a run, once per idempotency key',
    role: 'submitter',
    body: 'StartBody',
    answers: {
      201: { what: 'The run was created; `Location` is its URL', schema: 'RunStarted' },
      200: STARTED_BEFORE,
    },
    refusals: ['PLAN_CHANGED'],
  },
  'GET /v1/runs/stream': {
    id: 'streamRuns',
    summary: 'Streams changes of the newest runs as server-sent events',
    role: 'viewer',
    query: {
      ...WHICH_RUNS,
      ...VOCABULARY,
      ...FOLLOW,
      limit: limit('Number of runs to follow.', DEFAULT_STREAMED),
    },
    answers: {
      200: {
        what: '`event: run` has a run as lists show it. `event: gone` has the `id` of a run that left the list. `event: ready` follows the initial state',
        media: 'text/event-stream',
      },
    },
  },
  'POST /v1/runs/bulk': {
    id: 'changeRuns',
    summary:
      'Cancels, resumes, replays or approves up to 100 runs; one that fails does not affect the others',
    role: 'operator',
    body: 'BulkBody',
    answers: { 200: { what: 'The outcome for each run', schema: 'BulkReport' } },
  },
  'GET /v1/runs/{id}': {
    id: 'readRun',
    summary: 'Returns a run, with `wait` once it has ended',
    role: 'viewer',
    query: {
      ...VOCABULARY,
      wait: wait(
        `\`1s\` to \`${MAX_WAIT_S}s\`. Responds when the run has ended, or after this time with its current state.`,
      ),
    },
    answers: { 200: { what: 'The run', schema: 'Run' } },
  },
  'POST /v1/runs/{id}/cancel': {
    id: 'cancelRun',
    summary: 'Cancels a run',
    role: 'operator',
    body: 'CancelBody',
    answers: { 200: { what: 'The cancellation as first requested', schema: 'Cancellation' } },
    refusals: ['RUN_TERMINAL_STATE'],
  },
  'POST /v1/runs/{id}/suspend': {
    id: 'suspendRun',
    summary: 'Suspends a run: no step is started until it is continued',
    role: 'operator',
    body: 'SuspendBody',
    answers: { 200: { what: 'The suspension as first requested', schema: 'Suspension' } },
    refusals: [...ENDED],
  },
  'POST /v1/runs/{id}/continue': {
    id: 'continueRun',
    summary: 'Continues a suspended run; has no effect on other runs',
    role: 'operator',
    body: 'ContinueBody',
    answers: { 200: { what: 'The run is not suspended', schema: 'Continued' } },
  },
  'POST /v1/runs/{id}/resume': {
    id: 'resumeRun',
    summary:
      'Resumes a run: creates a successor if the run ended without completing, or unblocks a blocked run',
    role: 'operator',
    body: 'ResumeBody',
    answers: {
      201: SUCCESSOR_STARTED,
      200: {
        what: 'The successor was created by an earlier request with the same key, or the run itself continues',
        schema: 'Resumed',
      },
    },
    refusals: [...ENDED, ...PLAN],
  },
  'POST /v1/runs/{id}/replay': {
    ...SUCCESSION,
    id: 'replayRun',
    summary: 'Replays an ended run; its effects are answered from the ledger',
    body: 'ReplayBody',
  },
  'POST /v1/runs/{id}/fork': {
    ...SUCCESSION,
    id: 'forkRun',
    summary: 'Forks an ended run with other input or another plan version',
    body: 'ForkBody',
  },
  'POST /v1/runs/{id}/preview': {
    id: 'previewRun',
    summary:
      'Previews a resume, replay or fork: what it would reuse, run, and do externally. Changes nothing',
    role: 'operator',
    body: 'PreviewBody',
    keyed: false,
    answers: {
      200: { what: 'The preview, with anything that prevents the operation', schema: 'SuccessorPreview' },
    },
  },
  'POST /v1/runs/{id}/waits/{stepId}/fail': {
    id: 'failWait',
    summary: 'Reports that the event a step waits for will not arrive: the step fails with EVENT_FAILED',
    role: 'submitter',
    body: 'FailWaitBody',
    answers: { 200: { what: 'The step has failed; its `onFailure` applies', schema: 'WaitFailed' } },
    refusals: [...ENDED, ...PLAN],
  },
  'POST /v1/runs/{id}/waits/{stepId}/heartbeat': {
    id: 'heartbeatWait',
    summary:
      'Sends a heartbeat for the event a step waits for; without heartbeats the step fails with HEARTBEAT_MISSED',
    role: 'submitter',
    body: 'HeartbeatWaitBody',
    keyed: false,
    answers: { 200: { what: 'The time until which the wait stays open', schema: 'WaitBeaten' } },
    refusals: [...ENDED],
  },
  'POST /v1/runs/{id}/signals': {
    id: 'signalRun',
    summary: 'Sends a signal to one run',
    role: 'submitter',
    body: 'SignalBody',
    answers: { 200: { what: 'The outcome of the signal', schema: 'Signalled' } },
    refusals: ['RUN_TERMINAL_STATE', ...PLAN],
  },
  'POST /v1/runs/{id}/approvals/{stepId}': {
    id: 'decideApproval',
    summary: 'Decides an approval or a step in doubt',
    role: 'operator',
    body: 'DecisionBody',
    answers: { 200: { what: 'The decision in effect', schema: 'ApprovalDecided' } },
    refusals: ['NOT_FOUND', ...ENDED, 'APPROVAL_DECIDED', 'APPROVAL_EXPIRED', 'EFFECT_IN_DOUBT', ...PLAN],
  },
  'GET /v1/runs/{id}/effects': {
    id: 'listEffects',
    summary: 'Lists the effects of a run in order, followed by effects of earlier runs that it asks about',
    role: 'viewer',
    query: PAGE,
    answers: { 200: { what: 'A page of effects', schema: 'EffectPage' } },
  },
  'POST /v1/runs/{id}/effects/{effectId}/resolve': {
    id: 'resolveEffect',
    summary: 'Resolves an effect in doubt: its outcome, or whether it may be repeated',
    role: 'operator',
    body: 'ResolveBody',
    answers: { 200: { what: 'The resolution in effect', schema: 'EffectResolved' } },
    refusals: ['NOT_FOUND', 'EFFECT_RESOLVED', ...ENDED, ...PLAN],
  },
  'GET /v1/runs/{id}/stream': {
    id: 'streamRun',
    summary: 'Streams the events of a run as server-sent events',
    role: 'viewer',
    query: {
      after: text('Sequence number of the last known event. The header `Last-Event-ID` takes precedence.', {
        type: 'integer',
        minimum: 0,
      }),
      ...FOLLOW,
      ...VOCABULARY,
    },
    answers: {
      200: {
        what: 'Each `id` is a sequence number, each `data` an event. `event: end` is the last',
        media: 'text/event-stream',
      },
    },
  },
  'GET /v1/runs/{id}/events': {
    id: 'listEvents',
    summary: 'Lists the journal of a run, oldest first',
    role: 'viewer',
    query: {
      after: seq('Only events after the one with this sequence number. Default: from the first.'),
      ...PAGE,
    },
    answers: { 200: { what: 'A page of events', schema: 'EventPage' } },
  },
  'GET /v1/runs/{id}/graph': {
    id: 'readRunGraph',
    summary: 'Returns the graph of a run and the state of each step',
    role: 'viewer',
    readsMany: true,
    query: { durations: flag('Include the duration of each step, at one billed read per step.') },
    answers: { 200: { what: 'Nodes and states', schema: 'RunGraph' } },
  },
  'GET /v1/runs/{id}/steps': {
    id: 'listSteps',
    summary: 'Lists the steps of a run by id',
    role: 'viewer',
    query: PAGE,
    answers: { 200: { what: 'A page of steps', schema: 'StepPage' } },
  },
  'GET /v1/runs/{id}/memos': {
    id: 'listMemos',
    summary: 'Lists the memos of a step',
    role: 'viewer',
    query: {
      step: requiredText(
        'Step id, or `id[itemKey]`.',
        'Give the id of a step, or `id[itemKey]`. GET /v1/runs/{id}/steps lists them.',
      ),
      revision: positive('Revision of the step. Default: its newest.'),
      undoes: flag('The memos of its compensation instead.'),
      ...PAGE,
    },
    answers: { 200: { what: 'A page of memos, by name', schema: 'MemoPage' } },
  },
  'GET /v1/runs/{id}/logs': {
    id: 'listLogs',
    summary: 'Lists the lines that steps of a run logged, oldest first',
    role: 'viewer',
    query: {
      ...WHICH_LINES,
      limit: PAGE.limit,
      cursor: text(
        '`next` of the previous page, or `after` of the last one for lines that were added since.',
      ),
    },
    answers: { 200: { what: 'A page of lines', schema: 'LogPage' } },
  },
  'GET /v1/runs/{id}/logs/stream': {
    id: 'streamLogs',
    summary: 'Streams the lines that steps log and the text that they stream as server-sent events',
    role: 'viewer',
    query: {
      ...WHICH_LINES,
      kind: oneOf(
        '`log`: only log lines. `text`: only streamed text, whose level is `info`. Default: both.',
        LINE_SORTS,
      ),
      after: text(
        '`id` of the last known event, or `after` of a page of lines. The header `Last-Event-ID` takes precedence.',
      ),
      ...FOLLOW,
      ...VOCABULARY,
    },
    answers: {
      200: {
        what: '`event: log` has a line. `event: attempt` says that an attempt of a step begins its text, and that earlier text of the step no longer counts; `event: text` has the next piece of it, and `event: text_end` says that it is whole. `event: end` is the last',
        media: 'text/event-stream',
      },
    },
  },
  'GET /v1/runs/{id}/checkpoints': {
    id: 'listCheckpoints',
    summary: 'Lists the checkpoints of a run, oldest first',
    role: 'viewer',
    query: PAGE,
    answers: { 200: { what: 'A page of checkpoints', schema: 'CheckpointPage' } },
  },
  'GET /v1/runs/{id}/checkpoints/{seq}/output': {
    id: 'readOutput',
    summary: 'Returns a recorded output of any size',
    role: 'viewer',
    answers: { 200: { what: 'The output', schema: 'Output' } },
    refusals: ['NOT_FOUND'],
  },
  'POST /v1/events': {
    id: 'deliverEvent',
    summary: 'Delivers an event to every run that waits for it, or buffers it for the first run that will',
    role: 'submitter',
    body: 'EventBody',
    answers: { 200: { what: 'The runs that received it', schema: 'EventDelivered' } },
  },
  'GET /v1/runs/{id}/consistency': {
    id: 'checkRun',
    summary:
      'Checks all documents of a run against its journal; for an owner `external:TENANT:KEY`, the rows of its effects',
    role: 'operator',
    readsMany: true,
    answers: { 200: { what: 'The problems found, if any', schema: 'Consistency' } },
    refusals: ['PAYLOAD_TOO_LARGE'],
  },
  'POST /v1/runs/{id}/repair': {
    id: 'repairRun',
    summary: 'Returns what a repair would change; apply=true makes the changes and requires the role admin',
    role: 'operator',
    readsMany: true,
    query: { apply: flag('Apply the repair; otherwise it is a dry run.') },
    body: 'RepairBody',
    answers: {
      200: {
        what: 'The planned or applied changes, and the problems that need an operator',
        schema: 'Repair',
      },
    },
  },
} as const satisfies OperationTable;

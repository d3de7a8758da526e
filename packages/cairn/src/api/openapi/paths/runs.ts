/** The routes of runs and of events that reach them. */
import { PAGE, type PathTable, WORDS } from './describe.ts';

const WHICH_RUNS = {
  status:
    'Only runs with this status, or one of several separated by commas, in any vocabulary or in the one that `vocabulary` names. A waiting status also matches runs that wait while other branches are running.',
  waitsFor:
    'Only runs with an open wait of this kind, whatever their status: `awaiting_approval` or `waiting_external`.',
  type: 'Only runs of this workflow.',
  repoId: 'Only runs for this repository.',
  threadId: 'Only runs of this thread.',
  tag: 'Only runs with this tag, such as `customer:42`.',
  since: 'Only runs created at this time or later, RFC 3339.',
  until: 'Only runs created before this time, RFC 3339.',
} as const;

const FOLLOW = {
  follow:
    '`false`: send the current state and close. For clients behind a proxy that buffers whole responses.',
} as const;

const WHICH_LINES = {
  step: 'Only lines of this step, with those of its items and operations, or of one item: `id[itemKey]`.',
  level: 'Only lines of this level or a higher one: `info`, `warn` or `error`.',
} as const;

/** Refusals of changes by which a run continues. */
const CONTINUES = [
  'RUN_NOT_FOUND',
  'RUN_TERMINAL_STATE',
  'RUN_INVALID_TRANSITION',
  'PLAN_VERSION_UNAVAILABLE',
  'PLAN_CHANGED',
] as const;

export const RUN_PATHS = {
  '/v1/runs': {
    GET: {
      id: 'listRuns',
      summary: 'Lists runs, newest first',
      role: 'viewer',
      query: {
        ...WHICH_RUNS,
        topLevel:
          '`true`: only runs without a parent. A page reads at most 1,000 child runs, and can then be short or empty while there is a `next`.',
        match:
          'Only runs with a tag that compares so, such as `amount>100`, or with an id, key, thread, tag or value of a tag that begins so, such as `customer:4*`. A page reads at most 1,000 runs that do not match, and can then be short or empty while there is a `next`.',
        sort: '`newest` (default), `oldest`, `longest` (duration, of a live run since its creation) or `updated` (changed last first). A page of another order than `newest` reads at most 1,000 runs of each kind that it merges, and can then be short or empty while there is a `next`; its `cursor` belongs to that order.',
        ...WORDS,
        ...PAGE,
      },
      answers: { 200: { what: 'A page of runs', schema: 'RunPage' } },
    },
    POST: {
      id: 'startRun',
      summary: 'Starts a run, once per idempotency key',
      role: 'submitter',
      body: 'StartBody',
      answers: {
        201: { what: 'The run was created; `Location` is its URL', schema: 'RunStarted' },
        200: { what: 'The run was created by an earlier request with the same key', schema: 'RunStarted' },
      },
      refusals: ['PLAN_CHANGED'],
    },
  },
  '/v1/runs/stream': {
    GET: {
      id: 'streamRuns',
      summary: 'Streams changes of the newest runs as server-sent events',
      role: 'viewer',
      query: { ...WHICH_RUNS, ...WORDS, ...FOLLOW, limit: 'Number of runs to follow: 1 to 100, default 50.' },
      answers: {
        200: {
          what: '`event: run` has a run as lists show it. `event: gone` has the `id` of a run that left the list. `event: ready` follows the initial state',
          media: 'text/event-stream',
        },
      },
    },
  },
  '/v1/runs/bulk': {
    POST: {
      id: 'changeRuns',
      summary:
        'Cancels, resumes, replays or approves up to 100 runs; one that fails does not affect the others',
      role: 'operator',
      body: 'BulkBody',
      answers: { 200: { what: 'The outcome for each run', schema: 'BulkReport' } },
    },
  },
  '/v1/runs/{id}': {
    GET: {
      id: 'readRun',
      summary: 'Returns a run, with `wait` once it has ended',
      role: 'viewer',
      query: {
        ...WORDS,
        wait: '`1s` to `50s`. Responds when the run has ended, or after this time with its current state.',
      },
      answers: { 200: { what: 'The run', schema: 'Run' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/cancel': {
    POST: {
      id: 'cancelRun',
      summary: 'Cancels a run',
      role: 'operator',
      body: 'CancelBody',
      answers: { 200: { what: 'The cancellation as first requested', schema: 'Cancellation' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE'],
    },
  },
  '/v1/runs/{id}/suspend': {
    POST: {
      id: 'suspendRun',
      summary: 'Suspends a run: no step is started until it is continued',
      role: 'operator',
      body: 'SuspendBody',
      answers: { 200: { what: 'The suspension as first requested', schema: 'Suspension' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION'],
    },
  },
  '/v1/runs/{id}/continue': {
    POST: {
      id: 'continueRun',
      summary: 'Continues a suspended run; has no effect on other runs',
      role: 'operator',
      body: 'ContinueBody',
      answers: { 200: { what: 'The run is not suspended', schema: 'Continued' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/resume': {
    POST: {
      id: 'resumeRun',
      summary:
        'Resumes a run: creates a successor if the run ended without completing, or unblocks a blocked run',
      role: 'operator',
      body: 'ResumeBody',
      answers: {
        201: { what: 'The successor was created; `Location` is its URL', schema: 'RunStarted' },
        200: {
          what: 'The successor was created by an earlier request with the same key, or the run itself continues',
          schema: 'Resumed',
        },
      },
      refusals: CONTINUES,
    },
  },
  '/v1/runs/{id}/replay': {
    POST: {
      id: 'replayRun',
      summary: 'Replays an ended run; its effects are answered from the ledger',
      role: 'operator',
      body: 'ReplayBody',
      answers: {
        201: { what: 'The successor was created; `Location` is its URL', schema: 'RunStarted' },
        200: { what: 'The run was created by an earlier request with the same key', schema: 'RunStarted' },
      },
      refusals: ['RUN_NOT_FOUND', 'RUN_INVALID_TRANSITION', 'PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'],
    },
  },
  '/v1/runs/{id}/fork': {
    POST: {
      id: 'forkRun',
      summary: 'Forks an ended run with other input or another plan version',
      role: 'operator',
      body: 'ForkBody',
      answers: {
        201: { what: 'The successor was created; `Location` is its URL', schema: 'RunStarted' },
        200: { what: 'The run was created by an earlier request with the same key', schema: 'RunStarted' },
      },
      refusals: ['RUN_NOT_FOUND', 'RUN_INVALID_TRANSITION', 'PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'],
    },
  },
  '/v1/runs/{id}/preview': {
    POST: {
      id: 'previewRun',
      summary:
        'Previews a resume, replay or fork: what it would reuse, run, and do externally. Changes nothing',
      role: 'operator',
      body: 'PreviewBody',
      keyed: false,
      answers: {
        200: { what: 'The preview, with anything that prevents the operation', schema: 'SuccessorPreview' },
      },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/waits/{stepId}/fail': {
    POST: {
      id: 'failWait',
      summary: 'Reports that the event a step waits for will not arrive: the step fails with EVENT_FAILED',
      role: 'submitter',
      body: 'FailWaitBody',
      answers: { 200: { what: 'The step has failed; its `onFailure` applies', schema: 'WaitFailed' } },
      refusals: CONTINUES,
    },
  },
  '/v1/runs/{id}/waits/{stepId}/heartbeat': {
    POST: {
      id: 'heartbeatWait',
      summary:
        'Sends a heartbeat for the event a step waits for; without heartbeats the step fails with HEARTBEAT_MISSED',
      role: 'submitter',
      body: 'HeartbeatWaitBody',
      keyed: false,
      answers: { 200: { what: 'The time until which the wait stays open', schema: 'WaitBeaten' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION'],
    },
  },
  '/v1/runs/{id}/signals': {
    POST: {
      id: 'signalRun',
      summary: 'Sends a signal to one run',
      role: 'submitter',
      body: 'SignalBody',
      answers: { 200: { what: 'The outcome of the signal', schema: 'Signalled' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE', 'PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'],
    },
  },
  '/v1/runs/{id}/approvals/{stepId}': {
    POST: {
      id: 'decideApproval',
      summary: 'Decides an approval or a step in doubt',
      role: 'operator',
      body: 'DecisionBody',
      answers: { 200: { what: 'The decision in effect', schema: 'ApprovalDecided' } },
      refusals: [
        'RUN_NOT_FOUND',
        'NOT_FOUND',
        'RUN_TERMINAL_STATE',
        'RUN_INVALID_TRANSITION',
        'APPROVAL_DECIDED',
        'APPROVAL_EXPIRED',
        'EFFECT_IN_DOUBT',
        'PLAN_VERSION_UNAVAILABLE',
        'PLAN_CHANGED',
      ],
    },
  },
  '/v1/runs/{id}/effects': {
    GET: {
      id: 'listEffects',
      summary: 'Lists the effects of a run in order, followed by effects of earlier runs that it asks about',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of effects', schema: 'EffectPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/effects/{effectId}/resolve': {
    POST: {
      id: 'resolveEffect',
      summary: 'Resolves an effect in doubt: its outcome, or whether it may be repeated',
      role: 'operator',
      body: 'ResolveBody',
      answers: { 200: { what: 'The resolution in effect', schema: 'EffectResolved' } },
      refusals: [
        'RUN_NOT_FOUND',
        'NOT_FOUND',
        'EFFECT_RESOLVED',
        'RUN_TERMINAL_STATE',
        'RUN_INVALID_TRANSITION',
        'PLAN_VERSION_UNAVAILABLE',
        'PLAN_CHANGED',
      ],
    },
  },
  '/v1/runs/{id}/stream': {
    GET: {
      id: 'streamRun',
      summary: 'Streams the events of a run as server-sent events',
      role: 'viewer',
      query: {
        after: 'Sequence number of the last known event. The header `Last-Event-ID` takes precedence.',
        ...FOLLOW,
        ...WORDS,
      },
      answers: {
        200: {
          what: 'Each `id` is a sequence number, each `data` an event. `event: end` is the last',
          media: 'text/event-stream',
        },
      },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/events': {
    GET: {
      id: 'listEvents',
      summary: 'Lists the journal of a run, oldest first',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of events', schema: 'EventPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/graph': {
    GET: {
      id: 'readRunGraph',
      summary: 'Returns the graph of a run and the state of each step',
      role: 'viewer',
      query: { durations: '`true`: include the duration of each step, at one billed read per step.' },
      answers: { 200: { what: 'Nodes and states', schema: 'RunGraph' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/steps': {
    GET: {
      id: 'listSteps',
      summary: 'Lists the steps of a run by id',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of steps', schema: 'StepPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/memos': {
    GET: {
      id: 'listMemos',
      summary: 'Lists the memos of a step',
      role: 'viewer',
      query: {
        step: 'Step id, or `id[itemKey]`. Required.',
        revision: 'Revision of the step. Default: its newest.',
        undoes: '`true`: the memos of its compensation instead.',
        ...PAGE,
      },
      answers: { 200: { what: 'A page of memos, by name', schema: 'MemoPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/logs': {
    GET: {
      id: 'listLogs',
      summary: 'Lists the lines that steps of a run logged, oldest first',
      role: 'viewer',
      query: {
        ...WHICH_LINES,
        limit: PAGE.limit,
        cursor: '`next` of the previous page, or `after` of the last one for lines that were added since.',
      },
      answers: { 200: { what: 'A page of lines', schema: 'LogPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/logs/stream': {
    GET: {
      id: 'streamLogs',
      summary: 'Streams the lines that steps log and the text that they stream as server-sent events',
      role: 'viewer',
      query: {
        ...WHICH_LINES,
        kind: '`log`: only log lines. `text`: only streamed text, whose level is `info`. Default: both.',
        after:
          '`id` of the last known event, or `after` of a page of lines. The header `Last-Event-ID` takes precedence.',
        ...FOLLOW,
        ...WORDS,
      },
      answers: {
        200: {
          what: '`event: log` has a line. `event: attempt` says that an attempt of a step begins its text, and that earlier text of the step no longer counts; `event: text` has the next piece of it, and `event: text_end` says that it is whole. `event: end` is the last',
          media: 'text/event-stream',
        },
      },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/checkpoints': {
    GET: {
      id: 'listCheckpoints',
      summary: 'Lists the checkpoints of a run, oldest first',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of checkpoints', schema: 'CheckpointPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/checkpoints/{seq}/output': {
    GET: {
      id: 'readOutput',
      summary: 'Returns a recorded output of any size',
      role: 'viewer',
      answers: { 200: { what: 'The output', schema: 'Output' } },
      refusals: ['RUN_NOT_FOUND', 'NOT_FOUND'],
    },
  },
  '/v1/events': {
    POST: {
      id: 'deliverEvent',
      summary: 'Delivers an event to every run that waits for it, or buffers it for the first run that will',
      role: 'submitter',
      body: 'EventBody',
      answers: { 200: { what: 'The runs that received it', schema: 'EventDelivered' } },
    },
  },
} as const satisfies PathTable;

/** The routes of runs and of events that reach them. */
import { PAGE, type Paths, WORDS } from './describe.ts';

const WHICH_RUNS = {
  status:
    'Only runs of this status, or of one of several separated by commas, in any vocabulary; with `vocabulary`, those that it calls so. Of a status that waits also those that wait so while other branches run.',
  waitsFor: 'Only runs that wait so, whatever else is under way: `awaiting_approval` or `waiting_external`.',
  type: 'Only runs of this workflow.',
  repoId: 'Only runs about this repository.',
  threadId: 'Only runs of this thread.',
  since: 'Only runs created at this time or later, RFC 3339.',
  until: 'Only runs created before this time, RFC 3339.',
} as const;

const FOLLOW = {
  follow: 'false: tell what there is and end, for who is behind a proxy that hands on whole answers only.',
} as const;

export const RUN_PATHS = {
  '/v1/runs': {
    GET: {
      id: 'listRuns',
      summary: 'Lists runs, newest first',
      role: 'viewer',
      query: {
        ...WHICH_RUNS,
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
        201: { what: 'The run was made; `Location` says where it is', schema: 'RunStarted' },
        200: { what: 'It had been made by the same request before', schema: 'RunStarted' },
      },
      refusals: ['PLAN_CHANGED'],
    },
  },
  '/v1/runs/stream': {
    GET: {
      id: 'streamRuns',
      summary: 'Tells of the newest runs as they change, as server-sent events',
      role: 'viewer',
      query: { ...WHICH_RUNS, ...WORDS, ...FOLLOW, limit: 'How many of the newest: 1 to 100, default 50.' },
      answers: {
        200: {
          what: '`event: run` has a run as lists show it, `event: gone` the `id` of one that is no longer among them; `event: ready` says that all have been told that were there at first',
          media: 'text/event-stream',
        },
      },
    },
  },
  '/v1/runs/{id}': {
    GET: {
      id: 'readRun',
      summary: 'Reads a run as it is now',
      role: 'viewer',
      query: WORDS,
      answers: { 200: { what: 'The run', schema: 'Run' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/cancel': {
    POST: {
      id: 'cancelRun',
      summary: 'Ends a run, or asks whoever drives it to',
      role: 'operator',
      body: 'CancelBody',
      answers: { 200: { what: 'What was asked first', schema: 'Cancellation' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE'],
    },
  },
  '/v1/runs/{id}/suspend': {
    POST: {
      id: 'suspendRun',
      summary: 'Has a run stand: no step of it is started until it is continued',
      role: 'operator',
      body: 'SuspendBody',
      answers: { 200: { what: 'What was asked first', schema: 'Suspension' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION'],
    },
  },
  '/v1/runs/{id}/continue': {
    POST: {
      id: 'continueRun',
      summary: 'Has a suspended run go on; one that is not suspended stays as it is',
      role: 'operator',
      body: 'ContinueBody',
      answers: { 200: { what: 'The run is not suspended', schema: 'Continued' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/resume': {
    POST: {
      id: 'resumeRun',
      summary: 'Goes on with a run: by a successor if it has ended badly, by itself if it was held up',
      role: 'operator',
      body: 'ResumeBody',
      answers: {
        201: { what: 'The successor was made; `Location` says where it is', schema: 'RunStarted' },
        200: { what: 'The same request had made it before, or the run itself goes on', schema: 'Resumed' },
      },
      refusals: [
        'RUN_NOT_FOUND',
        'RUN_TERMINAL_STATE',
        'RUN_INVALID_TRANSITION',
        'PLAN_VERSION_UNAVAILABLE',
        'PLAN_CHANGED',
      ],
    },
  },
  '/v1/runs/{id}/replay': {
    POST: {
      id: 'replayRun',
      summary: 'Does the work of an ended run once more, its outside actions answered as recorded',
      role: 'operator',
      body: 'ReplayBody',
      answers: {
        201: { what: 'The successor was made; `Location` says where it is', schema: 'RunStarted' },
        200: { what: 'It had been made by the same request before', schema: 'RunStarted' },
      },
      refusals: ['RUN_NOT_FOUND', 'RUN_INVALID_TRANSITION', 'PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'],
    },
  },
  '/v1/runs/{id}/fork': {
    POST: {
      id: 'forkRun',
      summary: 'Goes another way from an ended run: with other input, or another version of its plan',
      role: 'operator',
      body: 'ForkBody',
      answers: {
        201: { what: 'The successor was made; `Location` says where it is', schema: 'RunStarted' },
        200: { what: 'It had been made by the same request before', schema: 'RunStarted' },
      },
      refusals: ['RUN_NOT_FOUND', 'RUN_INVALID_TRANSITION', 'PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'],
    },
  },
  '/v1/runs/{id}/preview': {
    POST: {
      id: 'previewRun',
      summary: 'Says what a resume, replay or fork would take over, run, and do outside; changes nothing',
      role: 'operator',
      body: 'PreviewBody',
      keyed: false,
      answers: { 200: { what: 'What would happen, and what stands in the way', schema: 'SuccessorPreview' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/waits/{stepId}/fail': {
    POST: {
      id: 'failWait',
      summary: 'Says that the event which a step waits for will not come: the step fails with EVENT_FAILED',
      role: 'submitter',
      body: 'FailWaitBody',
      answers: { 200: { what: 'The step has failed, as its `onFailure` says', schema: 'WaitFailed' } },
      refusals: [
        'RUN_NOT_FOUND',
        'RUN_TERMINAL_STATE',
        'RUN_INVALID_TRANSITION',
        'PLAN_VERSION_UNAVAILABLE',
        'PLAN_CHANGED',
      ],
    },
  },
  '/v1/runs/{id}/waits/{stepId}/heartbeat': {
    POST: {
      id: 'heartbeatWait',
      summary:
        'Says that somebody is still at work on the event which a step waits for; without, the step fails with HEARTBEAT_MISSED',
      role: 'submitter',
      body: 'HeartbeatWaitBody',
      keyed: false,
      answers: { 200: { what: 'Until when the wait stays open', schema: 'WaitBeaten' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION'],
    },
  },
  '/v1/runs/{id}/signals': {
    POST: {
      id: 'signalRun',
      summary: 'Tells one run something it waits for, or soon will',
      role: 'submitter',
      body: 'SignalBody',
      answers: { 200: { what: 'What became of the signal', schema: 'Signalled' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_TERMINAL_STATE', 'PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED'],
    },
  },
  '/v1/runs/{id}/approvals/{stepId}': {
    POST: {
      id: 'decideApproval',
      summary: 'Decides an approval, or about a step in doubt',
      role: 'operator',
      body: 'DecisionBody',
      answers: { 200: { what: 'The decision that counts', schema: 'ApprovalDecided' } },
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
      summary:
        'Lists what a run did outside, in its order, and at the end what earlier runs did that it asks about',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of effects', schema: 'EffectPage' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/effects/{effectId}/resolve': {
    POST: {
      id: 'resolveEffect',
      summary: 'Says what became of an outside action that is in doubt, or whether it may be repeated',
      role: 'operator',
      body: 'ResolveBody',
      answers: { 200: { what: 'The answer that counts', schema: 'EffectResolved' } },
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
      summary: 'Streams the events of a run as they happen, as server-sent events',
      role: 'viewer',
      query: {
        after: 'Seq of the last event that is known; the header `Last-Event-ID` counts more.',
        ...FOLLOW,
        ...WORDS,
      },
      answers: {
        200: {
          what: 'Each `id` is a seq, each `data` an event; `event: end` ends it',
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
      summary: 'What a run is made of, and where each step stands',
      role: 'viewer',
      query: { durations: 'true: how long each step took too, for one more billed read a step.' },
      answers: { 200: { what: 'Nodes and states', schema: 'RunGraph' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/steps': {
    GET: {
      id: 'listSteps',
      summary: 'Lists the steps of a run by their id',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of steps', schema: 'StepPage' } },
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
      summary: 'Reads one recorded output, however large',
      role: 'viewer',
      answers: { 200: { what: 'The output itself', schema: 'Output' } },
      refusals: ['RUN_NOT_FOUND', 'NOT_FOUND'],
    },
  },
  '/v1/events': {
    POST: {
      id: 'deliverEvent',
      summary: 'Delivers an event to every run that waits for it, or keeps it for the first that will',
      role: 'submitter',
      body: 'EventBody',
      answers: { 200: { what: 'Who has it', schema: 'EventDelivered' } },
    },
  },
} as const satisfies Paths;

/** Documents beside the runs. Their members are native, so that the Firebase console shows them. */
import type { BufferedEvent, DeliveredEvent, Mailbox, WaitRef } from '../../core/mailbox/mailbox.ts';
import type { RestoreMark } from '../../core/recovery/restored.ts';
import type { DeletedCounts, Erasure, ErasurePosition, RunPosition } from '../../core/retention/erasure.ts';
import type { CatchUpReport, PauseMark, Schedule, SlotResult } from '../../core/schedule/schedule.ts';
import type { RunFinding } from '../../ports/diagnosis/findings.ts';
import type { Heartbeat, Heartbeats, SampleFound } from '../../ports/diagnosis/heartbeats.ts';
import type { RuntimeConfig } from '../../ports/runtime-config.ts';
import {
  byName,
  documentCodec,
  flag,
  integer,
  json,
  type Kind,
  kind,
  type Members,
  map,
  optional,
  renamed,
  text,
  time,
  word,
  words,
} from './kinds.ts';

const outcome = map<SlotResult>({
  slot: time,
  at: time,
  runId: optional(text),
  error: optional(map({ code: text, message: text })),
});

const pause = map<PauseMark>({ since: time, by: text, reason: optional(text) });

const catchUpReport = map<CatchUpReport>({
  at: time,
  policy: word(),
  from: time,
  until: time,
  missed: integer,
  more: flag,
  made: integer,
});

export const scheduleCodec = documentCodec<Schedule>({
  id: text,
  tenantId: text,
  origin: word(),
  state: word(),
  name: optional(text),
  type: text,
  cron: text,
  timezone: text,
  input: json(),
  catchUp: word(),
  settledUntil: time,
  nextAt: optional(time),
  pause: optional(pause),
  last: optional(outcome),
  lastCatchUp: optional(catchUpReport),
  fired: integer,
  skipped: integer,
  refused: integer,
  createdAt: time,
  updatedAt: time,
  createdBy: optional(text),
});

const waitRef = map<WaitRef>({ runId: text, waitId: text });

const bufferedEvent = map<BufferedEvent>({
  eventId: text,
  // Native text is shorter: in JSON, escaping could double it beyond the limit of a document.
  dataText: text,
  actor: optional(text),
  at: time,
  expiresAt: time,
  takenBy: optional(waitRef),
  passing: optional(word<'sender' | 'giver'>()),
  deliveredTo: renamed('takenIn', words<string>()),
});

const deliveredEvent = map<DeliveredEvent>({
  eventId: text,
  at: time,
  deliveredTo: renamed('takenIn', words<string>()),
});

/** `early` and `takenIn` are stored names. */
export const mailboxCodec = documentCodec<Mailbox>({
  tenantId: text,
  event: text,
  key: text,
  waiting: list(waitRef),
  buffered: renamed('early', list(bufferedEvent)),
  delivered: list(deliveredEvent),
  expiresAt: optional(time),
});

function list<V>(of: Kind<V>): Kind<readonly V[]> {
  return kind(
    (values) => values.map((value) => of.encode(value)),
    (raw) => {
      if (!Array.isArray(raw)) throw new Error(`expected a list, found ${typeof raw}`);
      return raw.map((member) => of.decode(member));
    },
  );
}

const marks = kind<RuntimeConfig['paused']>(
  (paused) => byName(pause).encode(Object.fromEntries(paused)),
  (raw) => new Map(Object.entries(byName(pause).decode(raw))),
);

const codec = documentCodec<RuntimeConfig>({
  killSwitch: flag,
  paused: marks,
  restore: optional(map<RestoreMark>({ at: time, by: text, isPaused: renamed('held', flag) })),
  home: optional(text),
});

/** A document made by hand may lack one of the members. */
const DEFAULTS: Members = { killSwitch: false, paused: {} };

export const runtimeConfigCodec: typeof codec = {
  ...codec,
  decode: (document, what) => codec.decode({ ...DEFAULTS, ...document }, what),
};

const heartbeat = map<Heartbeat>({ at: time, tookMs: integer, outcome: word(), error: optional(text) });

export const heartbeatsCodec = documentCodec<Heartbeats>({
  recoverRuns: optional(heartbeat),
  fireSchedules: optional(heartbeat),
  checkRuns: optional(heartbeat),
  deleteExpired: optional(heartbeat),
  found: optional(map<SampleFound>({ at: time, checked: integer, problems: byName(integer) })),
  installations: optional(byName(time)),
});

export const erasureCodec = documentCodec<Erasure>({
  id: text,
  scope: word<Erasure['scope']>(),
  tenantHash: text,
  tenantId: optional(text),
  roots: words<string>(),
  state: word<Erasure['state']>(),
  position: optional(
    map<ErasurePosition>({
      run: optional(map<RunPosition>({ runId: text, createdAt: time })),
      record: optional(text),
      mailbox: optional(text),
      mustRepeat: optional(flag),
    }),
  ),
  keptBy: optional(map<NonNullable<Erasure['keptBy']>>({ why: word(), runId: text })),
  gone: map<DeletedCounts>({
    runs: integer,
    documents: integer,
    effects: integer,
    records: integer,
    waits: integer,
    schedules: integer,
    published: integer,
  }),
  requestedAt: time,
  requestedBy: optional(text),
  finishedAt: optional(time),
});

/** A finding about a run, stored outside the run's own documents. */
export const findingCodec = documentCodec<RunFinding>({
  runId: text,
  tenantId: text,
  type: text,
  head: integer,
  stepId: optional(text),
  reason: word(),
  message: text,
  since: time,
  lastAt: time,
});

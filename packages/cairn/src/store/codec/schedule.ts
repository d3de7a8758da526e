/** Document of a schedule. Native members except the input, so that the Firebase console shows them. */
import type { CatchUpReport, Schedule, SchedulePause, SlotResult } from '../../core/schedule/schedule.ts';
import { documentCodec, flag, integer, json, map, optional, text, time, word } from './kinds.ts';

const outcome = map<SlotResult>({
  slot: time,
  at: time,
  runId: optional(text),
  error: optional(map({ code: text, message: text })),
});

const pause = map<SchedulePause>({ since: time, by: text, reason: optional(text) });

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

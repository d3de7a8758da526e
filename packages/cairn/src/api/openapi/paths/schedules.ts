/** The operations of schedules. */
import { type OperationTable, PAGE } from './describe.ts';

/** A change that a schedule declared by a workflow refuses. */
const CHANGE = {
  role: 'operator',
  answers: { 200: { what: 'The updated schedule', schema: 'Schedule' } },
  refusals: ['SCHEDULE_DECLARED'],
} as const;

export const SCHEDULE_OPERATIONS = {
  'GET /v1/schedules': {
    id: 'listSchedules',
    summary: 'Lists schedules, newest first',
    role: 'viewer',
    query: PAGE,
    answers: { 200: { what: 'A page of schedules', schema: 'SchedulePage' } },
  },
  'POST /v1/schedules': {
    id: 'createSchedule',
    summary: 'Creates a schedule',
    role: 'operator',
    body: 'NewScheduleBody',
    answers: { 201: { what: 'The schedule; `Location` is its URL', schema: 'Schedule' } },
    refusals: ['NOT_FOUND'],
  },
  'GET /v1/schedules/{id}': {
    id: 'readSchedule',
    summary: 'Returns a schedule with its next slots',
    role: 'viewer',
    answers: { 200: { what: 'The schedule', schema: 'Schedule' } },
  },
  'PATCH /v1/schedules/{id}': {
    ...CHANGE,
    id: 'changeSchedule',
    summary: 'Updates a schedule; omitted members are unchanged',
    body: 'PatchScheduleBody',
  },
  'DELETE /v1/schedules/{id}': {
    ...CHANGE,
    id: 'deleteSchedule',
    summary: 'Deletes a schedule and keeps its runs',
    body: 'DeleteScheduleBody',
    answers: { 200: { what: 'The schedule is deleted', schema: 'ScheduleDeleted' } },
  },
  'POST /v1/schedules/{id}/pause': {
    ...CHANGE,
    id: 'pauseSchedule',
    summary: 'Pauses a schedule until it is resumed',
    body: 'PauseScheduleBody',
  },
  'POST /v1/schedules/{id}/resume': {
    ...CHANGE,
    id: 'resumeSchedule',
    summary: 'Resumes a paused schedule',
    body: 'ResumeScheduleBody',
  },
  'POST /v1/schedules/{id}/trigger': {
    id: 'triggerSchedule',
    summary: 'Starts one run of a schedule now',
    role: 'operator',
    body: 'TriggerScheduleBody',
    answers: { 201: { what: 'The run; `Location` is its URL', schema: 'ScheduleTriggered' } },
  },
  'POST /v1/schedules/{id}/backfill': {
    id: 'backfillSchedule',
    summary: 'Starts the runs of past slots, or counts them',
    role: 'operator',
    body: 'BackfillBody',
    answers: { 200: { what: 'The number of slots, and what was done', schema: 'Backfilled' } },
  },
} as const satisfies OperationTable;

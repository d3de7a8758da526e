/** The routes of schedules. */
import { PAGE, type PathTable } from './describe.ts';

export const SCHEDULE_PATHS = {
  '/v1/schedules': {
    GET: {
      id: 'listSchedules',
      summary: 'Lists schedules, newest first',
      role: 'viewer',
      query: PAGE,
      answers: { 200: { what: 'A page of schedules', schema: 'SchedulePage' } },
    },
    POST: {
      id: 'createSchedule',
      summary: 'Creates a schedule',
      role: 'operator',
      body: 'NewScheduleBody',
      answers: { 201: { what: 'The schedule; `Location` is its URL', schema: 'Schedule' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/schedules/{id}': {
    GET: {
      id: 'readSchedule',
      summary: 'Returns a schedule with its next slots',
      role: 'viewer',
      answers: { 200: { what: 'The schedule', schema: 'Schedule' } },
      refusals: ['NOT_FOUND'],
    },
    PATCH: {
      id: 'changeSchedule',
      summary: 'Updates a schedule; omitted members are unchanged',
      role: 'operator',
      body: 'PatchScheduleBody',
      answers: { 200: { what: 'The updated schedule', schema: 'Schedule' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
    DELETE: {
      id: 'deleteSchedule',
      summary: 'Deletes a schedule and keeps its runs',
      role: 'operator',
      body: 'DeleteScheduleBody',
      answers: { 200: { what: 'The schedule is deleted', schema: 'ScheduleDeleted' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
  },
  '/v1/schedules/{id}/pause': {
    POST: {
      id: 'pauseSchedule',
      summary: 'Pauses a schedule until it is resumed',
      role: 'operator',
      body: 'PauseScheduleBody',
      answers: { 200: { what: 'The updated schedule', schema: 'Schedule' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
  },
  '/v1/schedules/{id}/resume': {
    POST: {
      id: 'resumeSchedule',
      summary: 'Resumes a paused schedule',
      role: 'operator',
      body: 'ResumeScheduleBody',
      answers: { 200: { what: 'The updated schedule', schema: 'Schedule' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
  },
  '/v1/schedules/{id}/trigger': {
    POST: {
      id: 'triggerSchedule',
      summary: 'Starts one run of a schedule now',
      role: 'operator',
      body: 'TriggerScheduleBody',
      answers: { 201: { what: 'The run; `Location` is its URL', schema: 'ScheduleTriggered' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/schedules/{id}/backfill': {
    POST: {
      id: 'backfillSchedule',
      summary: 'Starts the runs of past slots, or counts them',
      role: 'operator',
      body: 'BackfillBody',
      answers: { 200: { what: 'The number of slots, and what was done', schema: 'Backfilled' } },
      refusals: ['NOT_FOUND'],
    },
  },
} as const satisfies PathTable;

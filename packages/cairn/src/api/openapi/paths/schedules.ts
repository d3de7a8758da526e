/** The routes of schedules. */
import { PAGE, type Paths } from './describe.ts';

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
      summary: 'Makes a schedule',
      role: 'operator',
      body: 'NewScheduleBody',
      answers: { 201: { what: 'The schedule; `Location` says where it is', schema: 'Schedule' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/schedules/{id}': {
    GET: {
      id: 'readSchedule',
      summary: 'Reads a schedule, with the slots ahead',
      role: 'viewer',
      answers: { 200: { what: 'The schedule', schema: 'Schedule' } },
      refusals: ['NOT_FOUND'],
    },
    PATCH: {
      id: 'changeSchedule',
      summary: 'Changes a schedule; members that are left out stay',
      role: 'operator',
      body: 'PatchScheduleBody',
      answers: { 200: { what: 'The schedule as it is then', schema: 'Schedule' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
    DELETE: {
      id: 'deleteSchedule',
      summary: 'Deletes a schedule; its runs stay',
      role: 'operator',
      body: 'DeleteScheduleBody',
      answers: { 200: { what: 'It is gone', schema: 'ScheduleDeleted' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
  },
  '/v1/schedules/{id}/pause': {
    POST: {
      id: 'pauseSchedule',
      summary: 'Has a schedule fire no more until it is resumed',
      role: 'operator',
      body: 'PauseScheduleBody',
      answers: { 200: { what: 'The schedule as it is then', schema: 'Schedule' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
  },
  '/v1/schedules/{id}/resume': {
    POST: {
      id: 'resumeSchedule',
      summary: 'Lets a paused schedule go on',
      role: 'operator',
      body: 'ResumeScheduleBody',
      answers: { 200: { what: 'The schedule as it is then', schema: 'Schedule' } },
      refusals: ['NOT_FOUND', 'SCHEDULE_DECLARED'],
    },
  },
  '/v1/schedules/{id}/trigger': {
    POST: {
      id: 'triggerSchedule',
      summary: 'Starts one run of a schedule now',
      role: 'operator',
      body: 'TriggerScheduleBody',
      answers: { 201: { what: 'The run; `Location` says where it is', schema: 'ScheduleTriggered' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/schedules/{id}/backfill': {
    POST: {
      id: 'backfillSchedule',
      summary: 'Starts the runs of slots that lie in the past, or counts them',
      role: 'operator',
      body: 'BackfillBody',
      answers: { 200: { what: 'How many slots there are, and what was done', schema: 'Backfilled' } },
      refusals: ['NOT_FOUND'],
    },
  },
} as const satisfies Paths;

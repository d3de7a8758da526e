/** The routes by which operators see what is deleted when, and keep it from that. */
import { PAGE, type Paths } from './describe.ts';

export const RETENTION_PATHS = {
  '/v1/retention': {
    GET: {
      id: 'listExpiredRuns',
      summary:
        'Runs that have been kept long enough by themselves: which would be deleted, and why others stay',
      role: 'admin',
      query: PAGE,
      answers: {
        200: { what: 'A page of them, which may have fewer than asked for', schema: 'ExpiredRunPage' },
      },
    },
  },
  '/v1/runs/{id}/retention': {
    GET: {
      id: 'readRetention',
      summary: 'How long a run is kept, and why',
      role: 'viewer',
      answers: { 200: { what: 'What would become of it now', schema: 'RunRetention' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/erase': {
    POST: {
      id: 'eraseRun',
      summary:
        'Deletes a run that has ended, with its lineage and its children, whatever time it is to be kept',
      role: 'admin',
      body: 'EraseRunBody',
      answers: { 202: { what: 'The erasure: it is hidden now, and gone within an hour', schema: 'Erasure' } },
      refusals: ['RUN_NOT_FOUND', 'RUN_INVALID_TRANSITION'],
    },
  },
  '/v1/erasures': {
    POST: {
      id: 'eraseTenant',
      summary: 'Deletes the runs, schedules, idempotency records and events of a tenant',
      role: 'installation',
      body: 'EraseTenantBody',
      answers: { 202: { what: 'The erasure', schema: 'Erasure' } },
    },
  },
  '/v1/erasures/{id}': {
    GET: {
      id: 'readErasure',
      summary: 'What of an erasure is gone',
      role: 'admin',
      answers: { 200: { what: 'The erasure', schema: 'Erasure' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/hold': {
    POST: {
      id: 'holdRun',
      summary: 'Keeps a run, and all of its lineage, from being deleted',
      role: 'admin',
      body: 'HoldBody',
      answers: { 200: { what: 'By whom it is held: by who held it first', schema: 'RunHeld' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
  '/v1/runs/{id}/release-hold': {
    POST: {
      id: 'releaseHold',
      summary: 'Takes a hold away',
      role: 'admin',
      body: 'ReleaseHoldBody',
      answers: { 200: { what: 'It is not held any more', schema: 'RunReleased' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
} as const satisfies Paths;

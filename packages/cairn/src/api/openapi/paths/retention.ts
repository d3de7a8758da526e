/** Routes about retention: expired runs, erasures and legal holds. */
import { type OperationTable, PAGE } from './describe.ts';

export const RETENTION_OPERATIONS = {
  'GET /v1/retention': {
    id: 'listExpiredRuns',
    summary: 'Lists runs past their retention period: those that would be deleted, and why others are kept',
    role: 'admin',
    query: PAGE,
    answers: {
      200: { what: 'A page, possibly with fewer items than the limit', schema: 'ExpiredRunPage' },
    },
  },
  'GET /v1/runs/{id}/retention': {
    id: 'readRetention',
    summary: 'Returns how long a run is kept, and why',
    role: 'viewer',
    answers: { 200: { what: 'What retention would do with the run now', schema: 'RunRetention' } },
  },
  'POST /v1/runs/{id}/erase': {
    id: 'eraseRun',
    summary: 'Erases an ended run with its lineage and children, regardless of its retention period',
    role: 'admin',
    body: 'EraseRunBody',
    answers: {
      202: {
        what: 'The erasure: the run is hidden immediately and deleted within an hour',
        schema: 'Erasure',
      },
    },
    refusals: ['RUN_INVALID_TRANSITION'],
  },
  'GET /v1/erasures': {
    id: 'listErasures',
    summary: 'Lists erasures, newest first; with the role `installation` those of all tenants',
    role: 'admin',
    query: PAGE,
    answers: { 200: { what: 'A page of erasures', schema: 'ErasurePage' } },
  },
  'POST /v1/erasures': {
    id: 'eraseTenant',
    summary: 'Erases the runs, schedules, idempotency records and events of a tenant',
    role: 'installation',
    body: 'EraseTenantBody',
    answers: { 202: { what: 'The erasure', schema: 'Erasure' } },
  },
  'GET /v1/erasures/{id}': {
    id: 'readErasure',
    summary: 'Returns the progress of an erasure',
    role: 'admin',
    answers: { 200: { what: 'The erasure', schema: 'Erasure' } },
  },
  'POST /v1/runs/{id}/hold': {
    id: 'holdRun',
    summary: 'Places a legal hold on a run and its lineage',
    role: 'admin',
    body: 'HoldBody',
    answers: { 200: { what: 'The hold; an existing hold is kept', schema: 'RunHeld' } },
  },
  'POST /v1/runs/{id}/release-hold': {
    id: 'releaseHold',
    summary: 'Releases a legal hold',
    role: 'admin',
    body: 'ReleaseHoldBody',
    answers: { 200: { what: 'The hold is released', schema: 'RunReleased' } },
  },
} as const satisfies OperationTable;

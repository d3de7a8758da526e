/** The routes without a run: health, the document, workflows, switches, clients, idempotency records. */
import { flag } from '../../parameters.ts';
import type { OperationTable } from './describe.ts';

export const INSTALLATION_OPERATIONS = {
  'GET /v1/healthz': {
    id: 'readHealth',
    summary: 'Returns the deployed version and whether the store is reachable',
    role: 'open',
    ignoresQuery: true,
    answers: {
      200: { what: 'The service is healthy', schema: 'Health' },
      503: { what: 'The store does not respond', schema: 'Health' },
    },
  },
  'GET /v1/openapi.json': {
    id: 'readDocument',
    summary: 'This document',
    role: 'open',
    answers: { 200: { what: 'OpenAPI 3.1' } },
    refusals: ['INVALID_INPUT'],
  },
  'GET /v1/docs': {
    id: 'readPage',
    summary: 'This document as a web page',
    role: 'open',
    answers: { 200: { what: 'A page', media: 'text/html' } },
    refusals: ['INVALID_INPUT'],
  },
  'GET /v1/me': {
    id: 'readMe',
    summary: 'Identity and roles of the caller',
    role: 'viewer',
    answers: { 200: { what: 'The caller', schema: 'Me' } },
  },
  'GET /v1/metrics': {
    id: 'readMetrics',
    summary: 'Metrics in the Prometheus format; counters are per instance',
    role: 'admin',
    answers: { 200: { what: 'Prometheus text', media: 'text/plain' } },
  },
  'GET /v1/workflows': {
    id: 'listWorkflows',
    summary: 'Lists workflows and their versions, with the number of runs of the tenant on each version',
    role: 'viewer',
    query: {
      summary: flag(
        'Leave out the steps, the triggers and the changes of each version. The whole list can have hundreds of kilobytes.',
      ),
    },
    answers: { 200: { what: 'All workflows', schema: 'WorkflowList' } },
  },
  'GET /v1/workflows/{type}/input': {
    id: 'readWorkflowInput',
    summary: 'Reads the input schema of the newest version of a workflow',
    role: 'viewer',
    answers: { 200: { what: 'The schema', schema: 'WorkflowInput' } },
  },
  'POST /v1/workflows/{type}/pause': {
    id: 'pauseWorkflow',
    summary: 'Pauses a workflow for all tenants',
    role: 'installation',
    body: 'PauseWorkflowBody',
    answers: { 200: { what: 'When and by whom it was paused', schema: 'WorkflowPaused' } },
  },
  'POST /v1/workflows/{type}/unpause': {
    id: 'unpauseWorkflow',
    summary: 'Unpauses a workflow',
    role: 'installation',
    body: 'PauseWorkflowBody',
    answers: { 200: { what: 'Number of runs that were woken', schema: 'WorkflowUnpaused' } },
  },
  'GET /v1/runtime': {
    id: 'readRuntime',
    summary: 'Returns the kill switch and the paused workflows',
    role: 'installation',
    answers: { 200: { what: 'The switches', schema: 'Runtime' } },
  },
  'PUT /v1/runtime': {
    id: 'setRuntime',
    summary: 'Sets the kill switch for all tenants',
    role: 'installation',
    body: 'RuntimeBody',
    answers: { 200: { what: 'The current setting', schema: 'RuntimeSet' } },
  },
  'GET /v1/restore': {
    id: 'readRestore',
    summary: 'Returns whether runs are paused because the database was restored',
    role: 'installation',
    answers: { 200: { what: 'The restore mark, if any', schema: 'Restore' } },
  },
  'POST /v1/restore/begin': {
    id: 'beginRestore',
    summary:
      'Marks the database as restored and pauses the runs of all tenants; each instance knows it within 3 seconds',
    role: 'installation',
    body: 'RestoreBody',
    answers: { 200: { what: 'The restore mark; an existing mark is kept', schema: 'Restore' } },
  },
  'POST /v1/restore/release': {
    id: 'releaseRestore',
    summary: 'Releases runs after a restore; effects they may have made before become questions',
    role: 'installation',
    body: 'RestoreBody',
    answers: { 200: { what: 'The restore mark, if any', schema: 'RestoreReleased' } },
  },
  'GET /v1/clients': {
    id: 'listClients',
    summary: 'Lists the API clients of the tenant',
    role: 'admin',
    answers: { 200: { what: 'The clients, without secrets', schema: 'ClientList' } },
  },
  'POST /v1/clients': {
    id: 'createClient',
    summary: 'Creates an API client; its key is returned once',
    role: 'admin',
    body: 'CreateClientBody',
    answers: { 201: { what: 'The client and its key', schema: 'ClientWithSecret' } },
  },
  'POST /v1/clients/{id}/rotate': {
    id: 'rotateClient',
    summary: 'Rotates the secret of a client; the old secret stays valid for a limited time',
    role: 'admin',
    body: 'RotateClientBody',
    answers: { 200: { what: 'The client and its new key', schema: 'ClientWithSecret' } },
  },
  'POST /v1/clients/{id}/revoke': {
    id: 'revokeClient',
    summary: 'Revokes a client',
    role: 'admin',
    body: 'RevokeClientBody',
    answers: { 200: { what: 'The client', schema: 'Client' } },
  },
  'GET /v1/idempotency/{key}': {
    id: 'readIdempotency',
    summary: "Returns the outcome of the caller's request with this idempotency key",
    role: 'viewer',
    answers: { 200: { what: 'The record', schema: 'IdempotencyRecord' } },
    refusals: ['IDEMPOTENCY_EXPIRED'],
  },
  'GET /v1/diagnosis': {
    id: 'readDiagnosis',
    summary: 'Diagnoses the installation: indexes, queue, scheduled functions, overdue runs',
    role: 'installation',
    answers: { 200: { what: 'Findings and figures, at most a few seconds old', schema: 'Diagnosis' } },
  },
} as const satisfies OperationTable;

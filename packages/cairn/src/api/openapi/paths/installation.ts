/** The routes that belong to no run: health, the document, workflows, switches, clients, idempotency records. */
import type { PathTable } from './describe.ts';

export const INSTALLATION_PATHS = {
  '/v1/healthz': {
    GET: {
      id: 'readHealth',
      summary: 'Returns the deployed version and whether the store is reachable',
      role: 'open',
      ignoresQuery: true,
      answers: {
        200: { what: 'The service is healthy', schema: 'Health' },
        503: { what: 'The store does not respond', schema: 'Health' },
      },
    },
  },
  '/v1/openapi.json': {
    GET: {
      id: 'readDocument',
      summary: 'This document',
      role: 'open',
      answers: { 200: { what: 'OpenAPI 3.1' } },
      refusals: ['INVALID_INPUT'],
    },
  },
  '/v1/docs': {
    GET: {
      id: 'readPage',
      summary: 'This document as a web page',
      role: 'open',
      answers: { 200: { what: 'A page', media: 'text/html' } },
      refusals: ['INVALID_INPUT'],
    },
  },
  '/v1/me': {
    GET: {
      id: 'readMe',
      summary: 'Identity and roles of the caller',
      role: 'viewer',
      answers: { 200: { what: 'The caller', schema: 'Me' } },
    },
  },
  '/v1/metrics': {
    GET: {
      id: 'readMetrics',
      summary: 'Metrics in the Prometheus format; counters are per instance',
      role: 'admin',
      answers: { 200: { what: 'Prometheus text', media: 'text/plain' } },
    },
  },
  '/v1/workflows': {
    GET: {
      id: 'listWorkflows',
      summary: 'Lists workflows and their versions, with the number of runs of the tenant on each version',
      role: 'viewer',
      query: {
        summary:
          '`true`: leave out the steps, the triggers and the changes of each version. Default: `false`. The whole list can have hundreds of kilobytes.',
      },
      answers: { 200: { what: 'All workflows', schema: 'WorkflowList' } },
    },
  },
  '/v1/workflows/{type}/input': {
    GET: {
      id: 'readWorkflowInput',
      summary: 'Reads the input schema of the newest version of a workflow',
      role: 'viewer',
      answers: { 200: { what: 'The schema', schema: 'WorkflowInput' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/workflows/{type}/pause': {
    POST: {
      id: 'pauseWorkflow',
      summary: 'Pauses a workflow for all tenants',
      role: 'installation',
      body: 'PauseWorkflowBody',
      answers: { 200: { what: 'When and by whom it was paused', schema: 'WorkflowPaused' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/workflows/{type}/unpause': {
    POST: {
      id: 'unpauseWorkflow',
      summary: 'Unpauses a workflow',
      role: 'installation',
      body: 'PauseWorkflowBody',
      answers: { 200: { what: 'Number of runs that were woken', schema: 'WorkflowUnpaused' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/runtime': {
    GET: {
      id: 'readRuntime',
      summary: 'Returns the kill switch and the paused workflows',
      role: 'installation',
      answers: { 200: { what: 'The switches', schema: 'Runtime' } },
    },
    PUT: {
      id: 'setRuntime',
      summary: 'Sets the kill switch for all tenants',
      role: 'installation',
      body: 'RuntimeBody',
      answers: { 200: { what: 'The current setting', schema: 'RuntimeSet' } },
    },
  },
  '/v1/restore': {
    GET: {
      id: 'readRestore',
      summary: 'Returns whether runs are held because the database was restored',
      role: 'installation',
      answers: { 200: { what: 'The restore mark, if any', schema: 'Restore' } },
    },
  },
  '/v1/restore/begin': {
    POST: {
      id: 'beginRestore',
      summary:
        'Marks the database as restored and holds the runs of all tenants; each instance knows it within 3 seconds',
      role: 'installation',
      body: 'RestoreBody',
      answers: { 200: { what: 'The restore mark; an existing mark is kept', schema: 'Restore' } },
    },
  },
  '/v1/restore/release': {
    POST: {
      id: 'releaseRestore',
      summary: 'Releases runs after a restore; effects they may have made before become questions',
      role: 'installation',
      body: 'RestoreBody',
      answers: { 200: { what: 'The restore mark, if any', schema: 'RestoreReleased' } },
    },
  },
  '/v1/clients': {
    GET: {
      id: 'listClients',
      summary: 'Lists the API clients of the tenant',
      role: 'admin',
      answers: { 200: { what: 'The clients, without secrets', schema: 'ClientList' } },
    },
    POST: {
      id: 'createClient',
      summary: 'Creates an API client; its key is returned once',
      role: 'admin',
      body: 'CreateClientBody',
      answers: { 201: { what: 'The client and its key', schema: 'ClientWithSecret' } },
    },
  },
  '/v1/clients/{id}/rotate': {
    POST: {
      id: 'rotateClient',
      summary: 'Rotates the secret of a client; the old secret stays valid for a limited time',
      role: 'admin',
      body: 'RotateClientBody',
      answers: { 200: { what: 'The client and its new key', schema: 'ClientWithSecret' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/clients/{id}/revoke': {
    POST: {
      id: 'revokeClient',
      summary: 'Revokes a client',
      role: 'admin',
      body: 'RevokeClientBody',
      answers: { 200: { what: 'The client', schema: 'Client' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/idempotency/{key}': {
    GET: {
      id: 'readIdempotency',
      summary: "Returns the outcome of the caller's request with this idempotency key",
      role: 'viewer',
      answers: { 200: { what: 'The record', schema: 'IdempotencyRecord' } },
      refusals: ['NOT_FOUND', 'IDEMPOTENCY_EXPIRED'],
    },
  },
} as const satisfies PathTable;

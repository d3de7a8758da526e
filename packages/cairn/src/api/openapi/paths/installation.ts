/** The routes that belong to no run: health, the document, workflows, switches, clients, idempotency records. */
import type { Paths } from './describe.ts';

export const INSTALLATION_PATHS = {
  '/v1/healthz': {
    GET: {
      id: 'readHealth',
      summary: 'Says which version answers and whether it reaches the store',
      role: 'open',
      answers: {
        200: { what: 'All is well', schema: 'Health' },
        503: { what: 'The store does not answer', schema: 'Health' },
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
      summary: 'This document, for people',
      role: 'open',
      answers: { 200: { what: 'A page', media: 'text/html' } },
      refusals: ['INVALID_INPUT'],
    },
  },
  '/v1/me': {
    GET: {
      id: 'readMe',
      summary: 'Who the caller is, and what they may do',
      role: 'viewer',
      answers: { 200: { what: 'The caller', schema: 'Me' } },
    },
  },
  '/v1/metrics': {
    GET: {
      id: 'readMetrics',
      summary: 'Metrics for Prometheus; counters are those of the instance that answers',
      role: 'admin',
      answers: { 200: { what: 'Prometheus text', media: 'text/plain' } },
    },
  },
  '/v1/workflows': {
    GET: {
      id: 'listWorkflows',
      summary: 'Lists workflows, their versions, and how many runs of the tenant are on each',
      role: 'viewer',
      answers: { 200: { what: 'All workflows', schema: 'WorkflowList' } },
    },
  },
  '/v1/workflows/{type}/pause': {
    POST: {
      id: 'pauseWorkflow',
      summary: 'Pauses a workflow, for every tenant',
      role: 'installation',
      body: 'PauseWorkflowBody',
      answers: { 200: { what: 'Since when, by whom', schema: 'WorkflowPaused' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/workflows/{type}/unpause': {
    POST: {
      id: 'unpauseWorkflow',
      summary: 'Lets a paused workflow go on',
      role: 'installation',
      body: 'PauseWorkflowBody',
      answers: { 200: { what: 'How many runs were woken', schema: 'WorkflowUnpaused' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/runtime': {
    GET: {
      id: 'readRuntime',
      summary: 'Reads the kill switch and what is paused',
      role: 'installation',
      answers: { 200: { what: 'The switches', schema: 'Runtime' } },
    },
    PUT: {
      id: 'setRuntime',
      summary: 'Sets the kill switch, for every tenant',
      role: 'installation',
      body: 'RuntimeBody',
      answers: { 200: { what: 'How it is set now', schema: 'RuntimeSet' } },
    },
  },
  '/v1/restore': {
    GET: {
      id: 'readRestore',
      summary: 'Whether the installation is held because its database was restored',
      role: 'installation',
      answers: { 200: { what: 'The mark, if there is one', schema: 'Restore' } },
    },
  },
  '/v1/restore/begin': {
    POST: {
      id: 'beginRestore',
      summary: 'Says that the database was restored, and holds the runs of every tenant',
      role: 'installation',
      body: 'RestoreBody',
      answers: { 200: { what: 'The mark: that of who held it first', schema: 'Restore' } },
    },
  },
  '/v1/restore/release': {
    POST: {
      id: 'releaseRestore',
      summary: 'Lets runs go on after a restore; what they may have done before becomes a question',
      role: 'installation',
      body: 'RestoreBody',
      answers: { 200: { what: 'The mark, if there is one', schema: 'RestoreReleased' } },
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
      summary: 'Makes an API client; its key is shown once',
      role: 'admin',
      body: 'CreateClientBody',
      answers: { 201: { what: 'The client and its key', schema: 'ClientWithSecret' } },
    },
  },
  '/v1/clients/{id}/rotate': {
    POST: {
      id: 'rotateClient',
      summary: 'Gives a client a new secret; the old one is good for a while',
      role: 'admin',
      body: 'RotateClientBody',
      answers: { 200: { what: 'The client and its new key', schema: 'ClientWithSecret' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/clients/{id}/revoke': {
    POST: {
      id: 'revokeClient',
      summary: 'Takes a client every access',
      role: 'admin',
      body: 'RevokeClientBody',
      answers: { 200: { what: 'The client', schema: 'Client' } },
      refusals: ['NOT_FOUND'],
    },
  },
  '/v1/idempotency/{key}': {
    GET: {
      id: 'readIdempotency',
      summary: "Says what became of one's own request with this idempotency key",
      role: 'viewer',
      answers: { 200: { what: 'The record', schema: 'IdempotencyRecord' } },
      refusals: ['NOT_FOUND', 'IDEMPOTENCY_EXPIRED'],
    },
  },
} as const satisfies Paths;

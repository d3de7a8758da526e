/** The routes by which operators see whether a run is as it should be, and have it put right. */
import type { Paths } from './describe.ts';

export const INTEGRITY_PATHS = {
  '/v1/runs/{id}/consistency': {
    GET: {
      id: 'checkRun',
      summary: 'Holds all documents of a run against its journal',
      role: 'operator',
      answers: { 200: { what: 'What is wrong with it, if anything', schema: 'Consistency' } },
      refusals: ['RUN_NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
    },
  },
  '/v1/runs/{id}/repair': {
    POST: {
      id: 'repairRun',
      summary: 'Says what a repair would change; with apply=true it is changed, which takes an admin',
      role: 'operator',
      query: { apply: '`true`: change it. Default: `false`, a dry run.' },
      body: 'RepairBody',
      answers: { 200: { what: 'What would be changed, or was, and what takes a person', schema: 'Repair' } },
      refusals: ['RUN_NOT_FOUND'],
    },
  },
} as const satisfies Paths;

/** The operations that check the installation, and the documents of a run. */
import { flag } from '../../parameters.ts';
import type { OperationTable } from './describe.ts';

export const DIAGNOSIS_OPERATIONS = {
  'GET /v1/diagnosis': {
    id: 'readDiagnosis',
    summary: 'Diagnoses the installation: indexes, queue, scheduled functions, overdue runs',
    role: 'installation',
    answers: { 200: { what: 'Findings and figures, at most a few seconds old', schema: 'Diagnosis' } },
  },
} as const satisfies OperationTable;

export const INTEGRITY_OPERATIONS = {
  'GET /v1/runs/{id}/consistency': {
    id: 'checkRun',
    summary:
      'Checks all documents of a run against its journal; for an owner `external:TENANT:KEY`, the rows of its effects',
    role: 'operator',
    readsMany: true,
    answers: { 200: { what: 'The problems found, if any', schema: 'Consistency' } },
    refusals: ['PAYLOAD_TOO_LARGE'],
  },
  'POST /v1/runs/{id}/repair': {
    id: 'repairRun',
    summary: 'Returns what a repair would change; apply=true makes the changes and requires the role admin',
    role: 'operator',
    readsMany: true,
    query: { apply: flag('Apply the repair; otherwise it is a dry run.') },
    body: 'RepairBody',
    answers: {
      200: {
        what: 'The planned or applied changes, and the problems that need an operator',
        schema: 'Repair',
      },
    },
  },
} as const satisfies OperationTable;

/** The route that shows how an installation fares. */
import type { OperationTable } from './describe.ts';

export const DIAGNOSIS_OPERATIONS = {
  'GET /v1/diagnosis': {
    id: 'readDiagnosis',
    summary: 'Diagnoses the installation: indexes, queue, scheduled functions, overdue runs',
    role: 'installation',
    answers: { 200: { what: 'Findings and figures, at most a few seconds old', schema: 'Diagnosis' } },
  },
} as const satisfies OperationTable;

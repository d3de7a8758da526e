/** The route that shows how an installation fares. */
import type { PathTable } from './describe.ts';

export const DIAGNOSIS_PATHS = {
  '/v1/diagnosis': {
    GET: {
      id: 'readDiagnosis',
      summary: 'Diagnoses the installation: indexes, queue, scheduled functions, overdue runs',
      role: 'installation',
      answers: { 200: { what: 'Findings and figures, at most a few seconds old', schema: 'Diagnosis' } },
    },
  },
} as const satisfies PathTable;

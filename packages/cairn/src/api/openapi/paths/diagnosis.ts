/** The route that shows how an installation fares. */
import type { Paths } from './describe.ts';

export const DIAGNOSIS_PATHS = {
  '/v1/diagnosis': {
    GET: {
      id: 'readDiagnosis',
      summary: 'Says how the installation fares: indexes, queue, scheduled functions, runs that are late',
      role: 'installation',
      answers: {
        200: { what: 'What was found, and numbers; some seconds old at most', schema: 'Diagnosis' },
      },
    },
  },
} as const satisfies Paths;

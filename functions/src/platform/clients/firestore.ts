/** The Firestore client of this process. */
import { Firestore } from '@google-cloud/firestore';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import { tallied } from '../diagnosis/tallied.ts';

/**
 * A value nobody meant to store must be an error, not a missing field.
 *
 * @param tally told what each answer is billed
 */
export function firestoreClient(project: string, tally: OperationTally): Firestore {
  return tallied(new Firestore({ projectId: project, ignoreUndefinedProperties: false }), tally);
}

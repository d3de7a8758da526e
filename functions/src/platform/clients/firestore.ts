/** The Firestore client of this process. */
import { Firestore } from '@google-cloud/firestore';

/** A value nobody meant to store must be an error, not a missing field. */
export function firestoreClient(project: string): Firestore {
  return new Firestore({ projectId: project, ignoreUndefinedProperties: false });
}

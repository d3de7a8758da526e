/** The Firestore client of this process. */
import { Firestore } from '@google-cloud/firestore';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import { systemClock } from '../clock.ts';
import { tallied } from '../diagnosis/tallied.ts';
import { bounded } from './bounded.ts';
import { DEADLINES } from './deadlines.ts';

export interface FirestoreClientOptions {
  readonly project: string;
  /** Its id. */
  readonly database: string;
  /** Receives the billed operations of each response. */
  readonly tally: OperationTally;
}

/** Storing an undefined value must be an error, not a missing field. */
export function firestoreClient({ project, database, tally }: FirestoreClientOptions): Firestore {
  const db = new Firestore({ projectId: project, databaseId: database, ignoreUndefinedProperties: false });
  return tallied(bounded(db, { clock: systemClock, deadlines: DEADLINES }), tally);
}

/** The Firestore client of this process. */
import { Firestore } from '@google-cloud/firestore';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import { systemClock } from '../clock.ts';
import { tallied } from '../diagnosis/tallied.ts';
import { withDeadlines } from './bounded.ts';
import { callsByFrames } from './calls-by-frames.ts';
import { DEADLINES } from './deadlines.ts';
import type { Wire } from './wire.ts';

interface FirestoreClientOptions {
  readonly project: string;
  /** Id of the database. */
  readonly database: string;
  /** Receives the billed operations of each response. */
  readonly tally: OperationTally;
  /** Address of a server with the wire protocol; default: gRPC. */
  readonly wire?: Wire | undefined;
}

/** Storing an undefined value must be an error, not a missing field. */
export function firestoreClient({ project, database, tally, wire }: FirestoreClientOptions): Firestore {
  const db = new Firestore({ projectId: project, databaseId: database, ignoreUndefinedProperties: false });
  if (wire) callsByFrames(db, wire);
  return tallied(withDeadlines(db, { clock: systemClock, deadlines: DEADLINES }), tally);
}

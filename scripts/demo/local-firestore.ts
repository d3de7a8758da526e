/** A client of the Firestore of a local cloud that runs as another process. */
import { Firestore } from '@google-cloud/firestore';
import type { Ready } from '../../packages/local/src/cloud-process.ts';

/**
 * The client takes this variable, while it is made, as the sign that no credentials are to be looked for. Left set, it
 * would point the next local cloud of this process at this one's Firestore.
 */
export function localFirestore({ projectId, firestore }: Ready): Firestore {
  const before = process.env.FIRESTORE_EMULATOR_HOST;
  process.env.METADATA_SERVER_DETECTION ??= 'none';
  process.env.FIRESTORE_EMULATOR_HOST = firestore;
  try {
    return new Firestore({ projectId });
  } finally {
    if (before === undefined) delete process.env.FIRESTORE_EMULATOR_HOST;
    else process.env.FIRESTORE_EMULATOR_HOST = before;
  }
}

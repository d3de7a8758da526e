/** Connects to the Firestore of a local cloud in another process. */
import { Firestore } from '@google-cloud/firestore';
import type { Ready } from '../../packages/local/src/cloud-process.ts';

/**
 * With this variable, the client does not search for credentials when it is created. It is removed afterwards; otherwise the next
 * local cloud of this process would use this Firestore.
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

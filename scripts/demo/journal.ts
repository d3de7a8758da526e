/** Reads a run from the store, without the API, and checks its journal. */

import { isDeepStrictEqual } from 'node:util';
import { verifyChain } from '../../packages/cairn/src/core/run/chain.ts';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { fold } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { FirestoreRunStore } from '../../packages/cairn/src/store/firestore-run-store.ts';
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { localFirestore } from './local-firestore.ts';

/** More than the events of the demo's run. */
const MAX_EVENTS = 1_000;

interface JournalReport {
  readonly events: readonly RunEvent[];
  /** True if the hash chain is valid and the snapshot equals the folded events. */
  readonly intact: boolean;
}

export async function inspectJournal(ready: Ready, runId: string): Promise<JournalReport> {
  const db = localFirestore(ready);
  try {
    const store = new FirestoreRunStore(db);
    const events = await store.readEvents(runId, 0, MAX_EVENTS);
    const snapshot = await store.load(runId);
    const folded = fold(runId, events);
    const same = snapshot !== undefined && isDeepStrictEqual(plain(snapshot.state), plain(folded));
    return { events, intact: verifyChain(runId, events) === undefined && same };
  } finally {
    await db.terminate();
  }
}

function plain(state: object): unknown {
  return JSON.parse(JSON.stringify(state));
}

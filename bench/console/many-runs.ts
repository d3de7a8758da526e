/**
 * Writes many runs in seconds: copies of the document of an ended run with other ids and times. Lists read nothing else. The
 * pages of these runs cannot be opened, because they have no journal.
 */
import { Timestamp } from '@google-cloud/firestore';
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { localFirestore } from '../../scripts/demo/local-firestore.ts';

/** Runs per commit. */
const AT_ONCE = 300;
/** Between two runs, ms. */
const APART_MS = 1_000;
/** Base-32 digits of run ids. */
const DIGITS = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_DIGITS = 25;
const STATUSES = ['completed', 'completed', 'completed', 'failed', 'cancelled'];

/** @param like id of a run that has ended */
export async function writeRuns(ready: Ready, like: string, count: number): Promise<void> {
  const db = localFirestore(ready);
  try {
    const runs = db.collection('gwi_runs');
    const model = (await runs.doc(like).get()).data();
    if (!model) throw new Error(`there is no run ${like}`);
    const newest = (model.createdAt as Timestamp).toMillis() - APART_MS;
    for (let at = 0; at < count; at += AT_ONCE) {
      const batch = db.batch();
      for (let i = at; i < Math.min(count, at + AT_ONCE); i += 1) {
        const id = idOf(i);
        const createdAt = Timestamp.fromMillis(newest - i * APART_MS);
        const status = STATUSES[i % STATUSES.length];
        batch.create(runs.doc(id), {
          ...model,
          id,
          rootRunId: id,
          threadId: `thread-${i % 50}`,
          status,
          createdAt,
        });
      }
      await batch.commit();
    }
  } finally {
    await db.terminate();
  }
}

function idOf(number: number): string {
  let rest = number;
  let digits = '';
  for (let i = 0; i < ID_DIGITS; i += 1) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return `run_${digits}a`;
}

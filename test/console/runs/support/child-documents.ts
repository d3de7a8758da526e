/**
 * Writes a run with many child runs to the store quickly, as copies of an ended run under other ids and times. Lists read
 * only these documents. Must not: be opened (the runs have no journal).
 */
import { Timestamp } from '@google-cloud/firestore';
import type { Ready } from '../../../../packages/local/src/cloud-process.ts';
import { localFirestore } from '../../../../scripts/demo/local-firestore.ts';

const AT = Date.UTC(2026, 0, 1);

interface Family {
  /** Id of the ended run to copy. */
  readonly like: string;
  readonly thread: string;
  readonly children: number;
}

/** Writes the children, their older parent `…-top`, and a still older run `…-old`. @returns the ids, the newest first */
export async function writeFamily(ready: Ready, { like, thread, children }: Family): Promise<string[]> {
  const db = localFirestore(ready);
  try {
    const runs = db.collection('gwi_runs');
    const model = (await runs.doc(like).get()).data();
    const top = `run_${thread}-top`;
    const parent = { runId: top, stepId: 'ask', topRunId: top };
    const ids = [
      ...Array.from({ length: children }, (_, at) => `run_${thread}-child-${at}`),
      top,
      `run_${thread}-old`,
    ];
    const batch = db.batch();
    ids.forEach((id, at) => {
      const createdAt = Timestamp.fromMillis(AT - at * 1_000);
      const child = at < children ? { parent } : {};
      batch.create(runs.doc(id), { ...model, id, rootRunId: id, threadId: thread, createdAt, ...child });
    });
    await batch.commit();
    return ids;
  } finally {
    await db.terminate();
  }
}

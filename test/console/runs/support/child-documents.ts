/**
 * A run with many child runs in the store in a moment: documents of one that has ended, under other ids and times. Lists read nothing else of
 * a run. Must not: be opened (there is no journal under them).
 */
import { Timestamp } from '@google-cloud/firestore';
import type { Ready } from '../../../../packages/local/src/cloud-process.ts';
import { localFirestore } from '../../../../scripts/demo/local-firestore.ts';

const AT = Date.UTC(2026, 0, 1);

interface Family {
  /** Id of a run that has ended. */
  readonly like: string;
  readonly thread: string;
  readonly children: number;
}

/** The children are newer than their parent `…-top`, and the run `…-old` is older than that. @returns the ids, the newest first */
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

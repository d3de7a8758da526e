/**
 * Deletes events and checkpoints of a run by their numbers, without reading their names first: a read costs three times as much
 * as a delete, and the delete of a missing document costs the same. The deleted documents are counted, which takes one read per
 * thousand.
 *
 * Must not: decide that nothing is left. Documents beyond the head of the run, which damage may leave, must be found by name.
 */
import { type CollectionReference, FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import { seqId } from '../../core/encoding/ids.ts';
import type { Cleared } from '../../ports/runs/retention-store.ts';
import { call } from '../call.ts';
import type { Paths } from '../paths.ts';

interface Numbered {
  readonly db: Firestore;
  readonly paths: Paths;
  readonly runId: string;
  /** Maximum number of deletes. */
  readonly limit: number;
}

/** Documents per number: one event, and at most one checkpoint. */
const A_NUMBER = 2;

interface ClearedNumbers extends Required<Cleared> {
  /** False if the run document records that no lines are kept. A repair that could not know records nothing. */
  readonly mayHaveLogs: boolean;
}

/** `more`: true if numbers up to the head are left. Journals have no gaps (J1), so the first event shows where to begin. */
export async function deleteNumbered({ db, paths, runId, limit }: Numbered): Promise<ClearedNumbers> {
  const nothing = { deleted: 0, spent: 0, more: false, mayHaveLogs: true };
  const numbers = Math.floor(limit / A_NUMBER);
  if (numbers === 0) return nothing;
  const run = paths.run(runId);
  const lists = [paths.events(run), paths.checkpoints(run)];
  const what = `look for the journal of run ${runId}`;
  const [[document], { docs }] = await Promise.all([
    call(what, () => db.getAll(run, { fieldMask: ['head', 'soft.logs'] })),
    call(what, () => inOrder(paths.events(run)).limit(1).select().get()),
  ]);
  const head: unknown = document?.get('head');
  const mayHaveLogs = !document?.exists || document.get('soft.logs') !== undefined;
  const first = Number(docs[0]?.id);
  if (!Number.isSafeInteger(head) || !Number.isSafeInteger(first) || first > (head as number))
    return { ...nothing, mayHaveLogs };
  const last = Math.min(head as number, first + numbers - 1);
  const counts = await Promise.all(
    lists.map((list) =>
      call(what, () => inOrder(list).startAt(seqId(first)).endAt(seqId(last)).count().get()),
    ),
  );
  const batch = db.batch();
  for (let seq = first; seq <= last; seq += 1) for (const list of lists) batch.delete(list.doc(seqId(seq)));
  await call(`deletion of the journal of run ${runId}`, () => batch.commit());
  return {
    deleted: counts.reduce((sum, counted) => sum + counted.data().count, 0),
    spent: A_NUMBER * (last - first + 1),
    more: last < (head as number),
    mayHaveLogs,
  };
}

const inOrder = (list: CollectionReference): Query => list.orderBy(FieldPath.documentId());

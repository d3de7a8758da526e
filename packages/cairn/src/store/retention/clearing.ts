/** Deletes the documents of a query piece by piece. */
import type { Firestore, Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { Cleared } from '../../ports/runs/retention-store.ts';
import { call } from '../call.ts';

/** The names of one document more than are to be deleted. */
export function namesOnly(list: Query, limit: number): Query {
  return list.limit(limit + 1).select();
}

/** Deletes at most `limit` of the documents of {@link namesOnly}: one that is found beyond shows that there are more. */
export async function deleteNamed(
  db: Firestore,
  what: string,
  { found, limit }: { readonly found: readonly QueryDocumentSnapshot[]; readonly limit: number },
): Promise<Cleared> {
  const some = found.slice(0, limit);
  if (some.length > 0) {
    const batch = db.batch();
    for (const { ref } of some) batch.delete(ref);
    await call(what, () => batch.commit());
  }
  return { deleted: some.length, more: found.length > limit };
}

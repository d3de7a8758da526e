/** Deletes the documents of a query in batches. */
import type { Firestore, Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { Cleared } from '../../ports/runs/retention-store.ts';
import { call } from '../call.ts';

/** Selects the names of the documents to delete, and of one more. */
export function namesOnly(list: Query, limit: number): Query {
  return list.limit(limit + 1).select();
}

/** Deletes at most `limit` of the documents of {@link namesOnly}; a document beyond the limit shows that there are more. */
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

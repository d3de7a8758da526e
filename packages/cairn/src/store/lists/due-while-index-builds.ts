/**
 * Finds due runs while their index is being built, which takes minutes after a first deployment. Without it, runs whose
 * tasks were lost would wait until then.
 */
import {
  type CollectionReference,
  FieldPath,
  type QueryDocumentSnapshot,
  Timestamp,
} from '@google-cloud/firestore';
import { GRPC_STATUS, grpcStatusOf } from '../../ports/grpc-outcome.ts';
import { call } from '../call.ts';

/** Documents read in place of the index. An installation whose indexes are being built is young and has few. */
const MAX_WITHOUT_INDEX = 1_000;

interface DueSearch {
  /** Named in errors. */
  readonly what: string;
  /** The query that needs the index; ordered by `member`, at most `limit`. */
  readonly indexed: () => Promise<readonly QueryDocumentSnapshot[]>;
  readonly collection: CollectionReference;
  /** Member with the time at which a document is due. */
  readonly member: string;
  /** Members that `applies` and the caller read. */
  readonly names: readonly string[];
  /** True if the indexed query would find the document once it is due. */
  readonly applies?: (found: QueryDocumentSnapshot) => boolean;
  readonly now: number;
  readonly limit: number;
  /** The last document of the previous page. */
  readonly after?: { readonly at: number; readonly id: string } | undefined;
}

export async function findDue(due: DueSearch): Promise<readonly QueryDocumentSnapshot[]> {
  try {
    return await due.indexed();
  } catch (error) {
    if (grpcStatusOf(error) !== GRPC_STATUS.FAILED_PRECONDITION) throw error;
    return withoutIndex(due);
  }
}

async function withoutIndex({ what, collection, member, names, applies, now, limit, after }: DueSearch) {
  const all = collection
    .orderBy(FieldPath.documentId())
    .limit(MAX_WITHOUT_INDEX)
    .select(...names);
  const { docs } = await call(`${what}, without its index`, () => all.get());
  const at = (found: QueryDocumentSnapshot) => {
    const value: unknown = found.get(member);
    return value instanceof Timestamp ? value.toMillis() : Number.POSITIVE_INFINITY;
  };
  return docs
    .filter((found) => at(found) <= now && (applies?.(found) ?? true))
    .sort((a, b) => at(a) - at(b))
    .filter((found) => !after || at(found) > after.at || (at(found) === after.at && found.id > after.id))
    .slice(0, limit);
}

/**
 * Diagnosis of Firestore with read access only: whether a query is refused for lack of its index, and whether expired documents
 * still exist. It makes no administrative calls, so it needs only the role of the functions.
 */
import { FieldPath, type Firestore, type QuerySnapshot, Timestamp } from '@google-cloud/firestore';
import { mapConcurrently } from '../../core/map-concurrently.ts';
import type { LeftOver, SeenIndex, StoreProbe, WakingRun } from '../../ports/diagnosis/store-probe.ts';
import { GRPC_STATUS, grpcStatusOf } from '../../ports/grpc-outcome.ts';
import { OutcomeUnknown } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import { ShardedStore } from '../firestore-store.ts';
import { inShards, type Shards, shardedPage } from '../lists/shards.ts';
import { type IndexProbe, indexProbes } from './index-probes.ts';

const RECORD_STATUSES = ['processing', 'completed', 'failed'];
/** Number of mailboxes in a random sample, because no index over their expiry exists. */
const MAILBOXES_READ = 20;
const CONCURRENT_PROBES = 8;

interface StoreLookOptions {
  readonly db: Firestore;
  readonly prefix?: string;
  /** A random document id, a sha256 in hex, at which a sample begins. */
  readonly randomId: () => string;
  /** Default: those of an installation that names no number. */
  readonly shards?: Shards;
}

export class FirestoreStoreProbe extends ShardedStore implements StoreProbe {
  readonly #probes: readonly IndexProbe[];
  readonly #randomId: () => string;

  constructor({ db, prefix, randomId: somewhere, shards }: StoreLookOptions) {
    super(db, prefix, shards);
    this.#probes = indexProbes(db, prefix);
    this.#randomId = somewhere;
  }

  indexes(): Promise<readonly SeenIndex[]> {
    return mapConcurrently(this.#probes, CONCURRENT_PROBES, tried);
  }

  async leftOvers(before: number): Promise<readonly LeftOver[]> {
    const [record, mailbox] = await Promise.all([this.#oldestRecord(before), this.#oldestMailbox(before)]);
    return [
      ...(record === undefined
        ? []
        : [{ collection: this.paths.idempotencyRecords().id, expiredAt: record }]),
      ...(mailbox === undefined ? [] : [{ collection: this.paths.allMailboxes().id, expiredAt: mailbox }]),
    ];
  }

  async waking(limit: number): Promise<readonly WakingRun[]> {
    const docs = await shardedPage({
      what: 'look for runs to be touched next',
      shards: await this.shards.read(),
      documents: this.paths.runs(),
      by: 'wakeAt',
      members: ['wakeAt', 'head', 'lease.expiresAt', 'soft.leaseExtendedTo', 'soft.publishedSeq'],
      limit,
    });
    return docs.map((found) => {
      const timeOf = (path: string) => (found.get(path) as Timestamp | undefined)?.toMillis();
      const leasedUntil = timeOf('lease.expiresAt');
      const extendedTo = timeOf('soft.leaseExtendedTo') ?? 0;
      const publishedSeq = found.get('soft.publishedSeq') as number | undefined;
      return {
        wakeAt: timeOf('wakeAt') ?? 0,
        leasedUntil: leasedUntil === undefined ? undefined : Math.max(leasedUntil, extendedTo),
        hasUnpublishedEvents: publishedSeq !== undefined && publishedSeq < (found.get('head') as number),
      };
    });
  }

  /** Makes a query for each status, because a query may have 30 combinations of shard and status. */
  async #oldestRecord(before: number): Promise<number | undefined> {
    const shards = await this.shards.ofRecords();
    const times = await Promise.all(
      RECORD_STATUSES.map((status) =>
        inShards(shards, async (some) => [await this.#oldestRecordOf(status, before, some)]),
      ),
    ).then((found) => found.flat());
    const found = times.filter((at) => at !== undefined);
    return found.length === 0 ? undefined : Math.min(...found);
  }

  async #oldestRecordOf(
    status: string,
    before: number,
    some: readonly number[],
  ): Promise<number | undefined> {
    const expired = this.paths
      .idempotencyRecords()
      .where('shard', 'in', some)
      .where('status', '==', status)
      .where('expiresAt', '<=', Timestamp.fromMillis(before))
      .orderBy('expiresAt')
      .limit(1)
      .select('expiresAt');
    return oldestIn(await call('look for expired idempotency records', () => expired.get()), before);
  }

  /** Reads a sample: ids are hashes, so any range of them is random. */
  async #oldestMailbox(before: number): Promise<number | undefined> {
    const what = 'sample of mailbox';
    const ordered = this.paths.allMailboxes().orderBy(FieldPath.documentId()).select('expiresAt');
    const after = ordered.startAt(this.#randomId()).limit(MAILBOXES_READ);
    const found = await call(what, () => after.get());
    const rest = MAILBOXES_READ - found.size;
    if (rest === 0) return oldestIn(found, before);
    const first = await call(what, () => ordered.limit(rest).get());
    const times = [oldestIn(found, before), oldestIn(first, before)].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/** Any other error of the query, such as an undecodable document, shows that the index exists. */
async function tried({ ask, ...need }: IndexProbe): Promise<SeenIndex> {
  try {
    await ask();
    return { ...need, state: 'ready' };
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw error;
    if (grpcStatusOf(error) !== GRPC_STATUS.FAILED_PRECONDITION) return { ...need, state: 'unknown' };
    // Only the text of the error distinguishes the two cases: "That index is currently building".
    const isBuilding = error instanceof Error && /building/i.test(error.message);
    return { ...need, state: isBuilding ? 'building' : 'missing' };
  }
}

function oldestIn({ docs }: QuerySnapshot, before: number): number | undefined {
  const times = docs.flatMap((found) => {
    const at: unknown = found.get('expiresAt');
    return at instanceof Timestamp && at.toMillis() <= before ? [at.toMillis()] : [];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

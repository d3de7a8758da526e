/**
 * Queries of indexes that begin with a shard, over all shards in use. A document keeps its shard, while an operator may raise
 * the number of shards of the installation and lower it again.
 *
 * So a query covers the configured shards, and all {@link MAX_SHARDS} if a document exists beyond them. It finds documents of
 * higher shards without a record of the earlier number.
 */
import { FieldPath, type Query, type QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';
import { MAX_SHARDS, SHARD_COUNT } from '../../core/encoding/ids.ts';
import { call } from '../call.ts';
import type { Paths } from '../paths.ts';

/** Maximum number of values of an `in` filter. */
const SHARDS_A_QUERY = 30;
/** Once its part of a page is used up, a group reads this fraction of a part more. */
const PARTS_MORE = 8;

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, shard) => shard);

export class Shards {
  /** Number of shards over which documents are written. */
  readonly written: number;
  readonly #paths: Paths;
  readonly #most: number;
  #live: readonly number[] | undefined;
  #reading: Promise<readonly number[]> | undefined;

  /** @param most shards that documents of any deployment may have */
  constructor(paths: Paths, written: number = SHARD_COUNT, most: number = MAX_SHARDS) {
    this.#paths = paths;
    this.written = written;
    this.#most = most;
  }

  /** Shards of runs that are to be woken, as of the last {@link read} of this process. */
  async live(): Promise<readonly number[]> {
    return this.#live ?? this.read();
  }

  /** Shards of runs with a `wakeAt`. One read, unless all shards are configured anyway. */
  read(): Promise<readonly number[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<readonly number[]> {
    this.#live = await this.covering('look for runs of more shards', (beyond) =>
      beyond(this.#paths.runs()).orderBy('wakeAt'),
    );
    return this.#live;
  }

  /** Shards of idempotency records. One read, unless all shards are configured anyway. */
  ofRecords(): Promise<readonly number[]> {
    return this.covering('look for idempotency records of more shards', (beyond) =>
      beyond(this.#paths.idempotencyRecords()).orderBy('status').orderBy('expiresAt'),
    );
  }

  /**
   * Shards to query.
   *
   * @param ask query for documents beyond a shard, in the order of an index that begins with it
   * @throws FAILED_PRECONDITION while that index does not exist
   */
  async covering(
    what: string,
    ask: (beyond: (documents: Query) => Query) => Query,
  ): Promise<readonly number[]> {
    if (this.written === this.#most) return upTo(this.#most);
    const beyond = ask((documents) => documents.where('shard', '>=', this.written).orderBy('shard'));
    const { size } = await call(what, () => beyond.limit(1).select().get());
    return upTo(size > 0 ? this.#most : this.written);
  }
}

/** Queries the shards concurrently, and returns the results in no order. */
export async function inShards<T>(
  shards: readonly number[],
  ask: (some: readonly number[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  return (await Promise.all(groupsOf(shards).map(ask))).flat();
}

interface ShardedPage {
  /** Named in errors. */
  readonly what: string;
  readonly shards: readonly number[];
  /** The wanted documents, of any shard and in any order. */
  readonly documents: Query;
  /** Member with the time that orders them, before their ids. */
  readonly by: string;
  readonly members: readonly string[];
  readonly limit: number;
  /** The last document of the previous page. */
  readonly after?: ShardPosition | undefined;
}

interface ShardPosition {
  /** Epoch ms. */
  readonly at: number;
  readonly id: string;
}

/**
 * Reads a page over all shards in the order of one query. Each group of shards first reads its part of the page, because hashes
 * spread documents evenly; groups with more documents on the page then read a little more. A page reads about a fifth more than
 * it returns.
 */
export async function shardedPage(page: ShardedPage): Promise<readonly QueryDocumentSnapshot[]> {
  const { shards, limit, after } = page;
  const groups = groupsOf(shards).map((some) => new Group(page, some, after));
  const part = Math.ceil(limit / groups.length);
  const more = Math.ceil(part / PARTS_MORE);
  await Promise.all(groups.map((group) => group.fill(part)));
  const found: QueryDocumentSnapshot[] = [];
  while (found.length < limit) {
    await Promise.all(groups.map((group) => group.fill(more)));
    const heads = groups.flatMap(({ head }) => (head ? [head] : []));
    const [first] = heads.sort((a, b) => timeIn(a, page.by) - timeIn(b, page.by) || (a.id < b.id ? -1 : 1));
    if (!first) break;
    found.push(first);
    groups.find(({ head }) => head === first)?.take();
  }
  return found;
}

/** Documents of some shards that were read but not taken yet. */
class Group {
  readonly #page: ShardedPage;
  readonly #some: readonly number[];
  #read: QueryDocumentSnapshot[] = [];
  #last: ShardPosition | undefined;
  #isAtEnd = false;

  constructor(page: ShardedPage, some: readonly number[], after: ShardPosition | undefined) {
    this.#page = page;
    this.#some = some;
    this.#last = after;
  }

  get head(): QueryDocumentSnapshot | undefined {
    return this.#read[0];
  }

  take(): void {
    this.#read.shift();
  }

  /** Reads more documents once all earlier ones are taken. */
  async fill(count: number): Promise<void> {
    if (this.head || this.#isAtEnd) return;
    const { what, documents, by, members } = this.#page;
    const ordered = documents
      .where('shard', 'in', this.#some)
      .orderBy(by)
      .orderBy(FieldPath.documentId())
      .select(...members)
      .limit(count);
    const last = this.#last;
    const next = last ? ordered.startAfter(Timestamp.fromMillis(last.at), last.id) : ordered;
    const { docs } = await call(what, () => next.get());
    this.#read = docs;
    this.#isAtEnd = docs.length < count;
    const end = docs.at(-1);
    if (end) this.#last = { at: timeIn(end, by), id: end.id };
  }
}

function timeIn(found: QueryDocumentSnapshot, member: string): number {
  return (found.get(member) as Timestamp).toMillis();
}

/** Splits shards into groups that one query can name. */
export function groupsOf(shards: readonly number[]): number[][] {
  const groups: number[][] = [];
  for (let from = 0; from < shards.length; from += SHARDS_A_QUERY)
    groups.push(shards.slice(from, from + SHARDS_A_QUERY));
  return groups;
}

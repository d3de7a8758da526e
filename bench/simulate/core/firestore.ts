/**
 * Limits of Firestore that make a request wait: the growth of a new collection, an index of a growing value, one document. Pure.
 *
 * A request that exceeds a rate waits. The real service first tolerates more, then responds more slowly, and finally with errors.
 */
import type { Op, Range } from '../traffic/profile.ts';
import { RateLimit } from './rate-limit.ts';

interface FirestoreLimits {
  readonly rangePerSecond: number;
  readonly documentPerSecond: number;
  readonly documentBurst: number;
  /** Absent if the database is already ramped up. */
  readonly ramp?: { readonly start: number; readonly growth: number; readonly stepMs: number };
  readonly shards: number;
}

/** The position of a request in the key space. */
export interface Origin {
  readonly tenant: number;
  readonly shard: number;
  /** Limits of the frequently written documents of its run. */
  readonly documents: Map<number, RateLimit>;
}

/** The requests of one second may come at once. */
const BURST_SECONDS = 1;

export class FirestoreModel {
  readonly #limits: FirestoreLimits;
  /** Limits by index, then by tenant or shard. */
  readonly #ranges = new Map<string, Map<number, RateLimit>>();
  readonly #ramps = new Map<string, { readonly step: number; readonly limit: RateLimit }>();
  /** Wait time of requests, ms, by limit. */
  readonly held = new Map<string, number>();

  constructor(limits: FirestoreLimits) {
    this.#limits = limits;
  }

  /** Wait time of the request, ms: the longest of all limits, which apply in parallel. */
  delayOf(op: Op, origin: Origin, now: number): number {
    let longest = 0;
    for (const range of op.ranges) {
      longest = Math.max(longest, this.#note('index', range.index, this.#range(range, origin).take(now)));
    }
    for (const document of op.documents) {
      longest = Math.max(
        longest,
        this.#note('one document', undefined, this.#document(document, origin).take(now)),
      );
    }
    if (this.#limits.ramp) {
      for (const collection of op.writes) {
        longest = Math.max(
          longest,
          this.#note('new collection', collection, this.#ramp(collection, now).take(now)),
        );
      }
    }
    return longest;
  }

  #note(kind: string, name: string | undefined, ms: number): number {
    if (ms > 0) {
      const limit = name === undefined ? kind : `${kind} ${name}`;
      this.held.set(limit, (this.held.get(limit) ?? 0) + ms);
    }
    return ms;
  }

  #range({ index, by }: Range, { tenant, shard }: Origin): RateLimit {
    const part = by === 'tenant' ? tenant : by === 'shard' ? shard : 0;
    let parts = this.#ranges.get(index);
    if (!parts) {
      parts = new Map();
      this.#ranges.set(index, parts);
    }
    let limit = parts.get(part);
    if (!limit) {
      const perSecond = this.#limits.rangePerSecond;
      limit = new RateLimit({ perSecond, burst: perSecond * BURST_SECONDS });
      parts.set(part, limit);
    }
    return limit;
  }

  #document(document: number, { documents }: Origin): RateLimit {
    let limit = documents.get(document);
    if (!limit) {
      limit = new RateLimit({ perSecond: this.#limits.documentPerSecond, burst: this.#limits.documentBurst });
      documents.set(document, limit);
    }
    return limit;
  }

  #ramp(collection: string, now: number): RateLimit {
    const { start, growth, stepMs } = this.#limits.ramp ?? { start: 1, growth: 1, stepMs: 1 };
    const step = Math.floor(now / stepMs);
    let row = this.#ramps.get(collection);
    if (!row || row.step !== step) {
      const perSecond = start * growth ** step;
      row = { step, limit: new RateLimit({ perSecond, burst: perSecond * BURST_SECONDS }) };
      this.#ramps.set(collection, row);
    }
    return row.limit;
  }
}

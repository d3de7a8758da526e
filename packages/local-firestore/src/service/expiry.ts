/**
 * TTL policies: deletes documents whose expiry field is in the past, in bounded batches in the background, as production does. An expired
 * document stays readable until it is deleted.
 */

import type { Meter } from '../meter.ts';
import type { FieldPath } from '../model/field-path.ts';
import { getField } from '../model/field-path.ts';
import type { IndexConfig } from '../model/index/index-config.ts';
import { normaliseQuery } from '../model/query/normalise.ts';
import type { Cursor } from '../model/query/query.ts';
import { parseDocument } from '../model/resource-name.ts';
import { StatusError } from '../model/status.ts';
import { decodeStored } from '../wire/document-codec.ts';
import type { Database } from './database.ts';
import { meterCommit } from './metering.ts';
import { type QueriedDocument, runQueryPlan } from './query-runner.ts';
import type { TransactionalStore } from './transactional-store.ts';

/** Time between two steps, short enough for a local run to notice and long enough to cost little. Production takes hours. */
export const EXPIRY_INTERVAL_MS = 10_000;
/** Documents that one step reads of a collection group, in a few milliseconds. */
const STEP = 500;

interface ExpiryContext {
  readonly store: TransactionalStore;
  readonly meter: Meter;
}

export class Expiry {
  readonly #context: ExpiryContext;
  readonly #indexes: IndexConfig;
  readonly #clock: () => number;
  /** Cursors of the next step, by database and collection group. */
  readonly #cursors = new Map<string, Cursor>();

  constructor(context: ExpiryContext, { indexes, clock }: { indexes: IndexConfig; clock: () => number }) {
    this.#context = context;
    this.#indexes = indexes;
    this.#clock = clock;
  }

  /** Reads the next documents of every collection group with a policy. */
  async step(): Promise<void> {
    if (this.#indexes.expiry.size === 0) return;
    for (const name of this.#context.store.storage.databaseNames()) {
      const database = this.#context.store.databases.get(name);
      for (const [collectionId, path] of this.#indexes.expiry)
        await this.#sweep(database, collectionId, path);
    }
  }

  async #sweep(database: Database, collectionId: string, path: FieldPath): Promise<void> {
    const place = `${database.name}/${collectionId}`;
    const found = this.#next(database, collectionId, this.#cursors.get(place));
    const last = found.at(-1);
    if (last && found.length === STEP) {
      this.#cursors.set(place, { values: [{ kind: 'reference', value: last.name }], before: false });
    } else {
      this.#cursors.delete(place);
    }
    const now = this.#clock();
    for (const document of found) if (isExpired(document, path, now)) await this.#delete(database, document);
  }

  #next(database: Database, collectionId: string, startAt: Cursor | undefined): QueriedDocument[] {
    const query = normaliseQuery({
      scope: { database: database.name, parent: [], collectionId, allDescendants: true },
      filter: undefined,
      orders: [],
      startAt,
      endAt: undefined,
      offset: 0,
      limit: STEP,
      required: [],
      select: undefined,
    });
    return runQueryPlan(database, query, { count: STEP, snapshot: undefined });
  }

  /** Requires the version that was found to be expired, so that a concurrent extension wins. */
  async #delete(database: Database, { name, stored }: QueriedDocument): Promise<void> {
    const precondition = { kind: 'updateTime', at: stored.updateTime } as const;
    const write = { kind: 'delete', name, resource: parseDocument(name), precondition } as const;
    try {
      meterCommit('TTL', await this.#context.store.commit(database, [write], undefined), this.#context.meter);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  }
}

function isExpired({ stored }: QueriedDocument, path: FieldPath, now: number): boolean {
  const { fields } = decodeStored(stored.body, new Set(path.slice(0, 1)));
  const value = getField(fields, path);
  return value?.kind === 'timestamp' && value.seconds * 1000 + value.nanos / 1e6 <= now;
}

/** The side-effect ledger in Firestore, as its readers and the writers of answers use it. */
import { FieldPath, type Firestore, Timestamp } from '@google-cloud/firestore';
import { type EffectChange, type EffectRecord, MAX_ROWS_PER_KEY } from '../core/effects/effect.ts';
import type { Page, PageRequest, Version } from '../ports/run-store.ts';
import type {
  AskingRows,
  EffectChanged,
  EffectCreated,
  ExternalEffectStore,
  RowsNow,
  StoredEffect,
} from '../ports/runs/effect-store.ts';
import { ifDecodable } from '../ports/store-errors.ts';
import { call, isStale, isTaken } from './call.ts';
import { effectCodec, encodeEffectChange, madeAt } from './codec/effect.ts';
import { readPage } from './lists/pages.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreEffectStore implements ExternalEffectStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async rowsOf(idempotencyKey: string): Promise<readonly StoredEffect[]> {
    return (await this.rowsNow(idempotencyKey)).rows;
  }

  async rowsNow(idempotencyKey: string): Promise<RowsNow> {
    const what = `rows of effect ${idempotencyKey}`;
    // Ids of one key lie together, in the order of the rows; a colon is what follows the digits.
    const rows = this.#paths
      .effects()
      .orderBy(FieldPath.documentId())
      .startAt(`${idempotencyKey}.`)
      .endBefore(`${idempotencyKey}.:`)
      .limit(MAX_ROWS_PER_KEY + 1);
    const { docs, readTime } = await call(what, () => rows.get());
    if (docs.length > MAX_ROWS_PER_KEY) throw new Error(`there are more than ${MAX_ROWS_PER_KEY} ${what}`);
    const found = docs.map((document) => ({
      record: effectCodec.decode(document.data(), `effect ${document.id}`),
      version: versionOf(document.updateTime),
    }));
    return { rows: found.reverse(), readAt: readTime.toMillis() };
  }

  async create(record: EffectRecord): Promise<EffectCreated> {
    const { effectId } = record;
    try {
      const { writeTime } = await call(`creation of effect ${effectId}`, () =>
        this.#paths.effect(effectId).create(effectCodec.encode(record)),
      );
      return { kind: 'created', version: versionOf(writeTime) };
    } catch (error) {
      if (isTaken(error)) return { kind: 'exists' };
      throw error;
    }
  }

  async asking(tenantId: string, until: number, limit: number): Promise<AskingRows> {
    const asking = this.#paths
      .effects()
      .where('tenantId', '==', tenantId)
      .where('askingSince', '<=', Timestamp.fromMillis(until))
      .orderBy('askingSince')
      .limit(limit);
    const { docs } = await call('effects without a run that ask', () => asking.get());
    const items: EffectRecord[] = [];
    const unreadable: string[] = [];
    for (const found of docs) {
      const row = ifDecodable(() => effectCodec.decode(found.data(), `effect ${found.id}`));
      if (row) items.push(row);
      else unreadable.push(found.id);
    }
    return { items, unreadable };
  }

  async read(effectId: string): Promise<StoredEffect | undefined> {
    const what = `effect ${effectId}`;
    const found = await call(what, () => this.#paths.effect(effectId).get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    return { record: effectCodec.decode(data, what), version: versionOf(found.updateTime) };
  }

  async change(effectId: string, seen: Version, change: EffectChange): Promise<EffectChanged> {
    try {
      const { writeTime } = await call(`change of effect ${effectId}`, () =>
        this.#paths.effect(effectId).update(encodeEffectChange(change), lastUpdateTime(seen)),
      );
      return { kind: 'changed', version: versionOf(writeTime) };
    } catch (error) {
      if (isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }

  listOfRun(runId: string, page: PageRequest): Promise<Page<EffectRecord>> {
    return readPage(page, {
      list: 'effects',
      ordered: this.#paths
        .effects()
        .where('runId', '==', runId)
        .orderBy('createdAt')
        .orderBy(FieldPath.documentId()),
      startAfter: ([createdAt, id]) => [madeAt(createdAt), id],
      decode: (document, id) => effectCodec.decode(document, `effect ${id}`),
      positionOf: ({ createdAt, effectId }) => [createdAt, effectId],
    });
  }
}

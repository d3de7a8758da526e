/** The side-effect ledger in Firestore, as its readers and the writers of answers use it. */
import { FieldPath, type Firestore } from '@google-cloud/firestore';
import { type EffectChange, type EffectRecord, MAX_ROWS_PER_KEY } from '../core/effects/effect.ts';
import type { Page, PageRequest, Version } from '../ports/run-store.ts';
import type { EffectChanged, EffectStore, StoredEffect } from '../ports/runs/effect-store.ts';
import { call, isStale } from './call.ts';
import { effectCodec, encodeEffectChange, madeAt } from './codec/effect.ts';
import { readPage } from './lists/pages.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreEffectStore implements EffectStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async rowsOf(idempotencyKey: string): Promise<readonly StoredEffect[]> {
    const what = `rows of effect ${idempotencyKey}`;
    // Ids of one key lie together, in the order of the rows; a colon is what follows the digits.
    const rows = this.#paths
      .effects()
      .orderBy(FieldPath.documentId())
      .startAt(`${idempotencyKey}.`)
      .endBefore(`${idempotencyKey}.:`)
      .limit(MAX_ROWS_PER_KEY + 1);
    const { docs } = await call(what, () => rows.get());
    if (docs.length > MAX_ROWS_PER_KEY) throw new Error(`there are more than ${MAX_ROWS_PER_KEY} ${what}`);
    return docs
      .map((found) => ({
        record: effectCodec.decode(found.data(), `effect ${found.id}`),
        version: versionOf(found.updateTime),
      }))
      .reverse();
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

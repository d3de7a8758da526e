/** The side-effect ledger in Firestore, as its readers and the writers of answers use it. */
import { FieldPath, Timestamp } from '@google-cloud/firestore';
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
import { call } from './call.ts';
import { effectCodec, encodeEffectChange } from './codec/effect.ts';
import { FirestoreStore } from './firestore-store.ts';
import { readPage } from './lists/pages.ts';
import { readableIn } from './lists/readable.ts';
import { lastUpdateTime, versionOf } from './version.ts';
import { changedVersion, createdVersion, readVersioned } from './versioned-document.ts';

export class FirestoreEffectStore extends FirestoreStore implements ExternalEffectStore {
  async rowsOf(idempotencyKey: string): Promise<readonly StoredEffect[]> {
    return (await this.rowsNow(idempotencyKey)).rows;
  }

  async rowsNow(idempotencyKey: string): Promise<RowsNow> {
    const what = `rows of effect ${idempotencyKey}`;
    // Ids of one key are adjacent, in the order of the rows. A colon is the next character after the digits.
    const rows = this.paths
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
    const document = this.paths.effect(record.effectId);
    const members = effectCodec.encode(record);
    const version = await createdVersion(`creation of effect ${record.effectId}`, () =>
      document.create(members),
    );
    return version === undefined ? { kind: 'exists' } : { kind: 'created', version };
  }

  async asking(tenantId: string, until: number, limit: number): Promise<AskingRows> {
    const asking = this.paths
      .effects()
      .where('tenantId', '==', tenantId)
      .where('askingSince', '<=', Timestamp.fromMillis(until))
      .orderBy('askingSince')
      .limit(limit);
    const { docs } = await call('effects without a run that ask', () => asking.get());
    return readableIn(docs, (document, id) => effectCodec.decode(document, `effect ${id}`));
  }

  async read(effectId: string): Promise<StoredEffect | undefined> {
    const what = `effect ${effectId}`;
    const found = await readVersioned(this.paths.effect(effectId), effectCodec, { what, name: what });
    return found && { record: found.value, version: found.version };
  }

  async change(effectId: string, seen: Version, change: EffectChange): Promise<EffectChanged> {
    const document = this.paths.effect(effectId);
    const members = encodeEffectChange(change);
    const version = await changedVersion(`change of effect ${effectId}`, () =>
      document.update(members, lastUpdateTime(seen)),
    );
    return version === undefined ? { kind: 'stale' } : { kind: 'changed', version };
  }

  listOfRun(runId: string, page: PageRequest): Promise<Page<EffectRecord>> {
    return readPage(page, {
      list: 'effects',
      ordered: this.paths
        .effects()
        .where('runId', '==', runId)
        .orderBy('createdAt')
        .orderBy(FieldPath.documentId()),
      startAfter: ([createdAt, id]) => [Timestamp.fromMillis(createdAt), id],
      decode: (document, id) => effectCodec.decode(document, `effect ${id}`),
      positionOf: ({ createdAt, effectId }) => [createdAt, effectId],
    });
  }
}

/** Erasure records in Firestore, and deletion of documents outside of runs. Each query has its index. */
import { FieldPath, type Query, type QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';
import type { ResultRef } from '../../core/effects/effect.ts';
import { ownersOf } from '../../core/effects/external.ts';
import { encodeKey } from '../../core/encoding/idempotency-keys.ts';
import type { MailboxAddress } from '../../core/mailbox/mailbox.ts';
import { ERASURE_SCOPES, type Erasure } from '../../core/retention/erasure.ts';
import type { Page, PageRequest, Version } from '../../ports/run-store.ts';
import type {
  ClearedRecords,
  ErasureStore,
  OpenErasure,
  StoredErasure,
  TenantDocuments,
  TenantRecords,
  TenantRun,
  TenantRuns,
} from '../../ports/runs/erasure-store.ts';
import type { Cleared, MarkResult } from '../../ports/runs/retention-store.ts';
import { isOfDocument } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import { erasureCodec } from '../codec/documents.ts';
import { FirestoreStore } from '../firestore-store.ts';
import { readPage } from '../lists/pages.ts';
import { positionAt } from '../lists/run-lists.ts';
import { FirestorePayloads } from '../payloads.ts';
import { lastUpdateTime, versionOf } from '../version.ts';
import { changedVersion, createdVersion, readVersioned, wholeUpdate } from '../versioned-document.ts';
import { deleteNamed, namesOnly } from './clearing.ts';

export class FirestoreErasureStore extends FirestoreStore implements ErasureStore {
  async read(id: string): Promise<StoredErasure | undefined> {
    const named = { what: 'read of an erasure', name: `erasure ${id}` };
    const found = await readVersioned(this.paths.erasure(id), erasureCodec, named);
    return found && { erasure: found.value, version: found.version };
  }

  async create(erasure: Erasure): ReturnType<ErasureStore['create']> {
    const document = this.paths.erasure(erasure.id);
    const members = erasureCodec.encode(erasure);
    const created = await createdVersion('creation of an erasure', () => document.create(members));
    return { kind: created ? 'created' : 'exists' };
  }

  async write(erasure: Erasure, seen: Version): Promise<MarkResult> {
    const document = this.paths.erasure(erasure.id);
    const members = wholeUpdate(erasureCodec, erasure);
    const changed = await changedVersion('write of an erasure', () =>
      document.update(members, lastUpdateTime(seen)),
    );
    return { kind: changed ? 'written' : 'stale' };
  }

  async open(after: string | undefined, limit: number): Promise<readonly OpenErasure[]> {
    const open = this.paths
      .erasures()
      .where('state', '==', 'open')
      .orderBy(FieldPath.documentId())
      .limit(limit);
    const page = after === undefined ? open : open.startAfter(after);
    const { docs } = await call('look for open erasures', () => page.get());
    return docs.map(openErasureOf);
  }

  async list(tenantHash: string | undefined, page: PageRequest): Promise<Page<Erasure>> {
    const all = this.paths.erasures();
    const query =
      tenantHash === undefined
        ? all.where('scope', 'in', ERASURE_SCOPES)
        : all.where('tenantHash', '==', tenantHash);
    return readPage(page, {
      list: 'erasures',
      ordered: query.orderBy('requestedAt', 'desc').orderBy(FieldPath.documentId(), 'desc'),
      startAfter: ([at, id]) => [Timestamp.fromMillis(at), id],
      decode: (document, id) => erasureCodec.decode(document, `erasure ${id}`),
      positionOf: ({ requestedAt }, id) => [requestedAt, id],
      positionOfDamaged: ({ requestedAt }, id) => positionAt(requestedAt, id),
    });
  }

  async runsOf({ tenantId, until, after, limit }: TenantRuns): Promise<readonly TenantRun[]> {
    const ordered = this.paths
      .runs()
      .where('tenantId', '==', tenantId)
      .where('createdAt', '<=', Timestamp.fromMillis(until))
      .orderBy('createdAt', 'desc')
      .orderBy(FieldPath.documentId(), 'desc')
      .limit(limit)
      .select('rootRunId', 'createdAt');
    const page = after
      ? ordered.startAfter(Timestamp.fromMillis(after.createdAt), encodeKey(after.runId))
      : ordered;
    const { docs } = await call('look for runs of a tenant', () => page.get());
    return docs.map((found) => ({
      runId: found.id,
      rootRunId: found.get('rootRunId') as string,
      createdAt: (found.get('createdAt') as Timestamp).toMillis(),
    }));
  }

  deleteRecordsOfRun(runId: string, limit: number): Promise<Cleared> {
    return this.#clear(this.paths.idempotencyRecords().where('runId', '==', runId), limit);
  }

  /** Records have no index by tenant and time, because every start would pay for it. */
  async deleteRecords({ tenantId, until, after }: TenantRecords, limit: number): Promise<ClearedRecords> {
    const own = this.paths
      .idempotencyRecords()
      .where('tenantId', '==', tenantId)
      .orderBy(FieldPath.documentId())
      .limit(limit + 1)
      .select('createdAt');
    const { docs } = await call('look for records to erase', () =>
      (after === undefined ? own : own.startAfter(after)).get(),
    );
    const part = docs.slice(0, limit);
    const found = part.filter((record) => (record.get('createdAt') as Timestamp).toMillis() <= until);
    const { deleted } = await deleteNamed(this.db, 'erasure of documents', { found, limit });
    return { deleted, more: docs.length > limit, lastKey: part.at(-1)?.id };
  }

  async mailboxesOf(
    tenantId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly MailboxAddress[]> {
    const own = this.paths
      .allMailboxes()
      .where('tenantId', '==', tenantId)
      .orderBy(FieldPath.documentId())
      .limit(limit)
      .select('event', 'key');
    const page = after ? own.startAfter(after) : own;
    const { docs } = await call('look for mailboxes to erase', () => page.get());
    return docs.map((found) => ({
      tenantId,
      event: found.get('event') as string,
      key: found.get('key') as string,
    }));
  }

  deleteSchedules({ tenantId, until }: TenantDocuments, limit: number): Promise<Cleared> {
    const own = this.paths
      .schedules()
      .where('tenantId', '==', tenantId)
      .where('createdAt', '<=', Timestamp.fromMillis(until))
      .orderBy('createdAt', 'desc');
    return this.#clear(own, limit);
  }

  async deleteExternalEffects({ tenantId, until }: TenantDocuments, limit: number): Promise<Cleared> {
    const beginning = ownersOf(tenantId);
    const own = this.paths
      .effects()
      .where('runId', '>=', beginning)
      .where('runId', '<', `${beginning}\uf8ff`)
      .where('createdAt', '<=', Timestamp.fromMillis(until))
      .orderBy('runId')
      .orderBy('createdAt')
      .limit(limit + 1)
      .select('recordedResultRef');
    const { docs } = await call('look for effects without a run to erase', () => own.get());
    const payloads = new FirestorePayloads(this.db, this.paths);
    for (const found of docs.slice(0, limit)) {
      const ref = found.get('recordedResultRef') as ResultRef | undefined;
      if (ref) await payloads.deletePayload(ref.runId, ref);
    }
    return deleteNamed(this.db, 'erasure of documents', { found: docs, limit });
  }

  async #clear(query: Query, limit: number): Promise<Cleared> {
    const { docs } = await call('look for documents to erase', () => namesOnly(query, limit).get());
    return deleteNamed(this.db, 'erasure of documents', { found: docs, limit });
  }
}

function openErasureOf(found: QueryDocumentSnapshot): OpenErasure {
  const { id } = found;
  try {
    const erasure = erasureCodec.decode(found.data(), `erasure ${id}`);
    return { id, stored: { erasure, version: versionOf(found.updateTime) } };
  } catch (error) {
    if (!isOfDocument(error)) throw error;
    return { id, unreadable: error };
  }
}

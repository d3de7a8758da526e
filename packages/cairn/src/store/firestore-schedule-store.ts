/** Schedules in Firestore. Each query has its index in `firestore.indexes.json`. */
import { FieldPath, type QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';
import type { Schedule } from '../core/schedule/schedule.ts';
import type { Page, PageRequest, Version } from '../ports/run-store.ts';
import type { DueSchedule, ScheduleStore, ScheduleWritten, StoredSchedule } from '../ports/schedule-store.ts';
import { call } from './call.ts';
import { scheduleCodec } from './codec/documents.ts';
import { FirestoreStore } from './firestore-store.ts';
import { findDue } from './lists/due-while-index-builds.ts';
import { readPage } from './lists/pages.ts';
import { positionAt } from './lists/run-lists.ts';
import { lastUpdateTime } from './version.ts';
import { changedVersion, createdVersion, readVersioned, wholeUpdate } from './versioned-document.ts';

export class FirestoreScheduleStore extends FirestoreStore implements ScheduleStore {
  async read(id: string): Promise<StoredSchedule | undefined> {
    const named = { what: 'read of a schedule', name: `schedule ${id}` };
    const found = await readVersioned(this.paths.schedule(id), scheduleCodec, named);
    return found && { schedule: found.value, version: found.version };
  }

  async create(schedule: Schedule): ReturnType<ScheduleStore['create']> {
    const document = this.paths.schedule(schedule.id);
    const members = scheduleCodec.encode(schedule);
    const created = await createdVersion('creation of a schedule', () => document.create(members));
    return { kind: created ? 'created' : 'exists' };
  }

  async write(schedule: Schedule, seen: Version): Promise<ScheduleWritten> {
    const document = this.paths.schedule(schedule.id);
    const members = wholeUpdate(scheduleCodec, schedule);
    const changed = await changedVersion('write of a schedule', () =>
      document.update(members, lastUpdateTime(seen)),
    );
    return { kind: changed ? 'written' : 'stale' };
  }

  async remove(id: string, seen: Version): Promise<ScheduleWritten> {
    const document = this.paths.schedule(id);
    const removed = await changedVersion('deletion of a schedule', () =>
      document.delete(lastUpdateTime(seen)),
    );
    return { kind: removed ? 'written' : 'stale' };
  }

  async due(now: number, limit: number, after?: DueSchedule): Promise<readonly DueSchedule[]> {
    const found = await findDue({
      what: 'look for due schedules',
      indexed: () => this.dueByIndex(now, limit, after),
      collection: this.paths.schedules(),
      member: 'nextAt',
      names: ['id', 'state', 'nextAt'],
      applies: (schedule) => schedule.get('state') === 'active',
      now,
      limit,
      after: after && { at: after.nextAt, id: this.paths.schedule(after.id).id },
    });
    return found.map((schedule) => ({
      id: schedule.get('id') as string,
      nextAt: (schedule.get('nextAt') as Timestamp).toMillis(),
    }));
  }

  /** @throws FAILED_PRECONDITION while the index does not exist */
  async dueByIndex(
    now: number,
    limit: number,
    after?: DueSchedule,
  ): Promise<readonly QueryDocumentSnapshot[]> {
    const due = this.paths
      .schedules()
      .where('state', '==', 'active')
      .where('nextAt', '<=', Timestamp.fromMillis(now))
      .orderBy('nextAt')
      .orderBy(FieldPath.documentId())
      .limit(limit)
      .select('id', 'nextAt');
    const page = after
      ? due.startAfter(Timestamp.fromMillis(after.nextAt), this.paths.schedule(after.id).id)
      : due;
    const { docs } = await call('look for due schedules', () => page.get());
    return docs;
  }

  list(tenantId: string, page: PageRequest): Promise<Page<Schedule>> {
    const own = this.paths.schedules().where('tenantId', '==', tenantId);
    return readPage(page, {
      list: 'schedules',
      ordered: own.orderBy('createdAt', 'desc').orderBy(FieldPath.documentId(), 'desc'),
      startAfter: ([at, id]) => [Timestamp.fromMillis(at), id],
      decode: (document, id) => scheduleCodec.decode(document, `schedule ${id}`),
      positionOf: ({ createdAt }, id) => [createdAt, id],
      positionOfDamaged: ({ createdAt }, id) => positionAt(createdAt, id),
    });
  }
}

/** Schedules in Firestore. Each query has its index in `firestore.indexes.json`. */
import {
  FieldPath,
  FieldValue,
  type Firestore,
  type QueryDocumentSnapshot,
  Timestamp,
} from '@google-cloud/firestore';
import type { Schedule } from '../core/schedule/schedule.ts';
import type { Page, PageRequest, Version } from '../ports/run-store.ts';
import type { DueSchedule, ScheduleStore, ScheduleWritten, StoredSchedule } from '../ports/schedule-store.ts';
import { call, isStale, isTaken } from './call.ts';
import type { Members } from './codec/kinds.ts';
import { scheduleCodec } from './codec/schedule.ts';
import { readPage } from './lists/pages.ts';
import { findDue } from './lists/without-index.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreScheduleStore implements ScheduleStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(id: string): Promise<StoredSchedule | undefined> {
    const found = await call('read of a schedule', () => this.#paths.schedule(id).get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    return {
      schedule: scheduleCodec.decode(data, `schedule ${id}`),
      version: versionOf(found.updateTime),
    };
  }

  async create(schedule: Schedule): ReturnType<ScheduleStore['create']> {
    const document = this.#paths.schedule(schedule.id);
    try {
      await call('creation of a schedule', () => document.create(scheduleCodec.encode(schedule)));
      return { kind: 'created' };
    } catch (error) {
      if (isTaken(error)) return { kind: 'exists' };
      throw error;
    }
  }

  write(schedule: Schedule, seen: Version): Promise<ScheduleWritten> {
    const document = this.#paths.schedule(schedule.id);
    return written('write of a schedule', () => document.update(whole(schedule), lastUpdateTime(seen)));
  }

  remove(id: string, seen: Version): Promise<ScheduleWritten> {
    const document = this.#paths.schedule(id);
    return written('deletion of a schedule', () => document.delete(lastUpdateTime(seen)));
  }

  async due(now: number, limit: number, after?: DueSchedule): Promise<readonly DueSchedule[]> {
    const found = await findDue({
      what: 'look for due schedules',
      indexed: () => this.dueByIndex(now, limit, after),
      collection: this.#paths.schedules(),
      member: 'nextAt',
      names: ['id', 'state', 'nextAt'],
      applies: (schedule) => schedule.get('state') === 'active',
      now,
      limit,
      after: after && { at: after.nextAt, id: this.#paths.schedule(after.id).id },
    });
    return found.map((schedule) => ({
      id: schedule.get('id') as string,
      nextAt: (schedule.get('nextAt') as Timestamp).toMillis(),
    }));
  }

  /** @throws FAILED_PRECONDITION while there is no index */
  async dueByIndex(
    now: number,
    limit: number,
    after?: DueSchedule,
  ): Promise<readonly QueryDocumentSnapshot[]> {
    const due = this.#paths
      .schedules()
      .where('state', '==', 'active')
      .where('nextAt', '<=', Timestamp.fromMillis(now))
      .orderBy('nextAt')
      .orderBy(FieldPath.documentId())
      .limit(limit)
      .select('id', 'nextAt');
    const page = after
      ? due.startAfter(Timestamp.fromMillis(after.nextAt), this.#paths.schedule(after.id).id)
      : due;
    const { docs } = await call('look for due schedules', () => page.get());
    return docs;
  }

  list(tenantId: string, page: PageRequest): Promise<Page<Schedule>> {
    const own = this.#paths.schedules().where('tenantId', '==', tenantId);
    return readPage(page, {
      list: 'schedules',
      ordered: own.orderBy('createdAt', 'desc').orderBy(FieldPath.documentId(), 'desc'),
      startAfter: ([at, id]) => [Timestamp.fromMillis(at), id],
      decode: (document, id) => scheduleCodec.decode(document, `schedule ${id}`),
      positionOf: ({ createdAt }, id) => [createdAt, id],
    });
  }
}

async function written(what: string, send: () => Promise<unknown>): Promise<ScheduleWritten> {
  try {
    await call(what, send);
    return { kind: 'written' };
  } catch (error) {
    if (isStale(error)) return { kind: 'stale' };
    throw error;
  }
}

/** An update that leaves nothing of what was there: only updates can carry the precondition of a version. */
function whole(schedule: Schedule): Members {
  const members = scheduleCodec.encode(schedule);
  return Object.fromEntries(scheduleCodec.names.map((name) => [name, members[name] ?? FieldValue.delete()]));
}

/** Schedules in memory. */
import type { Schedule } from '../core/schedule/schedule.ts';
import type { Page, PageRequest, Version } from '../ports/run-store.ts';
import type { DueSchedule, ScheduleStore, ScheduleWritten, StoredSchedule } from '../ports/schedule-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';
import { ascending, descending, sortedPage } from './paging.ts';

export class MemoryScheduleStore extends MemoryStore implements ScheduleStore {
  async read(id: string): Promise<StoredSchedule | undefined> {
    return this.db.schedules.get(id);
  }

  async create(schedule: Schedule): ReturnType<ScheduleStore['create']> {
    if (this.db.schedules.has(schedule.id)) return { kind: 'exists' };
    this.#set(schedule);
    return { kind: 'created' };
  }

  async write(schedule: Schedule, seen: Version): Promise<ScheduleWritten> {
    if (this.db.schedules.get(schedule.id)?.version !== seen) return { kind: 'stale' };
    this.#set(schedule);
    return { kind: 'written' };
  }

  async remove(id: string, seen: Version): Promise<ScheduleWritten> {
    if (this.db.schedules.get(id)?.version !== seen) return { kind: 'stale' };
    this.db.schedules.delete(id);
    return { kind: 'written' };
  }

  async due(now: number, limit: number, after?: DueSchedule): Promise<readonly DueSchedule[]> {
    const order = (a: DueSchedule, b: DueSchedule) => ascending([a.nextAt, a.id], [b.nextAt, b.id]);
    return this.#all()
      .flatMap(({ state, nextAt, id }) =>
        state === 'active' && nextAt !== undefined && nextAt <= now ? [{ nextAt, id }] : [],
      )
      .filter((one) => after === undefined || order(one, after) > 0)
      .sort(order)
      .slice(0, limit);
  }

  async list(tenantId: string, page: PageRequest): Promise<Page<Schedule>> {
    const own = this.#all().filter((schedule) => schedule.tenantId === tenantId);
    return sortedPage(own, page, {
      list: 'schedules',
      positionOf: ({ createdAt, id }) => [createdAt, id],
      compare: descending,
    });
  }

  #all(): Schedule[] {
    return [...this.db.schedules.values()].map(({ schedule }) => schedule);
  }

  #set(schedule: Schedule): void {
    this.db.schedules.set(schedule.id, { schedule: frozenCopy(schedule), version: this.db.nextVersion() });
  }
}

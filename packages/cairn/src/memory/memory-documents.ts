/** Documents outside of runs, in memory. Each is read and written as a whole. */
import type { DayBudget } from '../core/budget/day.ts';
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import { encodeKey } from '../core/encoding/idempotency-keys.ts';
import { type Mailbox, type MailboxAddress, mailboxId } from '../core/mailbox/mailbox.ts';
import type { Schedule } from '../core/schedule/schedule.ts';
import type { FindingStore, RunFinding } from '../ports/diagnosis/findings.ts';
import type { IdempotencyStore, StoredRecord } from '../ports/idempotency-store.ts';
import type { MailboxStore, StoredMailbox } from '../ports/mailbox-store.ts';
import type { CompareAndSetResult, Page, PageRequest, Version } from '../ports/run-store.ts';
import type { DayBudgetStore, StoredDayBudget } from '../ports/runs/day-budget-store.ts';
import type { PlanStore, StoredPlan } from '../ports/runs/plan-store.ts';
import type { RuntimeConfig, RuntimeConfigStore, StoredRuntimeConfig } from '../ports/runtime-config.ts';
import type { DueSchedule, ScheduleStore, ScheduleWritten, StoredSchedule } from '../ports/schedule-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';
import { ascending, descending, sortedPage } from './paging.ts';

/** Shares the database with starts, which write records too. */
export class MemoryIdempotencyStore extends MemoryStore implements IdempotencyStore {
  async read(key: string): Promise<StoredRecord | undefined> {
    encodeKey(key);
    return this.db.records.get(key);
  }

  async create(record: IdempotencyRecord): ReturnType<IdempotencyStore['create']> {
    encodeKey(record.key);
    if (this.db.records.has(record.key)) return { kind: 'exists' };
    return { kind: 'created', version: this.#write(record) };
  }

  async replace(record: IdempotencyRecord, seen: Version): ReturnType<IdempotencyStore['replace']> {
    if (this.db.records.get(record.key)?.version !== seen) return { kind: 'stale' };
    return { kind: 'replaced', version: this.#write(record) };
  }

  #write(record: IdempotencyRecord): Version {
    const version = this.db.nextVersion();
    this.db.records.set(record.key, { record: frozenCopy(record), version });
    return version;
  }
}

export class MemoryMailboxStore extends MemoryStore implements MailboxStore {
  async read(address: MailboxAddress): Promise<StoredMailbox | undefined> {
    return this.db.mailboxes.get(mailboxId(address));
  }

  async write(
    address: MailboxAddress,
    mailbox: Mailbox | undefined,
    seen: Version | undefined,
  ): ReturnType<MailboxStore['write']> {
    const id = mailboxId(address);
    if (this.db.mailboxes.get(id)?.version !== seen) return { kind: 'stale' };
    if (mailbox === undefined) this.db.mailboxes.delete(id);
    else this.db.mailboxes.set(id, { mailbox: frozenCopy(mailbox), version: this.db.nextVersion() });
    return { kind: 'written' };
  }
}

export class MemoryPlanStore extends MemoryStore implements PlanStore {
  async create(plan: StoredPlan): Promise<'created' | 'exists'> {
    const id = idOf(plan.type, plan.planVersion);
    if (this.db.plans.has(id)) return 'exists';
    this.db.plans.set(id, frozenCopy(plan));
    return 'created';
  }

  async read(type: string, planVersion: number): Promise<StoredPlan | undefined> {
    return this.db.plans.get(idOf(type, planVersion));
  }
}

function idOf(type: string, planVersion: number): string {
  return `${type}@${planVersion}`;
}

export class MemoryRuntimeConfigStore extends MemoryStore implements RuntimeConfigStore {
  async read(): Promise<StoredRuntimeConfig | undefined> {
    return this.db.runtimeConfig;
  }

  async write({ paused, ...config }: RuntimeConfig, seen: Version | undefined): Promise<CompareAndSetResult> {
    if (this.db.runtimeConfig?.version !== seen) return { kind: 'stale' };
    const version = this.db.nextVersion();
    const copy = new Map([...paused].map(([type, mark]) => [type, frozenCopy(mark)]));
    this.db.runtimeConfig = { config: { ...frozenCopy(config), paused: copy }, version };
    return { kind: 'written', version };
  }
}

export class MemoryDayBudgetStore extends MemoryStore implements DayBudgetStore {
  async read(tenantId: string, day: string): Promise<StoredDayBudget | undefined> {
    return this.db.dayBudgets.get(keyOf({ tenantId, day }));
  }

  async write(budget: DayBudget, seen: Version | undefined): Promise<CompareAndSetResult> {
    const key = keyOf(budget);
    if (this.db.dayBudgets.get(key)?.version !== seen) return { kind: 'stale' };
    const version = this.db.nextVersion();
    this.db.dayBudgets.set(key, { budget: frozenCopy(budget), version });
    return { kind: 'written', version };
  }
}

function keyOf({ tenantId, day }: Pick<DayBudget, 'tenantId' | 'day'>): string {
  return `${day}@${tenantId}`;
}

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

/** Findings about runs, which are stored outside of the runs. */
export class MemoryFindingStore extends MemoryStore implements FindingStore {
  async note(finding: RunFinding): Promise<void> {
    const { since } = this.db.findings.get(finding.runId) ?? finding;
    this.db.findings.set(finding.runId, frozenCopy({ ...finding, since }));
  }

  async find(runId: string): Promise<RunFinding | undefined> {
    return this.db.findings.get(runId);
  }

  async list(limit: number, after = ''): Promise<readonly RunFinding[]> {
    return this.#byId()
      .filter(({ runId }) => runId > after)
      .slice(0, limit);
  }

  async ofTenant(tenantId: string, limit: number): Promise<readonly RunFinding[]> {
    return this.#byId()
      .filter((finding) => finding.tenantId === tenantId)
      .slice(0, limit);
  }

  async clear(runId: string): Promise<void> {
    this.db.findings.delete(runId);
  }

  #byId(): RunFinding[] {
    return [...this.db.findings.values()].sort((a, b) => (a.runId < b.runId ? -1 : 1));
  }
}

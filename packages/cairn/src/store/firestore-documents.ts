/** Documents besides those of runs, in Firestore: each is read and written as a whole. */
import type { DayBudget } from '../core/budget/day.ts';
import type { Mailbox, MailboxAddress } from '../core/mailbox/mailbox.ts';
import type { MailboxStore, StoredMailbox } from '../ports/mailbox-store.ts';
import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import {
  DAY_BUDGET_KEPT_MS,
  type DayBudgetStore,
  type StoredDayBudget,
} from '../ports/runs/day-budget-store.ts';
import type { PlanStore, StoredPlan } from '../ports/runs/plan-store.ts';
import type { RuntimeConfig, RuntimeConfigStore, StoredRuntimeConfig } from '../ports/runtime-config.ts';
import { call, isStale, isTaken } from './call.ts';
import { mailboxCodec, runtimeConfigCodec } from './codec/documents.ts';
import { documentCodec, integer, json, optional, text, time } from './codec/kinds.ts';
import { FirestoreStore } from './firestore-store.ts';
import { lastUpdateTime } from './version.ts';
import { createdVersion, readVersioned, wholeUpdate, writeVersioned } from './versioned-document.ts';

export class FirestoreMailboxStore extends FirestoreStore implements MailboxStore {
  async read(address: MailboxAddress): Promise<StoredMailbox | undefined> {
    const document = this.paths.mailbox(address);
    const named = { what: 'read of a mailbox', name: `mailbox ${document.id}` };
    const found = await readVersioned(document, mailboxCodec, named);
    return found && { mailbox: found.value, version: found.version };
  }

  async write(
    address: MailboxAddress,
    mailbox: Mailbox | undefined,
    seen: Version | undefined,
  ): ReturnType<MailboxStore['write']> {
    const document = this.paths.mailbox(address);
    try {
      await call('write of a mailbox', async () => {
        if (mailbox === undefined) {
          if (seen !== undefined) await document.delete(lastUpdateTime(seen));
        } else if (seen === undefined) await document.create(mailboxCodec.encode(mailbox));
        else await document.update(wholeUpdate(mailboxCodec, mailbox), lastUpdateTime(seen));
      });
      return { kind: 'written' };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}

export const planCodec = documentCodec<StoredPlan>({
  type: text,
  planVersion: integer,
  fingerprint: text,
  planText: optional(text),
  createdAt: time,
  by: text,
});

/** One document for each version of a workflow, created once. */
export class FirestorePlanStore extends FirestoreStore implements PlanStore {
  async create(plan: StoredPlan): Promise<'created' | 'exists'> {
    const document = this.paths.plan(plan.type, plan.planVersion);
    const members = planCodec.encode(plan);
    return (await createdVersion('creation of a plan', () => document.create(members)))
      ? 'created'
      : 'exists';
  }

  async read(type: string, planVersion: number): Promise<StoredPlan | undefined> {
    const document = this.paths.plan(type, planVersion);
    const data = (await call('read of a plan', () => document.get())).data();
    return data && planCodec.decode(data, `plan ${type}@${planVersion}`);
  }
}

const WHAT = 'the runtime configuration';

export class FirestoreRuntimeConfigStore extends FirestoreStore implements RuntimeConfigStore {
  async read(): Promise<StoredRuntimeConfig | undefined> {
    const named = { what: `read of ${WHAT}`, name: WHAT };
    const found = await readVersioned(this.paths.runtimeConfig(), runtimeConfigCodec, named);
    return found && { config: found.value, version: found.version };
  }

  async write(config: RuntimeConfig, seen: Version | undefined): Promise<CompareAndSetResult> {
    const members = runtimeConfigCodec.encode(config);
    return writeVersioned(this.paths.runtimeConfig(), `write of ${WHAT}`, { members, seen });
  }
}

/** Amounts are JSON text, because each document is read and written as a whole. */
export const dayBudgetCodec = documentCodec<DayBudget & { readonly expiresAt: number }>({
  tenantId: text,
  day: text,
  limits: json(),
  raised: json(),
  raises: json(),
  spent: json(),
  holds: json(),
  largest: json(),
  expiresAt: time,
});

export class FirestoreDayBudgetStore extends FirestoreStore implements DayBudgetStore {
  async read(tenantId: string, day: string): Promise<StoredDayBudget | undefined> {
    const named = { what: 'read of a budget', name: `budget of ${day} of ${tenantId}` };
    const found = await readVersioned(this.paths.budget(tenantId, day), dayBudgetCodec, named);
    if (!found) return undefined;
    const { expiresAt: _, ...budget } = found.value;
    return { budget, version: found.version };
  }

  async write(budget: DayBudget, seen: Version | undefined): Promise<CompareAndSetResult> {
    const { tenantId, day } = budget;
    const members = dayBudgetCodec.encode({ ...budget, expiresAt: Date.parse(day) + DAY_BUDGET_KEPT_MS });
    return writeVersioned(this.paths.budget(tenantId, day), 'write of a budget', { members, seen });
  }
}

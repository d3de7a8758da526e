/** The stores of who works on one run, so that all that they are billed is counted for it. */
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { DayBudgetStore } from '../../ports/runs/day-budget-store.ts';
import type { EffectStore } from '../../ports/runs/effect-store.ts';
import { countedRunStore, readsOf } from './counted-run-store.ts';
import type { Spending } from './spending.ts';

interface Stores {
  readonly store: RunStore;
  readonly effects: EffectStore;
  readonly mailboxes: MailboxStore;
  readonly dayBudgets?: DayBudgetStore;
}

export function countedStores(stores: Stores, spending: Spending): Stores {
  const { store, effects, mailboxes, dayBudgets } = stores;
  return {
    store: countedRunStore(store, spending),
    effects: countedEffects(effects, spending),
    mailboxes: countedMailboxes(mailboxes, spending),
    ...(dayBudgets && { dayBudgets: countedBudgets(dayBudgets, spending) }),
  };
}

function countedEffects(effects: EffectStore, spending: Spending): EffectStore {
  return {
    async rowsOf(idempotencyKey) {
      const rows = await effects.rowsOf(idempotencyKey);
      spending.add(readsOf(rows.length));
      return rows;
    },
    async read(effectId) {
      const found = await effects.read(effectId);
      spending.add({ reads: 1 });
      return found;
    },
    async change(effectId, seen, change) {
      const result = await effects.change(effectId, seen, change);
      if (result.kind === 'changed') spending.add({ writes: 1 });
      return result;
    },
    async listOfRun(runId, page) {
      const found = await effects.listOfRun(runId, page);
      spending.add(readsOf(found.items.length + (found.next === undefined ? 0 : 1)));
      return found;
    },
  };
}

function countedMailboxes(mailboxes: MailboxStore, spending: Spending): MailboxStore {
  return {
    countsFor: mailboxes.countsFor ?? mailboxes,
    async read(address) {
      const found = await mailboxes.read(address);
      spending.add({ reads: 1 });
      return found;
    },
    async write(address, wanted, seen) {
      const result = await mailboxes.write(address, wanted, seen);
      if (result.kind === 'written') spending.add(wanted ? { writes: 1 } : { deletes: 1 });
      return result;
    },
  };
}

function countedBudgets(budgets: DayBudgetStore, spending: Spending): DayBudgetStore {
  return {
    async read(tenantId, day) {
      const found = await budgets.read(tenantId, day);
      spending.add({ reads: 1 });
      return found;
    },
    async write(budget, seen) {
      const result = await budgets.write(budget, seen);
      if (result.kind === 'written') spending.add({ writes: 1 });
      return result;
    },
  };
}
